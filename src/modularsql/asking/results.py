"""A result as a model sees it: its first rows in short, EMPTY, or the error; or its size alone."""

import json
from collections.abc import Sequence
from typing import Any

from modularsql.asking.prompts import clipped
from modularsql.ports import Outcome
from modularsql.records import Failure

_LONGEST_RESULT = 400  # characters (paper, appendix C)
_FIRST_ROWS, _LONGEST_CELL = 5, 60


def result_text(outcome: Outcome | None, values: bool, count: int | None = None) -> str:
    """A result in at most 400 characters, without `values` nothing that stands in the data.

    An error's message may quote the data, so without `values` only its kind is told. `count` are
    the rows of the whole result, where more is known than was kept. None: the query was not run.
    """
    if outcome is None:
        return "not run"
    if isinstance(outcome, Failure):
        why = " ".join(outcome.message.split()) if values else f"({outcome.kind.value})"
        return clipped(f"ERROR {why}", _LONGEST_RESULT)
    if not outcome.rows:
        return "EMPTY"
    many = len(outcome.rows) if count is None else count
    more = " or more" if count is None and outcome.truncated else ""
    size = f"{many:,}{more} rows of {len(outcome.columns)} columns"
    if not values:
        return size
    shown = "; ".join(_row(row) for row in outcome.rows[:_FIRST_ROWS])
    rest = "; …" if more or many > _FIRST_ROWS else ""
    return clipped(f"{size}: {shown}{rest}", _LONGEST_RESULT)


def _row(row: Sequence[Any]) -> str:
    return json.dumps([_cell(value) for value in row], ensure_ascii=False)


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return clipped("bytes" if isinstance(value, bytes) else str(value), _LONGEST_CELL)
