"""Many queries on many databases, in worker processes that can be killed.

A worker keeps a few databases open and is given some questions at a time, since handing over one
costs as much as guarding an easy one; it hands back what it has done after a second. When a query
does not stop by itself, or takes its process down, that worker is replaced, the questions it had
are asked one by one, and one is lost: it keeps its SQL and is counted.
"""

import multiprocessing
import os
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Generator, Iterator
from concurrent.futures import TimeoutError as FutureTimeout
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from modularsql.config import Settings
from modularsql.engines.connect import connect
from modularsql.engines.isolated import GRACE
from modularsql.engines.worker import deaf_to_ctrl_c, prepare_worker
from modularsql.errors import ModularSqlError, SetupError
from modularsql.guard.policy import find_policy
from modularsql.guard.run import Guard
from modularsql.records import Answer, FailureKind

OWN_WORK = 10.0
"""Seconds a question may take beyond the time limit of its queries: to open the database and to
parse (1 s for the longest SQL that is parsed), on a machine that has other things to do."""

_OPEN_DATABASES = 4
_AT_ONCE = 64
_HAND_BACK = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One question as it travels to a worker."""

    id: str
    database: str
    sql: str
    question: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What became of one question; `sql` is None where nothing changed."""

    id: str
    status: str
    rules: tuple[str, ...] = ()
    sql: str | None = None
    problem: str | None = None


def guard_all(tasks: list[Task], settings: Settings) -> Generator[Repaired, None, None]:
    """Guard each query with repairs applied; results in the order of the tasks.

    Close the iterator to end the workers. Raises `SetupError` when no worker can be started.
    """
    done = 0
    while done < len(tasks):
        before = done
        with closing(_in_one_pool(tasks[done:], settings)) as results:
            for one in results:
                done += 1
                yield one
        if done == before:  # the pool broke at its first question: go on with the next
            if not done:
                raise SetupError(
                    "the worker processes end as soon as they start",
                    "give them more with MODULARSQL_WORKER_MEMORY_MB, or 0 for no bound",
                )
            yield Repaired(id=tasks[done].id, status="died", problem="the workers ended")
            done += 1


def _in_one_pool(tasks: list[Task], settings: Settings) -> Generator[Repaired, None, None]:
    """Results in order, until all are there or the pool broke."""
    with _pool(min(settings.jobs or _cores(), len(tasks)), settings) as pool:
        desk = _Desk(pool, settings.timeout + GRACE + OWN_WORK)
        with deaf_to_ctrl_c():
            futures = [(some, desk.start(some)) for some in _portions(tasks, settings)]
        for some, future in futures:
            try:
                yield from desk.results(some, future)
            except BrokenProcessPool:
                return


class _Desk:
    """Hands tasks to the workers of a pool; one question may take `within` seconds."""

    def __init__(self, pool: ProcessPool, within: float) -> None:
        self._pool = pool
        self._within = within

    def start(self, some: list[Task]) -> "ProcessFuture[list[Repaired]]":
        """Hand over a portion."""
        more = _HAND_BACK if len(some) > 1 else 0.0
        return self._pool.schedule(_work_through, args=(some,), timeout=self._within + more)

    def results(
        self, some: list[Task], future: "ProcessFuture[list[Repaired]]"
    ) -> Iterator[Repaired]:
        """What became of a portion; of one that was lost with its worker, task by task."""
        try:
            done = future.result()
        except (FutureTimeout, ProcessExpired) as error:
            if len(some) == 1:
                yield self._lost(some[0], error)
                return
            for task in some:
                yield from self.results([task], self.start([task]))
            return
        yield from done
        if rest := some[len(done) :]:
            yield from self.results(rest, self.start(rest))

    def _lost(self, task: Task, error: Exception) -> Repaired:
        """A question that ended its worker; it may have been a patch and not the query."""
        if isinstance(error, FutureTimeout):
            return Repaired(id=task.id, status="timeout")
        bare = self._pool.schedule(_work, args=(task, False), timeout=self._within)
        try:
            result: Repaired = bare.result()
        except FutureTimeout:
            return Repaired(id=task.id, status="timeout")
        except ProcessExpired as died:
            problem = f"the worker process ended (exit {died.exitcode})"
            return Repaired(id=task.id, status="died", problem=problem)
        return result


def _portions(tasks: list[Task], settings: Settings) -> Iterator[list[Task]]:
    """The tasks in order, in portions so small that every worker has several."""
    workers = settings.jobs or _cores()
    size = max(1, min(_AT_ONCE, len(tasks) // (4 * workers)))
    for start in range(0, len(tasks), size):
        yield tasks[start : start + size]


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
def _pool(jobs: int, settings: Settings) -> Iterator[ProcessPool]:
    """A pool that is gone, with all that its workers wrote to disk, whatever happens."""
    with tempfile.TemporaryDirectory(prefix="modularsql-", ignore_cleanup_errors=True) as scratch:
        context = _Context()
        pool = ProcessPool(
            max_workers=jobs,
            context=context,
            initializer=_start,
            initargs=(settings, scratch),
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


class _Worker:
    """In a worker process: the databases it has open, the last used kept."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._guards: OrderedDict[str, Guard] = OrderedDict()
        self._failed: dict[str, ModularSqlError] = {}

    def guard(self, database: str) -> Guard:
        """The guard of a database, opened if need be; one that could not be is not tried again.

        (Each try on a locked database would wait for the whole time limit.)
        """
        if database in self._failed:
            raise self._failed[database]
        if database not in self._guards:
            if len(self._guards) >= _OPEN_DATABASES:
                self._guards.popitem(last=False)[1].close()
            try:
                engine = connect(database, self.settings)
            except ModularSqlError as error:
                self._failed[database] = error
                raise
            self._guards[database] = Guard(engine, settings=self.settings)
        self._guards.move_to_end(database)
        return self._guards[database]


_worker: _Worker | None = None


def _start(settings: Settings, scratch: str) -> None:
    global _worker
    threading.Thread(target=_end_with_parent, args=(scratch,), daemon=True).start()
    prepare_worker(settings, scratch)
    _worker = _Worker(settings)


def _end_with_parent(scratch: str) -> None:
    """A parent that was killed can stop nobody, and a query may run for ever."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        shutil.rmtree(scratch, ignore_errors=True)
        os._exit(1)


def _work_through(tasks: list[Task]) -> list[Repaired]:
    """The first of the tasks, as many as take about a second; at least one."""
    end = time.monotonic() + _HAND_BACK
    done: list[Repaired] = []
    for task in tasks:
        done.append(_work(task, patches=True))
        if time.monotonic() > end:
            break
    return done


def _work(task: Task, patches: bool) -> Repaired:
    assert _worker is not None
    try:
        guard = _worker.guard(task.database)
        policy = guard.policy if patches else find_policy("off", _worker.settings)
        door = Guard(guard.engine, policy, _worker.settings)
        answer = door.run(task.sql, question=task.question, fix=True)
    except ModularSqlError as error:
        status = "locked" if error.kind == "locked" else "no_database"
        return Repaired(id=task.id, status=status, problem=error.message)
    except MemoryError:
        problem = f"no memory left (worker_memory_mb is {_worker.settings.worker_memory_mb:,})"
        return Repaired(id=task.id, status="died", problem=problem)
    except Exception as error:  # a mistake of ours: this question is lost, the others are not
        problem = f"the guard failed: {type(error).__name__}: {error}"
        return Repaired(id=task.id, status="died", problem=problem)
    return Repaired(
        id=task.id,
        status=_status(answer),
        rules=answer.applied,
        sql=answer.final_sql if answer.applied else None,
    )


def _status(answer: Answer) -> str:
    if answer.failure is not None and answer.failure.kind in (
        FailureKind.REFUSED,
        FailureKind.LOCKED,
        FailureKind.DIED,
    ):
        return answer.failure.kind.value
    return answer.probe.status if answer.probe else "error"
