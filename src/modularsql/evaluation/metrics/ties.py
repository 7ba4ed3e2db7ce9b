"""Execution accuracy that accepts any choice among rows that tie where gold's LIMIT cuts."""

from modularsql.evaluation.metrics.base import Metric, Score, as_score
from modularsql.evaluation.pair import Pair


def _score(pair: Pair) -> Score:
    if pair.same_bag is not False:
        return as_score(pair.same_bag)
    return as_score(pair.tied)


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
