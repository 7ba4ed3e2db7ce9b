"""Every metric under its name, one file for each family.

A metric answers from two results; `None` means that they do not decide it. Identical results are
1 in every metric, so `scores` asks none of them.
"""

from collections.abc import Iterable, Mapping

from modularsql.evaluation.metrics import (
    exact,
    partial,
    soft_f1,
    spider,
    spider2,
    ties,
    tolerant,
)
from modularsql.evaluation.metrics.base import Metric, Score
from modularsql.evaluation.pair import Pair

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for family in (exact, ties, tolerant, spider, spider2, soft_f1, partial)
    for metric in family.FAMILY
}


def scores(pair: Pair, metrics: Iterable[Metric] = tuple(METRICS.values())) -> dict[str, Score]:
    """The score of each metric by its name."""
    if pair.identical:
        return {metric.name: 1.0 for metric in metrics}
    return {metric.name: metric.score(pair) for metric in metrics}


__all__ = ["METRICS", "Metric", "Score", "scores"]
