"""What a pool of candidates could reach: the best of it, and its mean (paper, section 4.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from modularsql.evaluation.metrics.base import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """One question's candidates: the best score among them, the mean, and the first one's."""

    upper: float
    mean: float
    first: Score


def pool(scores: Sequence[Score]) -> Pool | None:
    """What a perfect, a blind and no selection would score on one question's candidates.

    An undecided or failed candidate counts as 0; None for an empty pool.
    """
    if not scores:
        return None
    known = [score or 0.0 for score in scores]
    return Pool(upper=max(known), mean=fmean(known), first=scores[0])
