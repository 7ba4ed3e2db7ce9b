"""Bags of rows that are equal but for small differences of numbers.

Rows are matched one to one. Cells that are no numbers must be equal; numbers may differ by the
tolerance of their column. Sorting the numbers (as numbers) finds the matching where one column is
numeric, since then nearest neighbours in order can always be matched; with more, a sort that works
is a proof, and where it does not an exact matching decides (scipy, extra `eval`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isinf
from typing import Any

from modularsql.rows.assign import can_match_all
from modularsql.rows.cells import NUMBERS, Row

MOST_ROWS = 2_000
"""Rows with equal other cells that an exact matching is tried on; beyond, it is undecided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far two numbers may be apart; the wider of the two bounds counts. Default: not at all."""

    relative: float = 0.0
    absolute: float = 0.0

    def allows(self, one: Any, other: Any) -> bool:
        """Whether the two numbers are as good as equal."""
        if one == other:
            return True
        try:
            size = max(abs(float(one)), abs(float(other)))
        except OverflowError:  # whole numbers beyond all floats
            return False
        if isinf(size):
            return False  # no share of infinity is a distance
        if isinstance(one, float) or isinstance(other, float):
            one, other = float(one), float(other)  # else exactly: long ids differ by one
        return bool(abs(one - other) <= max(self.absolute, self.relative * size))


def equal_within(
    gold: Sequence[Row], pred: Sequence[Row], tolerances: Sequence[Tolerance]
) -> bool | None:
    """Whether the rows (comparable) are equal as bags, with one tolerance for each column.

    None where that could not be decided.
    """
    if len(gold) != len(pred):
        return False
    golds, preds = _grouped(gold), _grouped(pred)
    if {key: len(rows) for key, rows in golds.items()} != {k: len(r) for k, r in preds.items()}:
        return False
    undecided = False
    for key, rows in golds.items():
        columns = [tolerances[at] for at in key[0]]
        equal = _matched(sorted(rows), sorted(preds[key]), columns)
        if equal is False:
            return False
        undecided |= equal is None
    return None if undecided else True


def decimals(value: float | Decimal) -> int:
    """Digits after the point of a finite number as it is shown: 2.0 has one, DECIMAL 2.00 two."""
    if isinstance(value, float):
        return max(1, -int(Decimal(repr(value)).as_tuple()[2]))
    return max(0, -int(value.as_tuple()[2]))


def _grouped(rows: Sequence[Row]) -> dict[tuple[tuple[int, ...], Row], list[Row]]:
    """The numbers of each row, under the places of its numbers and its other cells."""
    groups: dict[tuple[tuple[int, ...], Row], list[Row]] = {}
    for row in rows:
        places = tuple(at for at, cell in enumerate(row) if isinstance(cell, NUMBERS))
        others = tuple(cell for cell in row if not isinstance(cell, NUMBERS))
        groups.setdefault((places, others), []).append(tuple(row[at] for at in places))
    return groups


def _matched(
    golds: Sequence[Row], preds: Sequence[Row], tolerances: Sequence[Tolerance]
) -> bool | None:
    """Whether the rows of numbers, sorted, can be matched."""
    if all(_near(g, p, tolerances) for g, p in zip(golds, preds, strict=True)):
        return True
    if len(tolerances) == 1:
        return False
    if len(golds) > MOST_ROWS:
        return None
    near = [[at for at, p in enumerate(preds) if _near(g, p, tolerances)] for g in golds]
    return can_match_all(near, len(preds)) if all(near) else False


def _near(gold: Row, pred: Row, tolerances: Sequence[Tolerance]) -> bool:
    return all(t.allows(g, p) for t, g, p in zip(tolerances, gold, pred, strict=True))
