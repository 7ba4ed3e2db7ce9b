"""An engine in a process of its own, which is killed when a query does not stop by itself.

Some built-in functions look at no clock (SQLite's `instr` on a megabyte, DuckDB's `list_sort`).
The worker keeps its own limit; a fixed grace after it the process is killed, and the next query
gets a new one. Costs a fifth of a millisecond a query, plus sending the rows over.

The worker is started anew (not forked), so a script that uses this needs the usual
`if __name__ == "__main__":` guard of Python's multiprocessing.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path
from typing import Any

from pebble import ProcessExpired, ProcessPool

from modularsql.catalog import Catalog
from modularsql.config import Settings
from modularsql.engines.connect import connect, kind_of, locate
from modularsql.errors import SetupError
from modularsql.ports import Engine, Outcome
from modularsql.records import Failure, FailureKind, Limits, Params

GRACE = 0.5
"""Seconds after the limit at which a query that did not stop is killed."""

_START = 30.0


class IsolatedEngine:
    """An `Engine` whose queries can always be ended; it may be shared between threads."""

    def __init__(self, target: str | Path, settings: Settings | None = None) -> None:
        """Open `target` in a worker process. Raises what `connect` raises."""
        self._target = str(target)
        self._settings = settings or Settings()
        self.dialect = kind_of(locate(target)[0])
        self._scratch = tempfile.TemporaryDirectory(
            prefix="modularsql-", ignore_cleanup_errors=True
        )
        self._pool = ProcessPool(max_workers=1, context=multiprocessing.get_context("spawn"))
        try:
            self._ask("ready", within=self._settings.timeout + _START)
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """The target as given."""
        return self._target

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """Run one reading statement; see `ports.Engine`."""
        try:
            outcome: Outcome = self._ask(
                "execute", sql, params, limits, within=limits.seconds + GRACE
            )
        except FutureTimeout:
            return Failure(
                kind=FailureKind.TIMEOUT, message="killed: it did not stop at the time limit"
            )
        except ProcessExpired as error:
            return Failure(
                kind=FailureKind.DIED,
                message=f"the process that ran the query ended (exit {error.exitcode})",
            )
        except SetupError as error:
            kind = FailureKind.LOCKED if error.kind == "locked" else FailureKind.ERROR
            return Failure(kind=kind, message=error.message)
        return outcome

    def catalog(self) -> Catalog:
        """See `ports.Engine`."""
        catalog: Catalog = self._ask("catalog", within=self._settings.timeout + _START)
        return catalog

    def compares_bytes(self) -> bool:
        """See `ports.Engine`."""
        return bool(self._ask("compares_bytes", within=self._settings.timeout + _START))

    def close(self) -> None:
        """End the worker process."""
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()
        self._scratch.cleanup()

    def _ask(self, what: str, *args: Any, within: float) -> Any:
        job = self._pool.schedule(
            _answer,
            args=(self._target, self._settings, self._scratch.name, what, *args),
            timeout=within,
        )
        return job.result()


def prepare_worker(settings: Settings, scratch: str) -> None:
    """In a worker process, once: how it may be ended, how much it may use, where it may write.

    Pebble ends a worker by SIGTERM with a handler in Python, which waits for the very call that
    must be ended; the system's own handling does not. `scratch` is removed by the parent, since
    a killed worker cannot.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    tempfile.tempdir = scratch
    _limit_memory(settings.worker_memory_mb)


_engine: Engine | None = None


def _answer(target: str, settings: Settings, scratch: str, what: str, *args: Any) -> Any:
    """In the worker: open the engine at the first call, then do what is asked."""
    global _engine
    if _engine is None:
        prepare_worker(settings, scratch)
        _engine = connect(target, settings)
    if what == "ready":
        return None
    if what == "execute":
        sql, params, limits = args
        return _engine.execute(sql, params, limits=limits)
    return getattr(_engine, what)()


def _limit_memory(megabytes: int) -> None:
    """Let the system refuse memory to this process beyond the cap, where it can."""
    if megabytes and sys.platform.startswith("linux") and os.name == "posix":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20,) * 2)
