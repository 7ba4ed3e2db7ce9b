"""A result as a model sees it: few rows, short cells, quoted; or only its shape."""

from modularsql.asking.prompts import clipped
from modularsql.pipeline.prompting import quoted
from modularsql.ports import Outcome
from modularsql.records import Failure

_ROWS, _CELLS, _MOST = 5, 8, 600


def preview(outcome: Outcome | None, values: bool = True) -> str:
    """The first rows, `EMPTY`, or the error; without `values` rows and columns are only counted."""
    if outcome is None:
        return "not run"
    if isinstance(outcome, Failure):
        return clipped(f"ERROR: {' '.join(outcome.message.split())}", _MOST)
    more = " or more" if outcome.truncated else ""
    shape = f"{len(outcome.rows)}{more} rows, {len(outcome.columns)} columns"
    if not outcome.rows:
        return f"EMPTY ({len(outcome.columns)} columns)"
    if not values:
        return shape
    rows = [" | ".join(_cell(cell) for cell in row[:_CELLS]) for row in outcome.rows[:_ROWS]]
    return clipped("\n".join([shape, *rows]), _MOST)


def _cell(value: object) -> str:
    return quoted(value, 60) if isinstance(value, str) else clipped(repr(value), 60)
