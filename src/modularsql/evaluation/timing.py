"""The timing pass of R-VES: right answers and their gold in turns, with nothing running beside.

A pass of its own, since times measured while other queries run say little. Right is what Set-EX
calls so; other answers get 0 without being run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from modularsql.engines.isolated import GRACE
from modularsql.engines.worker import alarm
from modularsql.evaluation.log import Record
from modularsql.evaluation.metrics.ves import TIMED, Timing, r_ves, r_ves_bird
from modularsql.evaluation.plan import Plan
from modularsql.ports import Engine
from modularsql.records import Limits
from modularsql.rows import Rows

_LEAST_MS = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Gold and a right answer, to be run in turns."""

    pair: int
    database: str
    gold: str
    pred: str


def races(plan: Plan, records: Mapping[int, Record]) -> list[Race]:
    """The right answers that have no times yet."""
    return [
        Race(pair=one.pair, database=batch.database, gold=unit.gold, pred=one.sql)
        for batch in plan.batches
        for unit in batch.units
        for one in unit.asked
        if isinstance(unit.gold, str)
        and _is_right(records[one.pair])
        and not _is_timed(records[one.pair])
    ]


def race(engine: Engine, one: Race, turns: int, limits: Limits) -> Timing | None:
    """The times of both, after a turn that is not counted; None where a query fails by now."""
    gold: list[float] = []
    pred: list[float] = []
    for _ in range(turns + 1):
        for sql, times in ((one.gold, gold), (one.pred, pred)):
            with alarm(limits.seconds + GRACE):
                outcome = engine.execute(sql, limits=limits)
            if not isinstance(outcome, Rows):
                return None
            times.append(max(outcome.ms, _LEAST_MS))
    return Timing(gold=gold[1:], pred=pred[1:])


def with_times(record: Record, timing: Timing | None) -> Record:
    """The record with both scores of R-VES; undecided where a right answer has no times."""
    earned: tuple[float | None, float | None]
    if not _is_right(record):
        earned = (record.scores.get("set_ex"),) * 2
    elif timing is None:
        earned = None, None
    else:
        earned = r_ves(True, timing), r_ves_bird(True, timing)
    return replace(record, scores={**record.scores, **dict(zip(TIMED, earned, strict=True))})


def untimed(records: Mapping[int, Record]) -> dict[int, Record]:
    """The records that need no times for their scores, with these."""
    return {
        pair: with_times(record, None)
        for pair, record in records.items()
        if not _is_right(record) and not _is_timed(record)
    }


def _is_right(record: Record) -> bool:
    return record.scores.get("set_ex") == 1.0


def _is_timed(record: Record) -> bool:
    return all(name in record.scores for name in TIMED)
