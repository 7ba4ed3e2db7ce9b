"""R-VES (BIRD mini-dev): a right answer earns more when the prediction runs faster than gold.

Answers from times that a pass of its own has measured: the two queries in turns, on one machine
that does nothing else. The correctness part is Set-EX.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median, pstdev

REWARDS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))
"""From this ratio of gold's time to the prediction's on: this reward."""


TIMED = {
    "r_ves": (
        "A right answer (Set-EX) earns by the ratio of the median times; 0 to sqrt(1.25). On "
        "several databases of one question: the mean, where it is right on all of them."
    ),
    "r_ves_bird": (
        "The same as published: by the mean of the ratios within three standard deviations."
    ),
}
"""The metrics of the timing pass, the corrected one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Times of both queries, run in turns: the i-th of each belong together. Any unit, not 0."""

    gold: Sequence[float]
    pred: Sequence[float]


def r_ves_bird(correct: bool, timing: Timing) -> float:
    """As published, from 0 to sqrt(1.25): the mean of the ratios within three deviations.

    Ratios at the edge count as outliers, so ratios that are all equal leave none, and the published
    code then gives 0 for a right answer.
    """
    ratios = [gold / pred for gold, pred in zip(timing.gold, timing.pred, strict=True)]
    if not correct or not ratios:
        return 0.0
    mean, reach = fmean(ratios), 3 * pstdev(ratios)
    usual = [ratio for ratio in ratios if mean - reach < ratio < mean + reach]
    return _reward(fmean(usual)) if usual else 0.0


def r_ves(correct: bool, timing: Timing) -> float:
    """Corrected: the ratio of the two median times, which a single slow run does not move."""
    if not correct or not timing.gold:
        return 0.0
    return _reward(median(timing.gold) / median(timing.pred))


def _reward(ratio: float) -> float:
    return sqrt(next(reward for least, reward in REWARDS if ratio >= least))
