"""Tasks in worker processes that can be killed, on this machine or on a cluster.

A worker is given some tasks at a time, since handing over one costs as much as an easy one takes;
it hands back what it has done after a second. When a task does not stop by itself, or takes its
process down, that worker is replaced and the tasks it had are asked one by one, then in smaller
parts; the smallest one that still ends its worker is lost, and nothing else.
"""

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path
from typing import Generic

from modularsql.config import Settings
from modularsql.cores import cores
from modularsql.errors import SetupError
from modularsql.service.pool import LocalPool, Loss, Pool, Portion, R, T
from modularsql.service.sources import file_of

OWN_WORK = 10.0
"""Seconds a task may take beyond the time limits of its queries: to open the database and to
parse (1 s for the longest SQL that is parsed), on a machine that has other things to do."""

_AT_ONCE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(Generic[T, R]):
    """What is done with tasks.

    `prepare` and `do` run in the workers and travel by name: functions at the top of a module.
    The others run here: `seconds` bounds the queries of a task, `smaller` gives the parts to try
    after a loss (none: give up), `lost` the result of a task that was given up. `at_once` tasks
    are worked on at a time, in threads of all workers: for tasks that mostly wait. `files` are
    read by every worker, besides the databases of its tasks. `meanwhile` is called once the workers
    have their tasks, to make ready what is needed at the end.
    """

    prepare: Callable[[Settings], None]
    do: Callable[[T], R]
    seconds: Callable[[T], float]
    smaller: Callable[[T, Loss], Sequence[T]]
    lost: Callable[[T, Loss], R]
    at_once: int = 1
    files: tuple[Path, ...] = ()
    meanwhile: Callable[[], None] | None = None


def run_all(
    tasks: Sequence[T], work: Work[T, R], settings: Settings
) -> Generator[list[R], None, None]:
    """The results of each task, in the order of the tasks: one, or one for each part it took.

    Close the iterator to end the workers. Raises `SetupError` when no worker can be started.
    """
    done = 0
    while done < len(tasks):
        before = done
        with closing(_in_one_pool(tasks[done:], work, settings)) as results:
            for some in results:
                done += 1
                yield some
        if done == before:  # the pool broke at its first task: go on with the next
            if not done:
                raise SetupError(
                    "the worker processes end as soon as they start",
                    "give them more with MODULARSQL_WORKER_MEMORY_MB, or 0 for no bound",
                )
            yield [work.lost(tasks[done], Loss())]
            done += 1


def _in_one_pool(
    tasks: Sequence[T], work: Work[T, R], settings: Settings
) -> Generator[list[R], None, None]:
    """Results in order, until all are there or the pool broke."""
    with closing(_pool(tasks, work, settings)) as pool:
        desk = _Desk(pool, work)
        handed = [(some, desk.start(some)) for some in desk.portions(tasks)]
        if work.meanwhile is not None:
            work.meanwhile()
        for some, outcome in handed:
            try:
                yield from desk.results(some, outcome)
            except BrokenProcessPool:
                return


def _pool(tasks: Sequence[T], work: Work[T, R], settings: Settings) -> Pool:
    if not settings.cluster:
        return LocalPool(min(settings.jobs or cores(), len(tasks)), work.prepare, settings)
    from modularsql.service.cluster import ClusterPool

    databases = dict.fromkeys(task.database for task in tasks)
    needs = {name: (*filter(None, [file_of(name)]), *work.files) for name in databases}
    return ClusterPool(needs, work.prepare, settings)


class _Desk(Generic[T, R]):
    """Hands tasks to the workers of a pool."""

    def __init__(self, pool: Pool, work: Work[T, R]) -> None:
        self._pool = pool
        self._work = work
        self._threads = math.ceil(work.at_once / pool.size)

    def portions(self, tasks: Sequence[T]) -> Iterator[Sequence[T]]:
        """The tasks in order, in portions that one worker can do."""
        for _, group in groupby(tasks, lambda task: self._pool.group(task.database)):
            yield from _portions(list(group), self._pool.size, self._threads)

    def start(self, some: Sequence[T]) -> Callable[[], list[R] | Loss]:
        """Hand over a portion."""
        seconds = max(map(self._work.seconds, some)) + OWN_WORK
        return self._pool.start(
            Portion(do=self._work.do, tasks=some, threads=self._threads, seconds=seconds)
        )

    def results(
        self, some: Sequence[T], outcome: Callable[[], list[R] | Loss]
    ) -> Iterator[list[R]]:
        """What became of a portion; of one that was lost with its worker, task by task."""
        done = outcome()
        if isinstance(done, Loss):
            if len(some) == 1:
                yield self._after(some[0], done)
                return
            for task in some:
                yield from self.results([task], self.start([task]))
            return
        yield from ([one] for one in done)
        if rest := some[len(done) :]:
            yield from self.results(rest, self.start(rest))

    def _after(self, task: T, loss: Loss) -> list[R]:
        """A task that ended its worker: the results of its parts, or that it is lost."""
        parts = self._work.smaller(task, loss)
        if not parts:
            return [self._work.lost(task, loss)]
        return [one for p in parts for some in self.results([p], self.start([p])) for one in some]


def _portions(tasks: Sequence[T], workers: int, threads: int) -> Iterator[Sequence[T]]:
    """The tasks in order, in portions so small that every worker has several.

    They grow from one task on, so that the first results are there soon. Threads get many at once:
    to hand over a portion takes a tenth of a second, and they wait for each other at its end.
    """
    if threads > 1:
        size = min(_AT_ONCE, 8 * threads, math.ceil(len(tasks) / workers))
        yield from (tasks[at : at + size] for at in range(0, len(tasks), size))
        return
    most = max(1, min(_AT_ONCE, len(tasks) // (4 * workers)))
    start = 0
    for number in count():
        if start >= len(tasks):
            return
        size = min(most, 2 ** min(number // workers, 10))
        yield tasks[start : start + size]
        start += size
