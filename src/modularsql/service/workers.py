"""Tasks in worker processes that can be killed.

A worker is given some tasks at a time, since handing over one costs as much as an easy one takes;
it hands back what it has done after a second. When a task does not stop by itself, or takes its
process down, that worker is replaced and the tasks it had are asked one by one, then in smaller
parts; the smallest one that still ends its worker is lost, and nothing else.
"""

import gc
import math
import os
import signal
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as FutureTimeout
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Generic, TypeVar

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from modularsql.config import Settings
from modularsql.engines.scratch import Scratch
from modularsql.engines.worker import deaf_to_ctrl_c, prepare_worker
from modularsql.errors import SetupError

OWN_WORK = 10.0
"""Seconds a task may take beyond the time limits of its queries: to open the database and to
parse (1 s for the longest SQL that is parsed), on a machine that has other things to do."""

_AT_ONCE = 64
_HAND_BACK = 1.0
_THREADS_HAND_BACK = 10.0

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """How a task ended its worker: out of time, or with an exit status (None: not known)."""

    timeout: bool = False
    exitcode: int | None = None

    @property
    def status(self) -> str:
        """The status of what was lost."""
        return "timeout" if self.timeout else "died"

    @property
    def problem(self) -> str | None:
        """What happened, in words; None where the status says it all."""
        if self.timeout:
            return None
        if self.exitcode is None:
            return "the workers ended"
        return f"the worker process ended (exit {self.exitcode})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(Generic[T, R]):
    """What is done with tasks.

    `prepare` and `do` run in the workers and travel by name: functions at the top of a module.
    The others run here: `seconds` bounds the queries of a task, `smaller` gives the parts to try
    after a loss (none: give up), `lost` the result of a task that was given up. `at_once` tasks
    are worked on at a time, in threads of all workers: for tasks that mostly wait.
    """

    prepare: Callable[[Settings], None]
    do: Callable[[T], R]
    seconds: Callable[[T], float]
    smaller: Callable[[T, Loss], Sequence[T]]
    lost: Callable[[T, Loss], R]
    at_once: int = 1


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
    workers = min(settings.jobs or _cores(), len(tasks))
    threads = math.ceil(work.at_once / workers)
    with _pool(workers, work.prepare, settings) as pool:
        desk = _Desk(pool, work, threads)
        with deaf_to_ctrl_c():
            futures = [(some, desk.start(some)) for some in _portions(tasks, workers, threads)]
        for some, future in futures:
            try:
                yield from desk.results(some, future)
            except BrokenProcessPool:
                return


class _Desk(Generic[T, R]):
    """Hands tasks to the workers of a pool."""

    def __init__(self, pool: ProcessPool, work: Work[T, R], threads: int) -> None:
        self._pool = pool
        self._work = work
        self._threads = threads

    def start(self, some: Sequence[T]) -> "ProcessFuture[list[R]]":
        """Hand over a portion."""
        within = max(map(self._work.seconds, some)) + OWN_WORK
        longest = _HAND_BACK if self._threads == 1 else _THREADS_HAND_BACK
        more = longest if len(some) > 1 else 0.0
        args = (self._work.do, some, self._threads)
        return self._pool.schedule(_work_through, args=args, timeout=within + more)

    def results(self, some: Sequence[T], future: "ProcessFuture[list[R]]") -> Iterator[list[R]]:
        """What became of a portion; of one that was lost with its worker, task by task."""
        try:
            done = future.result()
        except (FutureTimeout, ProcessExpired) as error:
            if len(some) == 1:
                yield self._after(some[0], _loss(error))
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


def _loss(error: Exception) -> Loss:
    if isinstance(error, ProcessExpired):
        killed = hasattr(signal, "SIGALRM") and error.exitcode == -signal.SIGALRM
        return Loss(timeout=killed, exitcode=error.exitcode)
    return Loss(timeout=True)


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


class _Context(SpawnContext):
    """Starts processes anew (not forked) and remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        """A process that is to be started."""
        self.started.append(SpawnProcess(*args, **kwargs))
        return self.started[-1]


@contextmanager
def _pool(
    jobs: int, prepare: Callable[[Settings], None], settings: Settings
) -> Iterator[ProcessPool]:
    """A pool that is gone, with all that its workers wrote to disk, whatever happens."""
    with closing(Scratch()) as scratch:
        context = _Context()
        pool = ProcessPool(
            max_workers=jobs,
            context=context,
            initializer=_start,
            initargs=(prepare, settings, scratch.name),
        )
        try:
            yield pool
        finally:
            # First the workers: the pool takes its locks away, which one that is still loading
            # would answer with a traceback.
            for worker in context.started:
                if worker.is_alive():
                    worker.terminate()
            pool.stop()  # type: ignore[no-untyped-call]
            pool.join()


def _cores() -> int:
    """The cores this process may use, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start(prepare: Callable[[Settings], None], settings: Settings, scratch: str) -> None:
    prepare_worker(settings, scratch)
    prepare(settings)
    gc.freeze()  # what was loaded stays: the collector need not look at it again and again


def _work_through(do: Callable[[T], R], tasks: Sequence[T], threads: int) -> list[R]:
    """The first of the tasks, as many as take about a second; at least one."""
    if threads > 1:
        return _in_threads(do, tasks, threads)
    end = time.monotonic() + _HAND_BACK
    done: list[R] = []
    for task in tasks:
        done.append(do(task))
        if time.monotonic() > end:
            break
    return done


def _in_threads(do: Callable[[T], R], tasks: Sequence[T], threads: int) -> list[R]:
    """The same, several at a time."""
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(do, task) for task in tasks]
        wait(futures, timeout=_THREADS_HAND_BACK)
        # Threads take tasks in their order; cancelled from the end, those begun are the first ones.
        begun = [future for future in reversed(futures) if not future.cancel()]
    return [future.result() for future in reversed(begun)]
