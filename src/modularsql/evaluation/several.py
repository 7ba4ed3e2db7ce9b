"""One question with several golds, or on several databases: one record out of those of its pairs.

Right is what is right by one gold (`over_golds`), and that on every database (`over_databases`);
what it earns by its time (R-VES) is the mean over databases, since one of them is no worse a clock
than another.
Beside the scores stands what the nearest gold says, on the first database that is against it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from modularsql.evaluation.log import Guarded, Record
from modularsql.evaluation.metrics.base import (
    Score,
    mean_over_databases,
    over_databases,
    over_golds,
)
from modularsql.evaluation.metrics.ves import TIMED

NEVER_RAN = ("error", "no_database", "no_gold", "refused", "unbound", "no_sql")
"""Statuses of gold that say nothing of a prediction, on any machine."""

_Reduce = Callable[[Iterable[Score]], Score]


def combined(records: Sequence[Sequence[Record]]) -> Record:
    """The record of a question from those on each database, with each gold."""
    return _on_all([_by_any(golds) for golds in records])


def _by_any(records: Sequence[Record]) -> Record:
    known = _known(records)
    if len(known) == 1:
        return known[0]
    # Of equals one that ran: it decides whether the question counts.
    nearest = max(known, key=lambda one: (_likeness(one), one.gold.ok))
    return _merged(nearest, known, over_golds)


def _on_all(records: Sequence[Record]) -> Record:
    known = _known(records)
    if len(known) == 1:
        return known[0]
    against = min(known, key=lambda one: (one.gold.ok, _likeness(one)))
    found = _merged(against, known, over_databases)
    timed = {
        name: mean_over_databases(one.scores.get(name) for one in known)
        for name in TIMED
        if name in found.scores
    }
    return replace(found, scores={**found.scores, **timed})


def _known(records: Sequence[Record]) -> Sequence[Record]:
    """Those whose gold says something; the first where none does."""
    return [one for one in records if one.gold.status not in NEVER_RAN] or records[:1]


def _likeness(record: Record) -> tuple[float, ...]:
    """How much a prediction is like gold: first as a multiset, then as a set, then at all."""
    scores = [score or 0.0 for score in record.scores.values()]
    first = [record.scores.get(name) or 0.0 for name in ("multiset_ex", "set_ex")]
    return *first, sum(scores)


def _merged(shown: Record, records: Sequence[Record], reduce: _Reduce) -> Record:
    names = dict.fromkeys(name for one in records for name in one.scores)
    return replace(
        shown,
        scores={name: reduce(one.scores.get(name) for one in records) for name in names},
        guarded=tuple(
            _guarded(one, same, reduce)
            for one in shown.guarded
            # Where the guard was lost on one of them, it is lost.
            if len(same := _under(one.policy, records)) == len(records)
        ),
    )


def _under(policy: str, records: Sequence[Record]) -> list[Guarded]:
    return [one for record in records for one in record.guarded if one.policy == policy]


def _guarded(shown: Guarded, same: Sequence[Guarded], reduce: _Reduce) -> Guarded:
    return replace(
        shown,
        applied=tuple(dict.fromkeys(name for one in same for name in one.applied)),
        set_ex=reduce(one.set_ex for one in same),
        multiset_ex=reduce(one.multiset_ex for one in same),
    )
