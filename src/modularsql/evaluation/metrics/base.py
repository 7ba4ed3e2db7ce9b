"""What a metric is, and how scores of several results of one question go together."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean

from modularsql.evaluation.pair import Pair

Score = float | None
"""From 0 to 1 (R-VES: to sqrt(1.25)); None where the results do not decide it (one is truncated, a
search ended)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A named score of one question's two results; 1 for identical ones, whatever the metric.

    `prepare` is given where the published evaluator changes both queries before it runs them:
    the metric is then to be scored on the results of the changed texts.
    """

    name: str
    title: str
    definition: str
    score: Callable[[Pair], Score]
    prepare: Callable[[str], str] | None = None


def as_score(fact: bool | None) -> Score:
    """A yes or no as a score."""
    return None if fact is None else float(fact)


def over_databases(scores: Iterable[Score]) -> Score:
    """One question on several databases: right only where it is right on all of them."""
    return _reduced(scores, worst=True)


def mean_over_databases(scores: Iterable[Score]) -> Score:
    """One question on several databases, where a right answer earns more or less on each: nothing
    unless it is right on all of them, else the mean of what it earns, as over questions."""
    known = list(scores)
    earned = [score for score in known if score]
    return fmean(earned) if len(earned) == len(known) else _reduced(known, worst=True)


def over_golds(scores: Iterable[Score]) -> Score:
    """One question with several gold answers: the best of them counts."""
    return _reduced(scores, worst=False)


def _reduced(scores: Iterable[Score], *, worst: bool) -> Score:
    known = list(scores)
    decided = [score for score in known if score is not None]
    if not decided:
        return None
    found = min(decided) if worst else max(decided)
    certain = found <= 0 if worst else found >= 1
    return found if certain or len(decided) == len(known) else None
