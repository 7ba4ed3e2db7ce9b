"""What tests of one engine ask of it: rows where rows are due, a failure where one is."""

from typing import Any

from modularsql.ports import Engine
from modularsql.records import Failure, Limits
from modularsql.rows import Rows

LIMITS = Limits(seconds=10)


def rows(engine: Engine, sql: str, params: Any = None) -> list[Any]:
    outcome = engine.execute(sql, params, limits=LIMITS)
    assert isinstance(outcome, Rows), outcome
    return outcome.rows


def failure(engine: Engine, sql: str, limits: Limits = LIMITS) -> Failure:
    outcome = engine.execute(sql, limits=limits)
    assert isinstance(outcome, Failure), outcome
    return outcome
