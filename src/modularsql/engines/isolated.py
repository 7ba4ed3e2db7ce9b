"""An engine in a process of its own, which is killed when a query does not stop by itself.

Some built-in functions look at no clock (SQLite's `instr` on a megabyte, DuckDB's `list_sort`).
The worker keeps its own limit; a fixed grace after it the process is killed, and the next query
gets a new one. Costs a sixth of a millisecond a query, plus sending the rows over.

The worker is started anew (not forked), so a script that uses this needs the usual
`if __name__ == "__main__":` guard of Python's multiprocessing.
"""

import os
import pickle
import threading
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any

from modularsql.catalog import Catalog
from modularsql.config import Settings
from modularsql.engines.base import closed
from modularsql.engines.connect import locate
from modularsql.engines.files import data_version, existing_file
from modularsql.engines.scratch import Scratch
from modularsql.engines.worker import DiedError, Worker, prepare_worker
from modularsql.errors import ModularSqlError, SetupError
from modularsql.ports import Outcome
from modularsql.records import Failure, FailureKind, Limits, Params

__all__ = ["GRACE", "IsolatedEngine", "prepare_worker"]

GRACE = 0.5
"""Seconds after the limit at which a query that did not stop is killed."""

_START = 30.0
"""Seconds a process may take to start, on a machine that has other things to do."""


class IsolatedEngine:
    """An `Engine` whose queries can always be ended; it may be shared between threads.

    Any method raises `SetupError` when the file can no longer be read.
    """

    def __init__(self, target: str | Path, settings: Settings | None = None) -> None:
        """Open `target` in a worker process. Raises what `connect` raises."""
        place = locate(target)
        self._settings = settings or Settings()
        if place.path is None:
            self._target = place.shown
        else:
            self._target = str(target)
            path = Path(os.path.abspath(existing_file(place.path)))  # noqa: PTH100 - keeps links
            place = replace(place, path=path)
        self._place = place
        self.lost = 0
        self._lock = threading.RLock()
        self._closed = False
        self._worker: Worker | None = None
        self._scratch = Scratch()
        try:
            self.dialect: str = self._ask("open", within=self._settings.timeout)
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """The target as given, without secrets."""
        return self._target

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """Run one reading statement; see `ports.Engine`."""
        try:
            outcome: Outcome = self._ask("execute", sql, params, limits, within=limits.seconds)
        except TimeoutError:
            message = "killed: it did not stop at the time limit"
            return Failure(kind=FailureKind.TIMEOUT, message=message)
        except DiedError as error:
            return Failure(kind=FailureKind.DIED, message=str(error))
        except pickle.PicklingError as error:
            message = f"a parameter cannot be sent to the worker process: {error}"
            return Failure(kind=FailureKind.ERROR, message=message)
        except SetupError as error:
            if error.kind != "locked":
                raise
            return Failure(kind=FailureKind.LOCKED, message=error.message)
        if isinstance(outcome, Failure) and outcome.kind == FailureKind.DIED:
            self.lost += self._place.path is None  # not where the query ended its own worker
        if isinstance(outcome, Failure) and outcome.kind == FailureKind.TOO_LARGE:
            self._end_worker()  # DuckDB does not give such memory back to the system
        return outcome

    def catalog(self) -> Catalog:
        """See `ports.Engine`."""
        catalog: Catalog = self._about_schema("catalog")
        return catalog

    def catalog_with(self, schemas: frozenset[str]) -> Catalog:
        """See `ports.Spanning`."""
        catalog: Catalog = self._about_schema("catalog_with", schemas)
        return catalog

    def compares_bytes(self) -> bool:
        """See `ports.Engine`."""
        return bool(self._about_schema("compares_bytes"))

    def version(self) -> Hashable:
        """See `ports.Versioned`."""
        if self._place.path is not None:
            return data_version(self._place.path)
        seen: Hashable = self._about_schema("version")
        return seen

    def warnings(self) -> tuple[str, ...]:
        """See `ports.Cautious`."""
        said: tuple[str, ...] = self._about_schema("warnings")
        return said

    def close(self) -> None:
        """End the worker process, also when another thread waits for its answer."""
        self._closed = True
        if (worker := self._worker) is not None:
            worker.kill()
        self._end_worker()
        self._scratch.close()

    def _about_schema(self, what: str, *args: Any) -> Any:
        try:
            return self._ask(what, *args, within=self._settings.timeout)
        except TimeoutError as error:
            raise SetupError(f"reading the schema of {self._target} took too long") from error
        except DiedError as error:
            raise SetupError(f"{self._target} cannot be read: {error}", kind="died") from error

    def _ask(self, what: str, *args: Any, within: float) -> Any:
        with self._lock:
            if self._closed:
                raise closed(self._target)
            worker = self._open_worker(within)
            return worker.ask(what, *args, within=within + GRACE)

    def _open_worker(self, seconds: float) -> Worker:
        """The worker, or a new one that has the database open; waits for locks that long."""
        if self._worker is not None and not self._worker.ended:
            return self._worker
        self._end_worker()
        try:
            worker = Worker(self._place, self._settings, self._scratch.name)
        except OSError as error:
            raise SetupError(f"no worker process could be started: {error}") from error
        self._worker = worker
        try:
            worker.ask("open", seconds, within=seconds + _START)
        except ModularSqlError:
            self._end_worker()
            raise
        except Exception as error:
            self._end_worker()
            raise SetupError(
                f"the worker process of {self._target} did not start: {error or repr(error)}",
                'a script needs `if __name__ == "__main__":`; is worker_memory_mb enough?',
                "died",
            ) from error
        return worker

    def _end_worker(self) -> None:
        with self._lock:
            if self._worker is not None:
                self._worker.close()
                self._worker = None
