"""Our verdicts beside those of the published evaluators' own code, question by question.

    python -m benchmarks.evaluators --spider DIR --bird DIR --spider2 DIR

Each DIR is a local copy of the published code: of Spider's test-suite evaluator (`exec_eval.py`,
`parse.py`), of BIRD mini-dev's `evaluation` folder, and of Spider 2.0-lite's `evaluation_suite`.
What is not given is skipped. Both sides run every query themselves, on Spider dev and the BIRD
database at hand; questions on which the published code gives no verdict (its gold fails, text that
is not UTF-8) are counted apart.
"""

import argparse
import importlib
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus import (
    BIRD,
    SPIDER,
    bird_superhero,
    pairs,
    require,
    spider_dev,
    spider_systems,
)
from modularsql import connect
from modularsql.evaluation.metrics import METRICS, Score
from modularsql.evaluation.pair import Pair
from modularsql.ports import Engine
from modularsql.records import Failure, FailureKind, Limits
from modularsql.rows import Rows

LIMITS = Limits(seconds=30, max_rows=10_000_000, max_bytes=4 * 2**30)
UNUSED = ("psycopg2", "pymysql", "func_timeout", "tqdm", "snowflake.connector", "google.cloud")
"""Imported by the published files, not used by the functions that are asked here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One prediction: both queries, the database file and our engine on it."""

    path: Path
    gold: str
    pred: str
    engine: Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A published verdict, and the metric of ours that follows it."""

    verdict: str
    metric: str
    ask: Callable[[Case], float]


def spider_rivals(folder: Path) -> list[Rival]:
    """Spider's execution match, with DISTINCT kept and taken out."""
    sys.path.insert(0, str(folder))
    code = importlib.import_module("exec_eval")

    def ask(case: Case, keep: bool) -> float:
        return float(code.eval_exec_match(str(case.path), case.pred, case.gold, False, keep, False))

    return [
        Rival(verdict="match, DISTINCT kept", metric="spider_ex", ask=lambda case: ask(case, True)),
        Rival(
            verdict="match, default",
            metric="spider_ex_no_distinct",
            ask=lambda case: ask(case, False),
        ),
    ]


def bird_rivals(folder: Path) -> list[Rival]:
    """BIRD's EX and soft F1, and whether its R-VES counts the answer as right."""
    sys.path.insert(0, str(folder))
    run = importlib.import_module("evaluation_utils").execute_sql
    ex = importlib.import_module("evaluation_ex").calculate_ex
    f1 = importlib.import_module("evaluation_f1").calculate_f1_score
    ves = importlib.import_module("evaluation_ves").iterated_execute_sql
    return [
        Rival(
            verdict="EX",
            metric="set_ex",
            ask=lambda c: run(c.pred, c.gold, str(c.path), "SQLite", ex),
        ),
        Rival(
            verdict="soft F1",
            metric="soft_f1_bird",
            ask=lambda c: run(c.pred, c.gold, str(c.path), "SQLite", f1),
        ),
        # Three runs: with one, the published removal of outliers removes it.
        Rival(
            verdict="R-VES above 0",
            metric="set_ex",
            ask=lambda c: float(ves(c.pred, c.gold, c.path, 3, "SQLite") > 0),
        ),
    ]


def spider2_rivals(folder: Path) -> list[Rival]:
    """Spider 2.0's table comparison, on the values as the database gives them."""
    sys.path.insert(0, str(folder))
    code, pandas = importlib.import_module("evaluate"), importlib.import_module("pandas")

    def table(sql: str, case: Case) -> Any:
        rows = result(case.engine, sql)
        if isinstance(rows, Failure):
            raise RuntimeError(rows.message)
        return pandas.DataFrame(rows.rows, columns=range(len(rows.columns)), dtype=object)

    def ask(case: Case) -> float:
        gold, pred = table(case.gold, case), table(case.pred, case)
        pair = pair_of(case, str)
        ordered = isinstance(pair, Pair) and pair.gold_shape is not None and pair.gold_shape.ordered
        return float(code.compare_pandas_table(pred, gold, ignore_order=not ordered))

    return [Rival(verdict="table match", metric="spider2_ex", ask=ask)]


def result(engine: Engine, sql: str) -> Rows | Failure:
    """What our engine returns."""
    return engine.execute(sql, limits=LIMITS)


def pair_of(case: Case, prepare: Callable[[str], str]) -> Pair | Failure:
    """Both results of ours, of the texts as `prepare` makes them."""
    gold_sql, pred_sql = prepare(case.gold), prepare(case.pred)
    gold, pred = result(case.engine, gold_sql), result(case.engine, pred_sql)
    if isinstance(gold, Failure):
        return gold
    if isinstance(pred, Failure):
        return pred
    return Pair(gold=gold, pred=pred, gold_sql=gold_sql, pred_sql=pred_sql, dialect="sqlite")


def compare(rival: Rival, cases: Iterator[tuple[str, Case]]) -> tuple[Counter[str], list[str]]:
    """How often the verdicts agree, and the ids where they do not."""
    counts: Counter[str] = Counter()
    apart = []
    metric = METRICS[rival.metric]
    for name, case in cases:
        pair = pair_of(case, metric.prepare or str)
        if isinstance(pair, Failure) and pair.kind == FailureKind.TIMEOUT:
            counts["too slow"] += 1
            continue
        ours: Score = 0.0 if isinstance(pair, Failure) else metric.score(pair)
        try:
            theirs = rival.ask(case)
        except (Exception, Warning):
            # Their code ends with whatever it stumbled on; that is no verdict.
            counts["failed there, 0 here" if not ours else "no verdict of theirs"] += 1
            continue
        same = ours is not None and abs(ours - theirs) < 1e-9
        counts["same" if same else "undecided" if ours is None else "different"] += 1
        if not same:
            apart.append(f"{name}: ours {ours}, theirs {theirs}")
    return counts, apart


def cases(name: str) -> Iterator[tuple[str, Iterator[tuple[str, Case]]]]:
    """The systems of a data set and their cases."""
    spider = name == "spider"
    dataset, systems = (spider_dev(), spider_systems()) if spider else bird_superhero()
    root = SPIDER / "database" if spider else BIRD / "databases"
    engines: dict[Path, Engine] = {}

    def of(system: Path) -> Iterator[tuple[str, Case]]:
        for question, path, gold, pred in pairs(dataset, system, root):
            if path not in engines:
                engines[path] = connect(path)
            case = Case(path=path, gold=gold, pred=pred, engine=engines[path])
            yield f"{system.stem} {question}", case

    for system in systems:
        yield system.stem, of(system)


def main() -> None:
    """The table of agreements, and every disagreement."""
    require()
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    known = {"spider": spider_rivals, "bird": bird_rivals, "spider2": spider2_rivals}
    for name in known:
        parser.add_argument(f"--{name}", type=Path)
    given = {name: folder for name, folder in vars(parser.parse_args()).items() if folder}
    for name in UNUSED:
        sys.modules.setdefault(name, _Unused(name))
    print("# Published evaluators\n")
    print("Written by `python -m benchmarks.evaluators --spider DIR --bird DIR --spider2 DIR >")
    print("docs/evaluators.md` (Spider dev x 8 systems, BIRD superhero x 11). Failed there: their")
    print("code ends with an exception, which its own caller counts as 0.\n")
    print("| code | its verdict | metric | data | questions | agreement |\n|" + "---|" * 6)
    apart: list[str] = []
    for name, rivals in known.items():
        if name not in given:
            print(f"| {name} | | | | | skipped: no copy of its code given |")
            continue
        for rival in rivals(given[name]):
            for data in ("spider", "bird"):
                total: Counter[str] = Counter()
                for _, some in cases(data):
                    counts, different = compare(rival, some)
                    total += counts
                    apart += [f"{rival.metric} {line}" for line in different]
                said = ", ".join(f"{count} {what}" for what, count in total.most_common())
                line = (name, rival.verdict, rival.metric, data, str(total.total()), said)
                print(f"| {' | '.join(line)} |", flush=True)
    print("\n" + "\n".join(f"- {line}" for line in apart))


class _Unused(types.ModuleType):
    """Stands in for a package that is not needed here; any name in it is nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return type(name, (Exception,), {})


if __name__ == "__main__":
    main()
