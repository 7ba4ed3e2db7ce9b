"""What a policy of the guard does to published predictions, printed as Markdown.

    python -m benchmarks.policies paper > docs/paper-rules.md
    python -m benchmarks.policies grain > docs/grain.md

Scores are the plain ones of the paper's section 2.2 (set and multiset of rows); MBS = right as a
set, wrong as a multiset. Gold and prediction run under the paper's limit of 5 s; questions whose
gold does not run are left out and counted.
"""

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.corpus import (
    BIRD,
    SPIDER,
    bird_superhero,
    pairs,
    require,
    spider_dev,
    spider_systems,
)
from modularsql import Guard, Settings, connect
from modularsql.evaluation.datasets import Dataset
from modularsql.guard.probe import TRIGGERS
from modularsql.ports import Engine
from modularsql.records import Answer, Severity
from modularsql.rows import Row, Rows

POLICY = sys.argv[1] if len(sys.argv) > 1 else "paper"
SETTINGS = Settings(timeout=5.0, policy=POLICY, max_rows=2_000_000, evidence_seconds=0)
LOUD = (Severity.WARNING, Severity.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A query that was right and is so no more: what was asked, done, and why it was done."""

    question: str
    repair: str
    why: str
    gold: str


_RUNTIME = frozenset(
    "empty_result exec_error timeout refused truncated unparsed sql_extracted".split()
)


@dataclass(slots=True)
class Tally:
    """Counts over one prediction set."""

    questions: int = 0
    no_gold: int = 0
    set_ex: int = 0
    multiset_ex: int = 0
    mbs: int = 0
    mbs_flagged: int = 0
    mbs_found: int = 0
    errors: int = 0
    errors_right: int = 0
    found: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    by_rule: Counter[tuple[str, str]] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)
    applied: Counter[str] = field(default_factory=Counter)
    fixed: list[str] = field(default_factory=list)
    broken: dict[str, Broken] = field(default_factory=dict)
    set_lost: int = 0

    def add(self, id_: str, gold: list[Row], before: Answer, after: Answer) -> None:
        """One question: the answer as predicted and as the guard leaves it."""
        self.questions += 1
        ran = before.failure is None
        as_set = ran and set(before.rows) == set(gold)
        as_bag = ran and Counter(before.rows) == Counter(gold)
        self.set_ex += as_set
        self.multiset_ex += as_bag
        trigger = TRIGGERS.get(before.probe.status) if before.probe else None
        if trigger:
            self.flagged[trigger] += 1
        findings = [f for f in after.findings if f.rule not in _RUNTIME]
        if as_set and not as_bag:
            self.mbs += 1
            self.mbs_flagged += trigger is not None
            self.mbs_found += any(f.severity in LOUD for f in (*findings, *before.findings))
        state = "right" if as_bag else "wrong only in multiplicity" if as_set else "wrong"
        for rule, severity in {(f.rule, f.severity.value) for f in findings}:
            self.found[rule, severity, state] += 1
        if any(f.severity == Severity.ERROR for f in findings):
            self.errors += 1
            self.errors_right += not as_bag
        if not after.applied:
            return
        self.applied.update(after.applied)
        now = Counter(after.rows) == Counter(gold)
        self.set_lost += as_set and set(after.rows) != set(gold)
        names = " + ".join(dict.fromkeys(after.applied))
        if now and not as_bag:
            self.fixed.append(id_)
            self.by_rule[names, "fixed"] += 1
        elif as_bag and not now:
            self.broken[id_] = _broken(after, gold)
            self.by_rule[names, "broken"] += 1
        else:
            self.by_rule[names, "neither"] += 1


def _broken(after: Answer, gold: list[Row]) -> Broken:
    """Why a repair was applied: the finding that it answers, which names what decided."""
    done = after.applied[0]
    found = [f for f in after.findings if any(r.name == done for r in f.repairs)]
    why = " ".join(f.message for f in found)
    if not any(f.rule == "repeated_values" for f in found):
        why += " Nothing in the question, the order or a LIMIT speaks for the copies."
    rows, different, now = len(gold), len(set(gold)), len(after.rows)
    return Broken(
        question=after.question or "",
        repair=" + ".join(dict.fromkeys(after.applied)),
        why=why,
        gold=f"{rows:,} rows, {different:,} different; {now:,} after the repair",
    )


class Databases:
    """Engines and gold results, opened and run once for all systems."""

    def __init__(self) -> None:
        self._engines: dict[Path, Engine] = {}
        self._gold: dict[tuple[Path, str], list[Row] | None] = {}

    def engine(self, path: Path) -> Engine:
        """The engine of a database file."""
        if path not in self._engines:
            self._engines[path] = connect(path, SETTINGS)
        return self._engines[path]

    def gold(self, path: Path, sql: str) -> list[Row] | None:
        """Rows of a gold query, None when it does not run."""
        key = (path, sql)
        if key not in self._gold:
            outcome = self.engine(path).execute(sql, limits=SETTINGS.limits())
            self._gold[key] = outcome.rows if isinstance(outcome, Rows) else None
        return self._gold[key]


def tally(dataset: Dataset, predictions: Path, root: Path, databases: Databases) -> Tally:
    """Guard one prediction set and count."""
    counts = Tally()
    asked = {question.id: question.question for question in dataset.questions}
    for id_, path, gold_sql, sql in pairs(dataset, predictions, root):
        gold = databases.gold(path, gold_sql)
        if gold is None:
            counts.no_gold += 1
            continue
        engine = databases.engine(path)
        after = Guard(engine, settings=SETTINGS).run(sql, fix=True, question=asked.get(id_))
        before = Guard(engine, "off", SETTINGS).run(sql) if after.applied else after
        counts.add(id_, gold, before, after)
    return counts


HEAD = (
    "| system | n | Set-EX | Multiset-EX | MBS | flagged: error / empty / duplicates "
    "| repaired | fixed / broken | MBS seen by the probe | MBS with a warning or error |\n"
    + "|---" * 10
    + "|"
)


def line(name: str, t: Tally) -> str:
    """One row of the table."""
    share = [f"{100 * n / t.questions:.2f}" for n in (t.set_ex, t.multiset_ex)]
    triggers = ("exec_error", "empty_result", "cartesian_explosion")
    flagged = " / ".join(str(t.flagged[trigger]) for trigger in triggers)
    recall = f"{t.mbs_flagged / t.mbs:.2f}" if t.mbs else "-"
    patches = sum(t.by_rule.values())
    warned = f"{t.mbs_found / t.mbs:.2f}" if t.mbs else "-"
    changed = f"{len(t.fixed)} / {len(t.broken)}"
    return (
        f"| {name} | {t.questions} | {share[0]} | {share[1]} | {t.mbs} | {flagged} | {patches} "
        f"| {changed} | {recall} | {warned} |"
    )


def table(title: str, dataset: Dataset, systems: Iterable[Path], root: Path) -> list[str]:
    """A table over all systems, what their sum says, and what was changed by which repair."""
    databases, lines = Databases(), [f"\n## {title}\n", HEAD]
    tallies = {path.stem: tally(dataset, path, root, databases) for path in systems}
    lines += [line(name, counts) for name, counts in tallies.items()]
    lines += ["", *_sums(list(tallies.values())), "", *_changes(tallies)]
    return lines


def _sums(tallies: list[Tally]) -> list[str]:
    fixed = sum(len(t.fixed) for t in tallies)
    broken = sum(len(t.broken) for t in tallies)
    mbs = sum(t.mbs for t in tallies)
    net = f"{(fixed - broken) / mbs:.2f}" if mbs else "-"
    errors, right = sum(t.errors for t in tallies), sum(t.errors_right for t in tallies)
    found = sum(t.mbs_found for t in tallies)
    said = f"- findings of severity error on {errors} queries"
    said += f", {right} of these wrong ({right / errors:.2f})" if errors else ""
    return [
        f"- {fixed} fixed, {broken} broken; (fixed - broken) / MBS = {net}",
        f"- the probe flags {sum(t.mbs_flagged for t in tallies)} of {mbs} MBS cases; a warning or "
        f"error stands on {found} ({found / mbs:.2f})",
        f"- {sum(t.set_lost for t in tallies)} queries that were right as a set are so no more",
        said,
    ]


def _changes(tallies: dict[str, Tally]) -> list[str]:
    by_rule: Counter[tuple[str, str]] = sum((t.by_rule for t in tallies.values()), Counter())
    lines = ["| repair | fixed | broken | neither |", "|---|---|---|---|"]
    for name in sorted({name for name, _ in by_rule}):
        counts = " | ".join(str(by_rule[name, what]) for what in ("fixed", "broken", "neither"))
        lines.append(f"| {name} | {counts} |")
    found: Counter[tuple[str, str, str]] = sum((t.found for t in tallies.values()), Counter())
    if found:
        lines += ["", "| finding | severity | right | wrong only in multiplicity | wrong |"]
        lines.append("|---|---|---|---|---|")
        for rule, severity in sorted({key[:2] for key in found}):
            states = ("right", "wrong only in multiplicity", "wrong")
            counts = " | ".join(str(found[rule, severity, state]) for state in states)
            lines.append(f"| {rule} | {severity} | {counts} |")
    lines += ["", "Questions changed:", ""]
    for name, t in tallies.items():
        if t.fixed or t.broken:
            fixed, broken = ", ".join(t.fixed) or "none", ", ".join(t.broken) or "none"
            lines.append(f"- {name}: fixed {fixed}; broken {broken}")
    return [*lines, "", *_broken_table(tallies)]


def _broken_table(tallies: dict[str, Tally]) -> list[str]:
    """Each query that was broken, systems that wrote the same one together."""
    systems: dict[tuple[str, Broken], list[str]] = {}
    for name, t in tallies.items():
        for id_, broken in t.broken.items():
            systems.setdefault((id_, broken), []).append(name)
    if not systems:
        return ["Nothing was broken."]
    lines = ["What was broken, and why:", ""]
    lines.append("| question | systems | repair | what decided | gold returns |")
    lines.append("|---|---|---|---|---|")
    for (id_, one), names in sorted(systems.items(), key=lambda item: item[0][0]):
        cells = (f"{id_}: {one.question}", ", ".join(names), one.repair, one.why, one.gold)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


def main() -> None:
    """Both data sets."""
    require()
    print(f"# Policy `{POLICY}` on published predictions\n")
    print(f"Written by `python -m benchmarks.policies {POLICY}`; limit {SETTINGS.timeout:g} s.")
    print("How to read it: `benchmarks/policies.py`. Flagged counts use the paper's trigger names;")
    print("a time-out counts as an execution error.")
    print("\n".join(table("Spider dev", spider_dev(), spider_systems(), SPIDER / "database")))
    dataset, systems = bird_superhero()
    print("\n".join(table("BIRD dev, database superhero", dataset, systems, BIRD / "databases")))


if __name__ == "__main__":
    main()
