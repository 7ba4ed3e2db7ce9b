"""What is almost the same: numbers that were rounded, values of other types."""

from collections import Counter
from collections.abc import Hashable, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Any

from modularsql.evaluation.pair import Pair
from modularsql.rows import Row
from modularsql.rows.tolerance import Tolerance, decimals, equal_within

NOISE = 1e-12
"""Relative difference of floats that comes from adding them up in another order."""


def equal_to_gold_s_decimals(pair: Pair) -> bool | None:
    """Whether the rows are equal once the prediction is rounded as gold is.

    A column of gold that holds floats is taken to be rounded to the digits that it shows; whole
    numbers are not taken for rounded ones.
    """
    return _rounded(pair, _shown(pair.gold.rows))


def equal_but_for_rounding(pair: Pair) -> bool | None:
    """Whether one side is the other rounded, column by column, or differs by float noise."""
    coarser = [
        None if g is None and p is None else min(d for d in (g, p) if d is not None)
        for g, p in zip(_shown(pair.gold.rows), _shown(pair.pred.rows), strict=True)
    ]
    return _rounded(pair, coarser)


def equal_but_for_types(gold: Sequence[Row], pred: Sequence[Row]) -> bool:
    """Whether the rows are equal once numbers, text and dates are read from text and bytes."""
    return Counter(tuple(map(_read, row)) for row in gold) == Counter(
        tuple(map(_read, row)) for row in pred
    )


def _rounded(pair: Pair, digits: Sequence[int | None]) -> bool | None:
    # Half a unit of the last digit, and a little for the half itself.
    tolerances = [
        Tolerance() if d is None else Tolerance(absolute=0.5000001 * 10.0**-d, relative=NOISE)
        for d in digits
    ]
    return equal_within(pair.gold_rows, pair.pred_rows, tolerances)


def _shown(rows: Sequence[Row]) -> list[int | None]:
    """Most digits after the point in each column, as the database gave them (DECIMAL 2.50 has
    two); None for a column without fractions."""
    most: list[int | None] = []
    for column in zip(*rows, strict=True):
        numbers = [cell for cell in column if isinstance(cell, float | Decimal) and isfinite(cell)]
        # DECIMAL 10, as a SUM of whole numbers on a server, is whole.
        most.append(max(filter(None, map(decimals, numbers)), default=None))
    return most


def _read(cell: Any) -> Hashable:
    """What the cell says, whatever its type."""
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", "surrogateescape")
    if isinstance(cell, str):
        try:
            number = Decimal(cell.strip())
        except InvalidOperation:
            return cell
        return number if number.is_finite() else cell
    if isinstance(cell, float) and isfinite(cell):
        return Decimal(repr(cell))
    return cell  # type: ignore[no-any-return]
