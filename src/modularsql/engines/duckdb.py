"""DuckDB: read-only, nothing outside the file, settings locked, one SELECT at a time, bounded.

DuckDB ends a query at an interrupt between two chunks of work. One function call over a huge
list (`list_sort`) has no such point: there `IsolatedEngine` is what ends it.
"""

import math
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any

import duckdb

from modularsql.catalog import Catalog
from modularsql.config import Settings
from modularsql.engines.base import Clock, Watchdog, existing_file
from modularsql.engines.duckdb_catalog import names_a_collation, read_catalog
from modularsql.errors import SetupError
from modularsql.ports import Outcome
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Row, Rows

_BATCH = 1_024
_LOCK_MESSAGES = ("Could not set lock", "Conflicting lock")
_READS = ("SELECT", "EXPLAIN")
_FLOATS = ("FLOAT", "DOUBLE")


class DuckDBEngine:
    """An `Engine` for one DuckDB file; it may be shared between threads, which take turns."""

    dialect = "duckdb"

    def __init__(self, path: Path, settings: Settings | None = None) -> None:
        """Open an existing file. Raises `InputError` or `SetupError`; creates no file."""
        self._settings = settings or Settings()
        self._path = existing_file(path)
        self._lock = threading.RLock()
        self._spill = tempfile.mkdtemp(prefix="modularsql-")
        try:
            self._connection = self._open(Clock(self._settings.timeout))
        except BaseException:
            shutil.rmtree(self._spill, ignore_errors=True)
            raise
        self._watchdog = Watchdog(self._connection.interrupt)

    @property
    def name(self) -> str:
        """The path as given."""
        return str(self._path)

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """Run one reading statement; see `ports.Engine`."""
        clock = Clock(limits.seconds)
        with self._lock:
            if (refused := self._refused(sql)) is not None:
                return refused
            self._watchdog.arm(clock)
            try:
                return self._run(sql, params, limits, clock)
            except (duckdb.Error, RuntimeError, ValueError, TypeError) as error:
                return _failure(error, clock)
            finally:
                self._watchdog.disarm()

    def catalog(self) -> Catalog:
        """Tables, views, keys and foreign keys as DuckDB's own catalog functions list them."""
        with self._lock:
            return read_catalog(self._connection)

    def compares_bytes(self) -> bool:
        """True where no table of the database names a collation."""
        with self._lock:
            return not names_a_collation(self._connection)

    def close(self) -> None:
        """Close the connection and remove the spill folder."""
        with self._lock:
            self._watchdog.close()
            self._connection.close()
            shutil.rmtree(self._spill, ignore_errors=True)

    def _open(self, clock: Clock) -> duckdb.DuckDBPyConnection:
        while True:
            try:
                return self._connect()
            except duckdb.Error as error:
                message = str(error).splitlines()[0]
                if not any(part in message for part in _LOCK_MESSAGES):
                    raise SetupError(
                        f"cannot read {self._path}: {message}",
                        "is it a DuckDB database, and not open in this process already?",
                        "not_a_database",
                    ) from error
                if clock.passed():
                    raise SetupError(
                        f"{self._path} is locked by another program", "try again later", "locked"
                    ) from error
                threading.Event().wait(min(0.05, clock.left()))

    def _connect(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(
            str(self._path),
            read_only=True,
            config={
                "memory_limit": f"{self._settings.memory_mb}MB",
                "threads": str(self._settings.threads),
                "temp_directory": self._spill,
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
                "allow_persistent_secrets": "false",
                "python_enable_replacements": "false",
            },
        )
        # After opening: with external access off, a file with `?` in its name does not open.
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return connection

    def _refused(self, sql: str) -> Failure | None:
        """What DuckDB's own parser calls anything but one SELECT or EXPLAIN is not run.

        A read-only connection alone would still take temporary tables, PRAGMAs and scripts.
        """
        try:
            statements = self._connection.extract_statements(sql)
        except (duckdb.Error, RuntimeError) as error:
            return Failure(kind=FailureKind.ERROR, message=_short(error))
        if len(statements) != 1:
            some = "no statement" if not statements else f"{len(statements)} statements"
            return Failure(kind=FailureKind.REFUSED, message=f"{some} given, one is run at a time")
        kind = statements[0].type.name
        if kind in _READS:
            return None
        return Failure(
            kind=FailureKind.REFUSED, message=f"{kind} is not allowed: queries may only read"
        )

    def _run(self, sql: str, params: Params, limits: Limits, clock: Clock) -> Outcome:
        cursor = self._connection.execute(sql, params) if params else self._connection.execute(sql)
        described = cursor.description or []
        columns = tuple(column[0] for column in described)
        types = tuple(str(column[1]) for column in described)
        measure = _Measure(types)
        rows: list[Row] = []
        truncated = False
        while batch := cursor.fetchmany(min(_BATCH, limits.max_rows + 1 - len(rows))):
            rows += measure.take(batch)
            if clock.passed():
                return Failure(kind=FailureKind.TIMEOUT, message="stopped at the time limit")
            if len(rows) > limits.max_rows or measure.size > limits.max_bytes:
                del rows[limits.max_rows :]
                truncated = True
                break
        return Rows(columns=columns, types=types, rows=rows, truncated=truncated, ms=clock.ms())


class _Measure:
    """Sums the size of cells and lets NaN be one object, column by column as the types need."""

    def __init__(self, types: tuple[str, ...]) -> None:
        self.size = 0
        self._width = 16 * len(types)
        self._floats = [i for i, name in enumerate(types) if name in _FLOATS]
        self._long = [
            i for i, name in enumerate(types) if name in ("VARCHAR", "BLOB", "BIT", "JSON")
        ]
        self._nested = [i for i, name in enumerate(types) if name.endswith("]") or "(" in name]

    def take(self, batch: list[Row]) -> list[Row]:
        """The batch with NaN made one object; its size is added up."""
        self.size += self._width * len(batch)
        for i in self._long:
            self.size += sum(len(row[i]) for row in batch if row[i] is not None)
        for i in self._nested:
            self.size += sum(len(repr(row[i])) for row in batch)
        if any(row[i] is not None and row[i] != row[i] for i in self._floats for row in batch):
            return [tuple(_one_nan(value) for value in row) for row in batch]
        return batch


def _one_nan(value: Any) -> Any:
    return math.nan if isinstance(value, float) and value != value else value


def _failure(error: Exception, clock: Clock) -> Failure:
    message = _short(error)
    if isinstance(error, duckdb.InterruptException) or clock.passed():
        return Failure(kind=FailureKind.TIMEOUT, message="stopped at the time limit")
    if isinstance(error, duckdb.PermissionException):
        return Failure(kind=FailureKind.REFUSED, message=message)
    if isinstance(error, duckdb.OutOfMemoryException):
        return Failure(kind=FailureKind.TOO_LARGE, message=message)
    if "Values were not provided" in message:
        return Failure(kind=FailureKind.UNBOUND, message=message)
    return Failure(kind=FailureKind.ERROR, message=message)


def _short(error: BaseException) -> str:
    """DuckDB's message without the excerpt of the query that follows it."""
    return str(error).split("\n\nLINE ")[0].split("\n", 1)[0].strip() or type(error).__name__
