"""Execution accuracy that accepts any choice among rows that tie where gold's LIMIT cuts.

Defined here: right is every bag of rows that gold could have returned (case E10; see ties.py).
"""

from modularsql.evaluation.metrics.base import Metric, Score, as_score
from modularsql.evaluation.pair import Pair, may_be_ordered


def _score(pair: Pair) -> Score:
    if pair.same_bag is not False:
        return as_score(pair.same_bag)
    if pair.truncated and pair.same_number is None and _may_tie(pair):
        return None
    return as_score(pair.tied)


def _may_tie(pair: Pair) -> bool:
    """Whether gold's LIMIT may have cut through rows that tie."""
    if not may_be_ordered(pair.gold_sql):
        return False
    shape = pair.gold_shape
    return shape is None or (shape.ordered and shape.cut)


FAMILY = (
    Metric(
        name="tie_ex",
        title="Multiset-EX, any choice at a tie",
        definition=(
            "Multiset-EX, or rows that gold's LIMIT could have let through as well; undecided "
            "until gold was run without its LIMIT."
        ),
        score=_score,
    ),
)
