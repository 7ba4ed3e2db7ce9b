"""What the paper's probe and patches do on published predictions, printed as Markdown.

    python -m benchmarks.paper_rules > docs/paper-rules.md

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
from modularsql.ports import Engine
from modularsql.records import Answer
from modularsql.rows import Row, Rows
from modularsql.service.repairing import TRIGGERS

SETTINGS = Settings(timeout=5.0, policy="paper", max_rows=2_000_000)


@dataclass(slots=True)
class Tally:
    """Counts over one prediction set."""

    questions: int = 0
    no_gold: int = 0
    set_ex: int = 0
    multiset_ex: int = 0
    mbs: int = 0
    mbs_flagged: int = 0
    flagged: Counter[str] = field(default_factory=Counter)
    applied: Counter[str] = field(default_factory=Counter)
    fixed: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
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
        if as_set and not as_bag:
            self.mbs += 1
            self.mbs_flagged += trigger is not None
        if not after.applied:
            return
        self.applied.update(after.applied)
        now = Counter(after.rows) == Counter(gold)
        self.set_lost += as_set and set(after.rows) != set(gold)
        if now and not as_bag:
            self.fixed.append(id_)
        if as_bag and not now:
            self.broken.append(id_)


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
    for id_, path, gold_sql, sql in pairs(dataset, predictions, root):
        gold = databases.gold(path, gold_sql)
        if gold is None:
            counts.no_gold += 1
            continue
        engine = databases.engine(path)
        after = Guard(engine, settings=SETTINGS).run(sql, fix=True)
        before = Guard(engine, "off", SETTINGS).run(sql) if after.applied else after
        counts.add(id_, gold, before, after)
    return counts


HEAD = (
    "| system | n | Set-EX | Multiset-EX | MBS | flagged: error / empty / duplicates "
    "| P1 | P2 | fixed / broken | MBS recall of the probe |\n" + "|---" * 10 + "|"
)


def line(name: str, t: Tally) -> str:
    """One row of the table."""
    share = [f"{100 * n / t.questions:.2f}" for n in (t.set_ex, t.multiset_ex)]
    triggers = ("exec_error", "empty_result", "cartesian_explosion")
    flagged = " / ".join(str(t.flagged[trigger]) for trigger in triggers)
    recall = f"{t.mbs_flagged / t.mbs:.2f}" if t.mbs else "-"
    patches = f"{t.applied['inject_distinct']} | {t.applied['remove_distinct']}"
    changed = f"{len(t.fixed)} / {len(t.broken)}"
    return (
        f"| {name} | {t.questions} | {share[0]} | {share[1]} | {t.mbs} | {flagged} | {patches} "
        f"| {changed} | {recall} |"
    )


def table(title: str, dataset: Dataset, systems: Iterable[Path], root: Path) -> list[str]:
    """A table over all systems with their sum, and what the patches changed."""
    databases, lines, notes = Databases(), [f"\n## {title}\n", HEAD], []
    fixed = broken = mbs = seen = lost = 0
    for path in systems:
        counts = tally(dataset, path, root, databases)
        lines.append(line(path.stem, counts))
        fixed, broken = fixed + len(counts.fixed), broken + len(counts.broken)
        mbs, seen, lost = mbs + counts.mbs, seen + counts.mbs_flagged, lost + counts.set_lost
        if counts.fixed or counts.broken:
            notes.append(
                f"- {path.stem}: fixed {', '.join(counts.fixed) or 'none'}; "
                f"broken {', '.join(counts.broken) or 'none'}"
            )
    share = f"{seen / mbs:.2f}" if mbs else "-"
    lines.append(
        f"\nAll systems: {fixed} fixed, {broken} broken; the probe flags {seen} of {mbs} MBS "
        f"cases ({share}); {lost} queries that were right as a set are so no more.\n"
    )
    return [*lines, "Questions changed to right or wrong:\n", *notes]


def main() -> None:
    """Both data sets."""
    require()
    print("# The paper's probe and patches on published predictions\n")
    print(f"Written by `python -m benchmarks.paper_rules`; policy `paper`, {SETTINGS.timeout:g} s.")
    print("How to read it: `benchmarks/paper_rules.py`. Flagged counts use the paper's trigger")
    print("names; a time-out counts as an execution error.")
    spider = table("Spider dev", spider_dev(), spider_systems(), SPIDER / "database")
    print("\n".join(spider))
    dataset, systems = bird_superhero()
    bird = table("BIRD dev, database superhero", dataset, systems, BIRD / "databases")
    print("\n".join(bird))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
