"""How sure a score is: intervals for one, and for the difference of two on the same questions.

Differences by scipy (extra `eval`); without it they are None and the caller says so.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from statistics import NormalDist
from typing import Any

CONFIDENCE = 0.95
RESAMPLES = 9_999
SEED = 20_260_101
"""Fixed, so that a report says the same when it is written again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Where the true value lies with 95 % confidence; fractions, not per cent."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Two systems with their means `a` and `b` on the same `n` questions; `difference` is b less a.

    `gained` and `lost` count questions where only b, or only a, is better. `p` is McNemar's exact
    test on them. `interval` resamples questions, `clustered` whole clusters (databases), None
    with fewer than two of them.
    """

    n: int
    a: float
    b: float
    gained: int
    lost: int
    difference: float
    p: float
    interval: Interval | None
    clustered: Interval | None


def available() -> bool:
    """Whether scipy is installed."""
    return find_spec("scipy") is not None


def wilson(k: int, n: int) -> Interval | None:
    """Wilson's score interval for k successes in n tries; None without tries.

    The formula, not scipy's function: a plain run of `eval` would wait a second for the import.
    """
    if n == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    middle = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)
    return Interval(low=max(0.0, middle - half), high=min(1.0, middle + half))


def compare_paired(
    a: Sequence[float], b: Sequence[float], clusters: Sequence[Hashable] | None = None
) -> Paired | None:
    """Scores of two systems on the same questions in the same order; None without scipy.

    McNemar's exact test is the binomial test on the questions where they differ; for scores that
    are not just 0 and 1 that is the sign test. Raises ValueError for different lengths.
    """
    differences = [y - x for x, y in zip(a, b, strict=True)]
    if not differences or not available():
        return None
    gained, lost = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    p = _stats().binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    grouped: dict[Hashable, list[float]] = {}
    for name, difference in zip(clusters or (), differences, strict=clusters is not None):
        grouped.setdefault(name, []).append(difference)
    return Paired(
        n=len(differences),
        a=sum(a) / len(a),
        b=sum(b) / len(b),
        gained=gained,
        lost=lost,
        difference=sum(differences) / len(differences),
        p=float(p),
        interval=_bootstrap([[d] for d in differences]),
        clustered=_bootstrap(list(grouped.values())),
    )


def _bootstrap(groups: Sequence[Sequence[float]]) -> Interval | None:
    """Percentile interval of the mean difference when whole groups are drawn with return."""
    if len(groups) < 2:
        return None
    import numpy as np

    sums = np.array([sum(group) for group in groups])
    sizes = np.array([len(group) for group in groups])

    def mean(total: Any, size: Any, axis: int = -1) -> Any:
        return total.sum(axis=axis) / size.sum(axis=axis)

    result = _stats().bootstrap(
        (sums, sizes),
        mean,
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(SEED),
        batch=256,
    )
    interval = result.confidence_interval
    return Interval(low=float(interval.low), high=float(interval.high))


@cache
def _stats() -> Any:
    import scipy.stats

    return scipy.stats
