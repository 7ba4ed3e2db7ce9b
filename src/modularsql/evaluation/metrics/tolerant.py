"""Execution accuracy that forgives small differences of numbers, when that is asked for.

Defined here: Multiset-EX where rows are matched one to one (rows/tolerance.py), within a tolerance
that is given, or half a unit of the last digit that gold shows (cases E06, E07).
"""

from modularsql.evaluation.metrics.base import Metric, Score, as_score
from modularsql.evaluation.near import equal_to_gold_s_decimals
from modularsql.evaluation.pair import Pair
from modularsql.rows.tolerance import Tolerance, equal_within

NAME = "tolerant_ex"


def tolerant_ex(tolerance: Tolerance) -> Metric:
    """Multiset-EX where numbers may differ by `tolerance`."""

    def score(pair: Pair) -> Score:
        if (known := _known(pair)) is not None:
            return known
        if pair.truncated:
            return None
        width = len(pair.gold.columns)
        return as_score(equal_within(pair.gold_rows, pair.pred_rows, [tolerance] * width))

    return Metric(
        name=NAME,
        title="Multiset-EX with tolerance",
        definition=(
            "Multiset-EX where numbers may differ by "
            f"{tolerance.absolute:g}, or {tolerance.relative:g} of the larger one."
        ),
        score=score,
    )


def _rounded(pair: Pair) -> Score:
    if (known := _known(pair)) is not None:
        return known
    if pair.truncated:
        return None
    return as_score(equal_to_gold_s_decimals(pair))


def _known(pair: Pair) -> Score:
    """What needs no look at the numbers: equal results, or another number of rows or columns."""
    if pair.same_bag:
        return 1.0
    wider = len(pair.gold.columns) != len(pair.pred.columns)
    both = bool(pair.gold.rows and pair.pred.rows)
    return 0.0 if pair.same_number is False or (both and wider) else None


FAMILY = (
    Metric(
        name="rounded_ex",
        title="Multiset-EX, rounded",
        definition="Multiset-EX after rounding the prediction's numbers to the digits gold shows.",
        score=_rounded,
    ),
)
