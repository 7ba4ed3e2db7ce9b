"""Spider 2.0's relaxed match: every column of gold is found in the prediction, within 0.01.

As published each column is looked for on its own, in the order of the rows or sorted as text, so
that rows taken apart still match (case E05) and a number may be compared with the wrong one (E06).
`spider2_rows_ex` asks for columns that make the rows equal. Both allow further columns in the
prediction; of several golds the best counts (`over_golds`). Departs from the published code in
that values are compared as the database gives them, not after a way through CSV.
"""

from collections.abc import Sequence
from itertools import islice, product
from math import isclose
from typing import Any

from modularsql.evaluation.metrics.base import Metric, Score, as_score
from modularsql.evaluation.pair import Pair
from modularsql.rows import Row
from modularsql.rows.tolerance import Tolerance, equal_within

TOLERANCE = 1e-2
MOST_CHOICES = 1_000
"""Choices of columns that are tried before the answer is undecided."""


def relaxed(
    gold: Sequence[Row], pred: Sequence[Row], *, ordered: bool, columns: Sequence[int] = ()
) -> bool:
    """The published verdict; only gold's `columns` (all when none are named) are looked for."""
    wanted = _columns(gold, columns)
    return all(any(_match(g, p, ordered) for p in _columns(pred, ())) for g in wanted)


def relaxed_by_rows(
    gold: Sequence[Row], pred: Sequence[Row], columns: Sequence[int] = ()
) -> bool | None:
    """Whether some columns of the prediction make its rows gold's, whatever their order."""
    if len(gold) != len(pred):
        return False
    near, there = Tolerance(absolute=TOLERANCE), _columns(pred, ())
    wanted = _columns(gold, columns)
    candidates = [
        [at for at, p in enumerate(there) if equal_within(_one(g), _one(p), [near])] for g in wanted
    ]
    rows = list(zip(*wanted, strict=True))
    undecided = False
    choices = (choice for choice in product(*candidates) if len(set(choice)) == len(choice))
    for choice in islice(choices, MOST_CHOICES):
        chosen = list(zip(*(there[at] for at in choice), strict=True))
        equal = equal_within(rows, chosen, [near] * len(wanted))
        if equal:
            return True
        undecided |= equal is None
    return None if undecided or next(choices, None) is not None else False


def _columns(rows: Sequence[Row], which: Sequence[int]) -> list[Row]:
    columns = list(zip(*rows, strict=True))
    return [columns[at] for at in which] if which and columns else columns


def _one(column: Row) -> list[Row]:
    return [(cell,) for cell in column]


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
        return isclose(one, other, abs_tol=TOLERANCE)
    return bool(one == other)


def _published(pair: Pair) -> Score:
    if pair.truncated:
        return None
    if not pair.gold_rows or not pair.pred_rows:
        return float(not pair.gold_rows and not pair.pred_rows)
    shape = pair.gold_shape if "order" in pair.gold_sql.lower() else None
    ordered = shape is not None and shape.ordered
    return float(relaxed(pair.gold_rows, pair.pred_rows, ordered=ordered))


def _by_rows(pair: Pair) -> Score:
    if pair.truncated:
        return None
    if not pair.gold_rows or not pair.pred_rows:
        return float(not pair.gold_rows and not pair.pred_rows)
    return as_score(relaxed_by_rows(pair.gold_rows, pair.pred_rows))


FAMILY = (
    Metric(
        name="spider2_ex",
        title="Spider 2.0 relaxed",
        definition=(
            "Each column of gold occurs in the prediction, numbers within 0.01, as published: "
            "columns on their own; in gold's order where its outermost query has one."
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
