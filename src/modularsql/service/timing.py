"""The timing pass of `eval`: one worker process of this machine, one pair of queries at a time."""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from modularsql.config import Settings
from modularsql.engines.isolated import GRACE
from modularsql.errors import ModularSqlError
from modularsql.evaluation.metrics.ves import Timing
from modularsql.evaluation.timing import Race, race
from modularsql.service.opened import Opened
from modularsql.service.workers import Work, run_all


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """The times of a pair; None where a query failed or took its process down."""

    pair: int
    timing: Timing | None


def time_all(
    todo: Sequence[Race], turns: int, settings: Settings
) -> Generator[list[Timed], None, None]:
    """The times of each pair, as they come in. Close the iterator to end the worker."""
    work: Work[Race, Timed] = Work(
        prepare=partial(prepare, turns),
        do=measure,
        seconds=lambda _: 2 * (turns + 1) * (settings.timeout + GRACE),
        smaller=lambda _race, _loss: (),
        lost=lambda one, _loss: Timed(pair=one.pair, timing=None),
    )
    with closing(run_all(todo, work, replace(settings, jobs=1, cluster=""))) as results:
        for some in results:
            yield list(some)


@dataclass(slots=True)
class _Here:
    """In the worker process: what it has open, and how often it runs each query."""

    opened: Opened
    turns: int


_here: _Here | None = None


def prepare(turns: int, settings: Settings) -> None:
    """In the worker process, once."""
    global _here
    _here = _Here(Opened(settings), turns)


def measure(one: Race) -> Timed:
    """In the worker process: the times of one pair."""
    assert _here is not None
    limits = _here.opened.settings.scoring_limits()
    try:
        timing = race(_here.opened.engine(one.database), one, _here.turns, limits)
    except (ModularSqlError, MemoryError):
        timing = None
    return Timed(pair=one.pair, timing=timing)
