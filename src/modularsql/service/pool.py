"""The port between tasks and the processes that do them, and the pool of this machine.

`run_all` (`workers.py`) hands portions of tasks to a `Pool` and asks what became of them: the
results, or how the portion ended its process. `LocalPool` is pebble's; `cluster.py` has another.
"""

import gc
import signal
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Protocol, TypeVar

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from modularsql.config import Settings
from modularsql.engines.ctrl_c import deaf_to_ctrl_c
from modularsql.engines.scratch import Scratch
from modularsql.engines.worker import prepare_worker
from modularsql.errors import SetupError
from modularsql.service.nursery import is_warm

_HAND_BACK = 1.0
_THREADS_HAND_BACK = 10.0


class OnDatabase(Protocol):
    """A task that is about one database."""

    @property
    def database(self) -> str:
        """The database's file."""


T = TypeVar("T", bound=OnDatabase)
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
class Portion(Generic[T, R]):
    """Tasks for one worker process, done by `do` in so many threads.

    It hands back what it has done after a second, `seconds` being the most that one task takes.
    """

    do: Callable[[T], R]
    tasks: Sequence[T]
    threads: int
    seconds: float

    def work_through(self) -> list[R]:
        """In a worker: the results of the first tasks, at least one."""
        if self.threads > 1:
            return _in_threads(self.do, self.tasks, self.threads)
        end = time.monotonic() + _HAND_BACK
        done: list[R] = []
        for task in self.tasks:
            try:
                done.append(self.do(task))
            except SetupError:
                if not done:
                    raise
                break  # this task is handed over once more, and comes first then
            if time.monotonic() > end:
                break
        return done

    @property
    def longest(self) -> float:
        """Seconds after which a worker that has not handed back is ended."""
        if len(self.tasks) == 1:
            return self.seconds
        return self.seconds + (_HAND_BACK if self.threads == 1 else _THREADS_HAND_BACK)


class Pool(Protocol):
    """`size` worker processes that can be ended, each at work on one portion at a time."""

    size: int

    def group(self, database: str) -> Hashable:
        """Tasks of one group may share a portion: any worker of the group has their databases."""

    def start(self, portion: Portion[T, R]) -> Callable[[], list[R] | Loss]:
        """Hand over a portion. The call returned waits for its end: the results of the first
        tasks of it, or how it was lost; raises `BrokenProcessPool` when no process is left."""

    def close(self) -> None:
        """End all processes."""


class LocalPool:
    """Processes of this machine; gone with all that they wrote to disk, whatever happens."""

    def __init__(self, size: int, prepare: Callable[[Settings], None], settings: Settings) -> None:
        self.size = size
        self._scratch = Scratch()
        self._context = _Context()
        self._pool = ProcessPool(
            max_workers=size,
            context=self._context,
            initializer=_start,
            initargs=(prepare, settings, self._scratch.name),
        )

    def group(self, database: str) -> Hashable:
        """See `Pool`: every process here reads every file."""
        return None

    def start(self, portion: Portion[T, R]) -> Callable[[], list[R] | Loss]:
        """See `Pool`."""
        with deaf_to_ctrl_c():
            future = self._pool.schedule(portion.work_through, timeout=portion.longest)
        return partial(_outcome, future)

    def close(self) -> None:
        """See `Pool`."""
        # First the workers: the pool takes its locks away, which one that is still loading
        # would answer with a traceback.
        for worker in self._context.started:
            if worker.is_alive():
                worker.terminate()
        self._pool.stop()  # type: ignore[no-untyped-call]
        # The pool's own threads look up ten times a second; Python waits for them at its end.
        threading.Thread(target=self._end).start()

    def _end(self) -> None:
        self._pool.join()
        self._scratch.close()


def _outcome(future: "ProcessFuture[list[R]]") -> list[R] | Loss:
    try:
        return future.result()
    except FutureTimeout:
        return Loss(timeout=True)
    except ProcessExpired as error:
        killed = hasattr(signal, "SIGALRM") and error.exitcode == -signal.SIGALRM
        return Loss(timeout=killed, exitcode=error.exitcode)


class _Context(SpawnContext):
    """Starts processes, never as a copy of this one, and remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[BaseProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> BaseProcess:  # type: ignore[override]  # noqa: N802
        """A process that is to be started: from the nursery where there is one, else anew."""
        kind = get_context("forkserver").Process if is_warm() else SpawnProcess
        self.started.append(kind(*args, **kwargs))
        return self.started[-1]


def _start(prepare: Callable[[Settings], None], settings: Settings, scratch: str) -> None:
    prepare_worker(settings, scratch)
    prepare(settings)
    # Trees of queries are cycles, short-lived and many: looked at rarely, they cost little memory.
    gc.set_threshold(25_000, 20, 50)
    gc.freeze()  # what was loaded stays: the collector need not look at it again and again


def _in_threads(do: Callable[[T], R], tasks: Sequence[T], threads: int) -> list[R]:
    """The results of the first tasks, several done at a time."""
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(do, task) for task in tasks]
        wait(futures, timeout=_THREADS_HAND_BACK)
        # Threads take tasks in their order; cancelled from the end, those begun are the first ones.
        begun = [future for future in reversed(futures) if not future.cancel()]
    return [future.result() for future in reversed(begun)]
