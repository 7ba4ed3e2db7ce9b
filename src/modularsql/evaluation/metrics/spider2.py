"""Spider 2.0's relaxed match: every column of gold is found in the prediction, within 0.01.

As published each column is looked for on its own, in the order of the rows or sorted as text, so
that rows taken apart still match (case E05) and a number may be compared with the wrong one (E06).
`spider2_rows_ex` asks for columns that make the rows equal. Both allow further columns in the
prediction; of several golds the best counts (`over_golds`). Where gold is a published result, only
the columns that it names count, it says whether order does, and both sides go through CSV
(csv_rows.py), as published; where gold is a query, values are compared as the database gives them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import isclose
from typing import Any

from modularsql.evaluation.metrics.base import Metric, Score, as_score
from modularsql.evaluation.pair import Pair
from modularsql.rows import Row
from modularsql.rows.cells import NUMBERS
from modularsql.rows.tolerance import Tolerance, equal_within

NEAR = Tolerance(absolute=1e-2)
MOST_ROWS = 500_000
"""Rows compared, over all choices of columns, before the answer is undecided."""


def relaxed(
    gold: Sequence[Row], pred: Sequence[Row], *, ordered: bool, columns: Sequence[int] = ()
) -> bool:
    """The published verdict; only gold's `columns` (all when none are named) are looked for."""
    wanted = _columns(gold, columns)
    return all(any(_match(g, p, ordered) for p in _columns(pred, ())) for g in wanted)


def relaxed_by_rows(
    gold: Sequence[Row], pred: Sequence[Row], columns: Sequence[int] = ()
) -> bool | None:
    """Whether some columns of the prediction make its rows gold's, whatever their order.

    None when the choices are too many to try.
    """
    if len(gold) != len(pred):
        return False
    there, wanted = _columns(pred, ()), _columns(gold, columns)
    known = [_Column.of(column) for column in there]
    candidates = [
        [at for at, other in enumerate(known) if column.is_near(other)]
        for column in map(_Column.of, wanted)
    ]
    rows, undecided = list(zip(*wanted, strict=True)), False
    choices = (choice for choice in product(*candidates) if len(set(choice)) == len(choice))
    for choice in islice(choices, max(1, MOST_ROWS // len(rows))):
        chosen = list(zip(*(there[at] for at in choice), strict=True))
        equal = equal_within(rows, chosen, [NEAR] * len(wanted))
        if equal:
            return True
        undecided |= equal is None
    return None if undecided or next(choices, None) is not None else False


@dataclass(frozen=True, slots=True)
class _Column:
    """The values of a column whatever their order: numbers sorted, the others counted."""

    numbers: list[Any]
    others: "Counter[Any]"

    @classmethod
    def of(cls, column: Row) -> "_Column":
        """Taken apart once, compared often."""
        numbers: list[Any] = [cell for cell in column if isinstance(cell, NUMBERS)]
        return cls(
            sorted(numbers), Counter(cell for cell in column if not isinstance(cell, NUMBERS))
        )

    def is_near(self, other: "_Column") -> bool:
        """Whether the values can be matched; sorted numbers can where any numbers can."""
        same = self.others == other.others and len(self.numbers) == len(other.numbers)
        return same and all(map(NEAR.allows, self.numbers, other.numbers))


def _columns(rows: Sequence[Row], which: Sequence[int]) -> list[Row]:
    columns = list(zip(*rows, strict=True))
    return [columns[at] for at in which] if which and columns else columns


def _match(gold: Row, pred: Row, ordered: bool) -> bool:
    if len(gold) != len(pred):
        return False
    if not ordered:
        gold, pred = (tuple(sorted(column, key=_published_key)) for column in (gold, pred))
    return all(map(_close, gold, pred))


def _published_key(value: Any) -> tuple[str, bool]:
    return str("nan" if value is None else value), isinstance(value, int | float)


def _close(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return isclose(one, other, abs_tol=NEAR.absolute)
    return bool(one == other)


def _published(pair: Pair) -> Score:
    if pair.truncated:
        return None
    if not pair.gold_rows or not pair.pred_rows:
        return float(not pair.gold_rows and not pair.pred_rows)
    columns: Sequence[int] = ()
    if pair.standard is not None:
        ordered, columns = pair.standard.ordered, pair.standard.columns
    else:
        shape = pair.gold_shape if "order" in pair.gold_sql.lower() else None
        ordered = shape is not None and shape.ordered
    return float(relaxed(pair.gold_rows, pair.pred_rows, ordered=ordered, columns=columns))


def _by_rows(pair: Pair) -> Score:
    if pair.truncated:
        return None
    if not pair.gold_rows or not pair.pred_rows:
        return float(not pair.gold_rows and not pair.pred_rows)
    columns = pair.standard.columns if pair.standard is not None else ()
    return as_score(relaxed_by_rows(pair.gold_rows, pair.pred_rows, columns))


FAMILY = (
    Metric(
        name="spider2_ex",
        title="Spider 2.0 relaxed",
        definition=(
            "Each column of gold occurs in the prediction, numbers within 0.01, as published: "
            "columns on their own; in gold's order where its outermost query has one, or the "
            "standard of its file asks for it."
        ),
        score=_published,
    ),
    Metric(
        name="spider2_rows_ex",
        title="Spider 2.0 relaxed, by rows",
        definition="Some columns of the prediction make its rows gold's, numbers within 0.01.",
        score=_by_rows,
    ),
)
