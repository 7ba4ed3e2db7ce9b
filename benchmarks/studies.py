"""What the parts of `ask` do, from the traces of `predict` runs, printed as Markdown.

    python -m benchmarks.studies RUN DATASET DB_ROOT

RUN is a folder that `predict` wrote; DATASET has gold. Tables: recall and precision of each linker,
EX and upper bound of each generator and what they share, confidence against accuracy, tokens and
time by stage, by schema size, kinds of errors, how good the examples shown were, and the shortcut's
threshold where a run judged always (`confidence = 1`). EX is equality of multisets of rows.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.differences import error_kind, jaccard
from modularsql import Settings, connect
from modularsql.catalog import Catalog
from modularsql.evaluation.datasets import Question, database_file, read_dataset
from modularsql.evaluation.pair import Pair
from modularsql.evaluation.table import Table, markdown
from modularsql.pipeline.generation import GENERATORS
from modularsql.pipeline.names_used import names_used
from modularsql.pipeline.replies import read_sql, read_tables
from modularsql.pipeline.state import Place
from modularsql.ports import Engine
from modularsql.rows import Rows

SETTINGS = Settings(timeout=5.0)
_EXAMPLE = re.compile(r"^Question: .*\nSQL: (.*)$", re.MULTILINE)


@lru_cache
def engine(path: Path) -> Engine:
    """The engine of a database file, opened once."""
    return connect(path, SETTINGS)


@lru_cache
def catalog(path: Path) -> Catalog:
    """Its catalog, read once."""
    return engine(path).catalog()


@lru_cache(maxsize=100_000)
def rows(path: Path, sql: str) -> Rows | None:
    """The rows of a query; None where it does not run."""
    outcome = engine(path).execute(sql, limits=SETTINGS.limits())
    return outcome if isinstance(outcome, Rows) else None


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A question of a run with its trace."""

    question: Question
    path: Path
    trace: Mapping[str, Any]
    sql: str
    confidence: float | None

    @cached_property
    def stages(self) -> Mapping[str, Any]:
        """The trace's stages by name."""
        return {stage["stage"]: stage for stage in self.trace["stages"]}

    @cached_property
    def gold_places(self) -> set[Place]:
        """What gold reads."""
        return names_used(str(self.question.gold), catalog(self.path))

    def right(self, sql: str) -> bool:
        """Whether a query returns what gold returns."""
        gold, pred = rows(self.path, str(self.question.gold)), rows(self.path, sql)
        if gold is None or pred is None:
            return False
        dialect = engine(self.path).dialect
        pair = Pair(
            gold=gold, pred=pred, gold_sql=str(self.question.gold), pred_sql=sql, dialect=dialect
        )
        return bool(pair.same_bag)

    def examples(self) -> list[str]:
        """The SQL of the solved questions that the generator of examples was shown."""
        calls = self.stages.get("generation", {}).get("calls", ())
        mine = [call for call in calls if call["stage"] == "generation.icl"]
        text = "\n".join(mine[0]["messages"]) if mine else ""
        return _EXAMPLE.findall(text)

    def samples(self, generator: str) -> list[str]:
        """The queries that a generator wrote, one for each sample that held one."""
        calls = self.stages.get("generation", {}).get("calls", ())
        mine = [call for call in calls if call["stage"] == f"generation.{generator}"]
        dialect = engine(self.path).dialect
        return [sql for c in mine for text in c["replies"] if (sql := read_sql(text, dialect))]


def read_run(run: Path, dataset: str, root: Path) -> list[Seen]:
    """The questions of a run that have gold, a database and a trace."""
    log = [json.loads(line) for line in (run / "log.jsonl").read_text("utf-8").splitlines()]
    told = {line["id"]: line for line in log}
    found = []
    for question in read_dataset(dataset).questions:
        path = database_file(root, question.db)
        trace = run / "traces" / f"{question.id}.json"
        if path is not None and question.gold and question.id in told and trace.exists():
            line = told[question.id]
            found.append(
                Seen(
                    question=question,
                    path=path,
                    trace=json.loads(trace.read_text("utf-8")),
                    sql=line["sql"],
                    confidence=line["confidence"],
                )
            )
    return found


def _places(seen: Seen) -> dict[str, set[Place]]:
    """What each linker named, and what was linked in the end."""
    stage = seen.stages["linking"]
    found: dict[str, set[Place]] = {"direct": set(), "reversed": set()}
    for call in stage["calls"]:
        for text in call["replies"]:
            if call["stage"] == "linking.direct":
                found["direct"] |= read_tables(text, catalog(seen.path))
            elif sql := read_sql(text, engine(seen.path).dialect):
                found["reversed"] |= names_used(sql, catalog(seen.path))
    matches = seen.stages["values"]["output"]["matches"]
    near = SETTINGS.value_similarity
    found["values"] = {(m["table"], m["column"]) for m in matches if m["score"] >= near}
    tables = stage["output"]["tables"]
    found["linked"] = {(t, None) for t in tables} | {(t, c) for t in tables for c in tables[t]}
    # Who names a column names its table.
    return {name: places | {(t, None) for t, _ in places} for name, places in found.items()}


def linkers(seen: Sequence[Seen]) -> Table:
    """Recall and precision of tables and columns (RQ3)."""
    hits: dict[str, Counter[str]] = defaultdict(Counter)
    for one in seen:
        for name, places in _places(one).items():
            for kind, is_kind in (("tables", True), ("columns", False)):
                gold = {p for p in one.gold_places if (p[1] is None) == is_kind}
                got = {p for p in places if (p[1] is None) == is_kind}
                hits[name].update(
                    {
                        f"{kind} hit": len(gold & got),
                        f"{kind} gold": len(gold),
                        f"{kind} got": len(got),
                    }
                )
    lines = [
        (
            name,
            *(
                _share(n[f"{kind} hit"], n[f"{kind} {of}"])
                for kind in ("tables", "columns")
                for of in ("gold", "got")
            ),
        )
        for name, n in hits.items()
    ]
    names = ("linker", "table recall", "table precision", "column recall", "column precision")
    return Table(
        name="linkers", title="Linkers", columns=names, rows=lines, percent=frozenset(names)
    )


def share_right(seen: Sequence[Seen]) -> float:
    """EX of a run."""
    return float(mean(one.right(one.sql) for one in seen))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def generators(seen: Sequence[Seen]) -> Table:
    """EX of a sample, of any sample, and what only this generator solves (RQ4)."""
    solved: dict[str, set[str]] = {}
    lines = []
    for name in GENERATORS:
        shares = []
        solved[name] = set()
        for one in seen:
            right = [one.right(sql) for sql in one.samples(name)]
            shares.append(float(mean(right)) if right else 0.0)
            if any(right):
                solved[name].add(one.question.id)
        lines.append([name, mean(shares), len(solved[name]) / len(seen)])
    for line in lines:
        others = set().union(*(solved[name] for name in GENERATORS if name != line[0]))
        line.append(len(solved[str(line[0])] - others) / len(seen))
    union = set().union(*solved.values())
    lines.append(["all", None, len(union) / len(seen), None])
    for a, b in combinations(GENERATORS, 2):
        lines.append([f"{a} and {b} both", None, len(solved[a] & solved[b]) / len(seen), None])
    names = ("generator", "EX of a sample", "upper bound", "only here")
    return Table(
        name="generators", title="Generators", columns=names,
        rows=[tuple(line) for line in lines], percent=frozenset(names),
    )  # fmt: skip


def confidence(seen: Sequence[Seen]) -> Table:
    """Confidence against accuracy, with Pearson's correlation (RQ6)."""
    from scipy.stats import pearsonr

    known = [(one.confidence, one.right(one.sql)) for one in seen if one.confidence is not None]
    bins: dict[int, list[bool]] = defaultdict(list)
    for share, right in known:
        bins[min(int(share * 5), 4)].append(right)
    lines = [
        (f"{b / 5:.1f} to {(b + 1) / 5:.1f}", len(rights), float(mean(rights)))
        for b, rights in sorted(bins.items())
    ]
    note = "Pearson: not to be had, one of the two never varies."
    if len({k[0] for k in known}) > 1 and len({k[1] for k in known}) > 1:
        r, p = pearsonr([k[0] for k in known], [float(k[1]) for k in known])
        note = f"Pearson r = {r:.2f} (p = {p:.2g}) over {len(known)} questions."
    names = ("confidence", "questions", "EX")
    return Table(
        name="confidence", title="Confidence against accuracy", columns=names, rows=lines,
        percent=frozenset({"EX"}), note=note,
    )  # fmt: skip


def shortcut(seen: Sequence[Seen]) -> Table:
    """What each threshold of the shortcut would have chosen, and how many it would have judged.

    RQ7. Only of a run with `confidence = 1`, where every open question was judged.
    """
    lines = []
    for step in range(4, 11):
        threshold, rights, judged = step / 10, [], 0
        for one in seen:
            output = one.stages.get("selection", {}).get("output", {})
            clusters = output.get("clusters") or []
            if not clusters:
                rights.append(False)
                continue
            open_ = clusters[0]["confidence"] < threshold and len(clusters) > 1
            judged += open_
            best = max(clusters, key=lambda c: (c["score"], c["confidence"])) if open_ else None
            chosen = _representative((best or _largest(clusters))["members"], one)
            rights.append(one.right(chosen))
        lines.append((threshold, float(mean(rights)), judged / len(seen)))
    names = ("threshold", "EX before the guard", "judged")
    return Table(
        name="shortcut", title="The shortcut's threshold", columns=names, rows=lines,
        percent=frozenset(names[1:]),
    )  # fmt: skip


def _largest(clusters: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return max(clusters, key=lambda c: (c["confidence"], -c["members"][0]))


def _representative(members: Sequence[int], one: Seen) -> str:
    pool = one.stages["revision"]["output"]["candidates"]
    findings = one.stages["selection"]["output"]["findings"]
    best = min(members, key=lambda i: (findings[i] or 0, -pool[i]["votes"], len(pool[i]["sql"]), i))
    return str(pool[best]["sql"])


def costs(seen: Sequence[Seen]) -> Table:
    """Tokens, calls and time of a question by stage (RQ9)."""
    lines = []
    for name in seen[0].stages:
        calls = [one.stages[name]["calls"] if name in one.stages else [] for one in seen]
        sums = [sum(c["cost"]["prompt_tokens"] for c in some) for some in calls]
        out = [sum(c["cost"]["completion_tokens"] for c in some) for some in calls]
        ms = mean(one.stages[name]["ms"] if name in one.stages else 0.0 for one in seen)
        lines.append((name, mean(map(len, calls)), mean(sums), mean(out), round(ms / 1000, 2)))
    names = ("stage", "calls", "tokens in", "tokens out", "seconds")
    return Table(name="costs", title="What a question costs, mean", columns=names, rows=lines)


def by_size(seen: Sequence[Seen]) -> Table:
    """EX by the number of columns of the database, in thirds."""
    sizes = sorted(seen, key=lambda one: sum(len(t.columns) for t in catalog(one.path)))
    lines = []
    for part in range(3):
        some = sizes[part * len(sizes) // 3 : (part + 1) * len(sizes) // 3]
        if some:
            columns = [sum(len(t.columns) for t in catalog(one.path)) for one in some]
            right = share_right(some)
            lines.append((f"{columns[0]} to {columns[-1]}", len(some), right))
    names = ("columns", "questions", "EX")
    return Table(
        name="size", title="By schema size", columns=names, rows=lines, percent=frozenset({"EX"})
    )


def errors(seen: Sequence[Seen]) -> Table:
    """What is wrong with wrong answers, by the first difference from gold's tree (RQ10)."""
    kinds = Counter(_kind(one) for one in seen if not one.right(one.sql))
    lines = list(kinds.most_common())
    return Table(name="errors", title="Errors", columns=("kind", "questions"), rows=lines)


def _kind(one: Seen) -> str:
    gold = str(one.question.gold)
    outcome = rows(one.path, gold)
    if outcome is None or not outcome.rows:
        return "ground truth: gold fails or is empty"
    return error_kind(one.sql, gold, catalog(one.path)) if one.sql else "no query"


def examples(seen: Sequence[Seen]) -> tuple[float | None, float | None]:
    """How good the examples shown were, by the Jaccard likeness of their SQL's tokens to gold's
    (paper, RQ5), and the EX of a sample of the generator that reads them."""
    shown = [(sql, str(one.question.gold)) for one in seen for sql in one.examples()]
    right = [one.right(sql) for one in seen for sql in one.samples("icl")]
    quality = float(mean(jaccard(*pair) for pair in shown)) if shown else None
    return quality, float(mean(right)) if right else None


def studies(seen: Sequence[Seen], swept: Sequence[Seen] | None = None) -> None:
    """All tables of one run; `swept` is one that judged every open question."""
    found = [linkers(seen), generators(seen), confidence(seen), costs(seen), by_size(seen)]
    found += [errors(seen), *([shortcut(swept)] if swept is not None else [])]
    for table in found:
        print(markdown(table))


def judged_always(run: Path) -> bool:
    """Whether a run's `confidence` was 1, so that thresholds can be tried on it."""
    told = json.loads((run / "run.json").read_text("utf-8"))
    return bool(told["inputs"]["settings"]["confidence"] == 1)


def main() -> None:
    """The tables."""
    run, dataset, root = sys.argv[1:4]
    seen = read_run(Path(run), dataset, Path(root))
    if not seen:
        sys.exit(f"{run} has no question with gold, a database and a trace")
    studies(seen, seen if judged_always(Path(run)) else None)
    quality, right = examples(seen)
    if quality is not None:
        print(f"Examples shown: Jaccard {quality:.2f} to gold; EX of their generator {right:.1%}.")


if __name__ == "__main__":
    main()
