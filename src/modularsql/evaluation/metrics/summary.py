"""What is said of many scores: means, the gap between two metrics, what a pool could reach."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from modularsql.evaluation.metrics.base import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The mean of the scores that are decided, and how many are; None where none is."""

    value: float | None
    n: int
    undecided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """One question's candidates: the best score among them, the mean, and the first one's."""

    upper: float
    mean: float
    first: Score


def mean(scores: Sequence[Score]) -> Mean:
    """The mean score; what is undecided is counted beside it, not as wrong."""
    decided = [score for score in scores if score is not None]
    value = fmean(decided) if decided else None
    return Mean(value=value, n=len(decided), undecided=len(scores) - len(decided))


def blind_spot(set_ex: Mapping[str, Score], multiset_ex: Mapping[str, Score]) -> tuple[str, ...]:
    """The questions in the multiplicity blind spot: right as a set, wrong as a multiset.

    Paper, section 2.2. Set-EX less Multiset-EX, the gap, is their share of the questions.
    """
    return tuple(name for name, s in set_ex.items() if s == 1 and multiset_ex.get(name) == 0)


def pool(scores: Sequence[Score]) -> Pool | None:
    """What a perfect, a blind and no selection would score on one question's candidates.

    An undecided or failed candidate counts as 0; None for an empty pool.
    """
    if not scores:
        return None
    known = [score or 0.0 for score in scores]
    return Pool(upper=max(known), mean=fmean(known), first=scores[0])
