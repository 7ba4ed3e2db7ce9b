"""What tests of one engine ask of it: rows where rows are due, a failure where one is."""

from typing import Any

from modularsql.guard.counting import counts_in, near_counting
from modularsql.ports import Engine
from modularsql.records import Failure, Limits
from modularsql.rows import Rows
from modularsql.sql.dialects import dialect_of

LIMITS = Limits(seconds=10)


def rows(engine: Engine, sql: str, params: Any = None) -> list[Any]:
    outcome = engine.execute(sql, params, limits=LIMITS)
    assert isinstance(outcome, Rows), outcome
    return outcome.rows


def failure(engine: Engine, sql: str, limits: Limits = LIMITS) -> Failure:
    outcome = engine.execute(sql, limits=limits)
    assert isinstance(outcome, Failure), outcome
    return outcome


def near_counts_outside(engine: Engine, values: str, size: int, turns: int) -> int:
    """How many of some estimates of `size` distinct rows err by more than is stated.

    `values` is a query for all numbers from `{first}` on, `{size}` of them. None errs by three
    times as much.
    """
    error, outside = dialect_of(engine.dialect).near_distinct_error, 0
    for turn in range(turns):
        once = values.format(first=turn * size, size=size)
        asked = near_counting(f"{once} UNION ALL {once}", 2, engine.dialect)
        outcome = engine.execute(asked, limits=LIMITS)
        assert isinstance(outcome, Rows), outcome
        counts = counts_in(outcome, error)
        assert counts.rows == 2 * size
        off = abs(counts.distinct / size - 1)
        assert off <= 3 * error
        outside += off > error
    return outside
