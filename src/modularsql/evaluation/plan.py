"""What is to be run: every distinct pair of gold and prediction once, grouped by database.

Questions repeat their gold, systems agree: a pair is scored once for all of them, and a statement
is run once for all pairs it stands in.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from modularsql.evaluation.batch import Asked, Batch, Unit
from modularsql.evaluation.datasets import Dataset, Question
from modularsql.evaluation.gold import Gold
from modularsql.evaluation.predictions import Predictions


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the answer of one system to one question is found, or why it is nowhere.

    `pairs` are those with each gold of the question, on each of its databases.
    """

    system: str
    question: int
    pairs: tuple[tuple[int, ...], ...]
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All places in the order of systems and questions, and the batches that fill them."""

    places: tuple[Place, ...]
    batches: tuple[Batch, ...]
    pairs: int


Answers = Mapping[str, Sequence[str | None]]
"""One SQL for each question of the set, by system; None or empty where there is none."""


_Key = tuple[Gold | None, ...]
_Numbers = dict[tuple[str, Gold | None, str, str | None], int]
"""The number of each pair by database, gold, prediction and, where it is guarded, question."""


def answers_of(systems: Mapping[str, Predictions]) -> dict[str, list[str | None]]:
    """The SQL of each system, question by question."""
    return {name: [one.sql for one in found.items] for name, found in systems.items()}


def make_plan(
    dataset: Dataset,
    answers: Answers,
    databases: Mapping[str, Sequence[str]],
    policies: Sequence[str] = (),
    *,
    candidates: Collection[str] = (),
) -> Plan:
    """The plan for these answers on the files of each database, or its URL (none: it is missing).

    The guard reads questions, so with `policies` a pair belongs to a question; without, questions
    of one gold share theirs. No policy is tried on the systems that `candidates` names.
    """
    numbers: _Numbers = {}
    places = []
    for system, sqls in answers.items():
        for at, (question, sql) in enumerate(zip(dataset.questions, sqls, strict=True)):
            files = databases[question.db]
            status = "no_sql" if not sql else "ok" if files else "no_database"
            asked = question.question if policies and system not in candidates else None
            pairs = tuple(_pairs(numbers, file, question, sql or "", asked) for file in files)
            places.append(Place(system=system, question=at, pairs=pairs, status=status))
    batches = tuple(_batches(numbers, tuple(policies)))
    return Plan(places=tuple(places), batches=batches, pairs=len(numbers))


def _pairs(
    numbers: _Numbers, database: str, question: Question, sql: str, asked: str | None
) -> tuple[int, ...]:
    """The numbers of the pairs with each gold on one database; new ones where there are none."""
    keys = [(database, gold, sql, asked) for gold in question.golds]
    return tuple(numbers.setdefault(key, len(numbers)) for key in keys)


def without(plan: Plan, done: Iterable[int]) -> tuple[Batch, ...]:
    """The batches with what is left of them when these pairs are done."""
    known = set(done)
    if not known:
        return plan.batches
    left = []
    for batch in plan.batches:
        units = [
            Unit(gold=unit.gold, asked=rest)
            for unit in batch.units
            if (rest := tuple(one for one in unit.asked if one.pair not in known))
        ]
        if units:
            left.append(Batch(database=batch.database, units=tuple(units), policies=batch.policies))
    return tuple(left)


def _batches(numbers: _Numbers, policies: tuple[str, ...]) -> Iterable[Batch]:
    units: dict[tuple[str, Gold | None], list[Asked]] = {}
    for (database, gold, sql, question), pair in numbers.items():
        guarded = question is not None
        one = Asked(pair=pair, sql=sql, question=question or "", guarded=guarded)
        units.setdefault((database, gold), []).append(one)
    groups = _Groups()
    for (database, gold), asked in units.items():
        for statement in (gold, *(one.sql for one in asked)):
            if not statement:
                continue
            groups.join((database, gold), (database, statement, "statement"))
    together: dict[_Key, list[Unit]] = {}
    for key, some in units.items():
        unit = Unit(gold=key[1], asked=tuple(some))
        together.setdefault(groups.root(key), []).append(unit)
    for root in sorted(together, key=lambda root: str(root[0])):
        yield Batch(database=str(root[0]), units=tuple(together[root]), policies=policies)


class _Groups:
    """Disjoint sets: what shares a statement belongs together."""

    def __init__(self) -> None:
        self._above: dict[_Key, _Key] = {}

    def root(self, one: _Key) -> _Key:
        """What stands for the set that `one` is in."""
        while (above := self._above.get(one, one)) != one:
            self._above[one] = self._above.get(above, above)
            one = above
        return one

    def join(self, one: _Key, other: _Key) -> None:
        """Make one set of the sets of both."""
        self._above[self.root(other)] = self.root(one)
