"""DuckDB: read-only, nothing outside the file, settings locked, one SELECT at a time, bounded.

DuckDB ends a query at an interrupt between two chunks of work. One function call over a huge
list (`list_sort`), its parser and its planner have no such point, Ctrl-C waits for the end of a
query, and what functions build inside one chunk is not counted against the memory limit. There
`IsolatedEngine` is what ends a query.
"""

import math
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from modularsql.catalog import Catalog
from modularsql.config import Settings
from modularsql.engines.base import (
    Clock,
    OneAtATime,
    TooLargeError,
    first_rows,
    miscounted,
    no_parameter,
    no_value,
    too_long,
)
from modularsql.engines.duckdb_catalog import names_a_collation, read_catalog
from modularsql.engines.duckdb_instance import open_instance
from modularsql.engines.files import data_version
from modularsql.engines.watchdog import WATCHDOG
from modularsql.errors import SetupError
from modularsql.ports import Outcome
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Row, Rows

_T = TypeVar("_T")
_COUNTS = re.compile(r"count mismatch .*Expected (\d+), got (\d+)")
_BATCH = 256
_WITH_FLOATS = ("DOUBLE", "FLOAT", "VARIANT")
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(?:ANALYZE\s|\(FORMAT JSON\)\s)?", re.IGNORECASE)
_REFUSALS = ("configuration has been locked", "read-only mode", "read-only transaction")
_QUERY_ERRORS = (
    duckdb.Error,
    ArithmeticError,  # values that Python's types cannot hold
    ImportError,  # of what the driver needs for such a type
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)


class DuckDBEngine(OneAtATime):
    """An `Engine` for one DuckDB file; it may be shared between threads, which take turns.

    While it is open no other process can write to the file: DuckDB locks whole files.
    """

    dialect = "duckdb"

    def __init__(self, path: Path, settings: Settings | None = None) -> None:
        """Open an existing file. Raises `InputError` or `SetupError`; creates no file."""
        super().__init__(str(path), settings)
        self._path = path
        self._catalog: Catalog | None = None
        self._compares_bytes: bool | None = None
        self._instance = open_instance(path, self._settings)

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """Run one reading statement; see `ports.Engine`."""
        return self._read(sql, params, limits, lambda rows, clock: self._run(rows, clock, limits))

    def fold(self, function: Callable[..., _T], *sqls: str, limits: Limits) -> _T | Failure:
        """See `ports.Streaming`."""
        if not sqls:
            return function()

        def take(cursor: duckdb.DuckDBPyConnection, _clock: Clock) -> _T | Failure:
            rows = _fetched(cursor, _types(cursor))
            return self.fold(partial(function, rows), *sqls[1:], limits=limits)

        return self._read(sqls[0], None, limits, take)

    def _read(
        self,
        sql: str,
        params: Params,
        limits: Limits,
        take: Callable[[duckdb.DuckDBPyConnection, Clock], _T | Failure],
    ) -> _T | Failure:
        """What `take` makes of the result of one reading statement."""
        with self._turn():
            clock = Clock(limits.seconds)
            if (refused := too_long(sql)) is not None:
                return refused
            try:
                with self._cursor(clock) as cursor:
                    statement = _one_read(cursor, sql)
                    if isinstance(statement, Failure):
                        return statement
                    return take(cursor.execute(statement, _values(params)), clock)
            except TooLargeError as error:
                return Failure(kind=FailureKind.TOO_LARGE, message=str(error))
            except _QUERY_ERRORS as error:
                return _failure(error, clock, params)

    def catalog(self) -> Catalog:
        """Tables, views, keys and foreign keys as DuckDB's own catalog functions list them."""
        with self._turn():
            if self._catalog is None:  # nobody can change it while this engine is open
                self._catalog = self._about_schema(read_catalog)
            return self._catalog

    def compares_bytes(self) -> bool:
        """True where no table, view or macro of the database names a collation."""
        with self._turn():
            if self._compares_bytes is None:
                self._compares_bytes = not self._about_schema(names_a_collation)
            return self._compares_bytes

    def version(self) -> Hashable:
        """See `ports.Versioned`."""
        return data_version(self._path)

    def _give_back(self) -> None:
        self._instance.release()  # the last engine on a file closes it

    def _about_schema(self, read: Callable[[duckdb.DuckDBPyConnection], _T]) -> _T:
        try:
            with self._cursor(Clock(self._settings.timeout)) as cursor:
                return read(cursor)
        except (duckdb.Error, MemoryError, RuntimeError) as error:
            raise SetupError(f"cannot read the schema of {self._path}: {_short(error)}") from error

    @contextmanager
    def _cursor(self, clock: Clock) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection of its own for each query: nothing temporary outlives it."""
        cursor = self._instance.connection.cursor()
        WATCHDOG.arm(clock, cursor.interrupt)
        try:
            yield cursor
        finally:
            WATCHDOG.disarm(clock)
            cursor.close()

    def _run(self, cursor: duckdb.DuckDBPyConnection, clock: Clock, limits: Limits) -> Rows:
        types = _types(cursor)
        rows, truncated = first_rows(_fetched(cursor, types), limits, self._settings.max_cell_bytes)
        return Rows(
            columns=tuple(column[0] for column in cursor.description or ()),
            types=types,
            rows=rows,
            truncated=truncated,
            ms=clock.ms(),
        )


def _types(cursor: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    return tuple(str(column[1]) for column in cursor.description or ())


def _one_read(cursor: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement | Failure:
    """The statement, if DuckDB's own parser calls it one SELECT or the EXPLAIN of one.

    A read-only connection alone would still take temporary tables, PRAGMAs and scripts.
    """
    statements = cursor.extract_statements(sql)
    if len(statements) != 1:
        some = "no statement" if not statements else f"{len(statements)} statements"
        return _refusal(f"{some} given, one is run at a time")
    kind = statements[0].type
    if kind == duckdb.StatementType.SELECT or _explains_a_read(cursor, sql, kind):
        return statements[0]
    if kind == duckdb.StatementType.MULTI:
        return _refusal("PIVOT without an IN list is not allowed: it makes a temporary type")
    return _refusal(f"{kind.name} is not allowed: queries may only read")


def _explains_a_read(
    cursor: duckdb.DuckDBPyConnection, sql: str, kind: duckdb.StatementType
) -> bool:
    """EXPLAIN ANALYZE runs what it explains, so the rest of the text must be one SELECT."""
    found = _EXPLAIN.match(sql)
    if kind != duckdb.StatementType.EXPLAIN or found is None:
        return False
    try:
        inner = cursor.extract_statements(sql[found.end() :])
    except duckdb.Error:  # options or a comment before it: rather no plan than a write
        return False
    return [statement.type for statement in inner] == [duckdb.StatementType.SELECT]


def _values(params: Params) -> dict[str, Any] | list[Any] | None:
    if isinstance(params, Mapping):
        return dict(params) or None
    return list(params) if params else None


def _fetched(cursor: duckdb.DuckDBPyConnection, types: tuple[str, ...]) -> Iterator[Row]:
    """The rows, with NaN always the same object: it then equals itself, as in DuckDB.

    The first batches are small: where cells are too large, few are made into Python's.
    """
    floats = any(part in name for name in types for part in _WITH_FLOATS)
    sizes = chain((1, 2, 4, 16, 64), repeat(_BATCH))
    while batch := cursor.fetchmany(next(sizes)):
        yield from (tuple(map(_one_nan, row)) for row in batch) if floats else batch


def _one_nan(value: Any) -> Any:
    if isinstance(value, float):
        return math.nan if value != value else value
    if isinstance(value, list):
        return [_one_nan(item) for item in value]
    if isinstance(value, tuple):
        return tuple(map(_one_nan, value))
    if isinstance(value, dict):
        return {_one_nan(key): _one_nan(item) for key, item in value.items()}
    return value


def _failure(error: Exception, clock: Clock, params: Params) -> Failure:
    message = _short(error)
    if isinstance(error, duckdb.InterruptException) or clock.passed():
        return Failure(kind=FailureKind.TIMEOUT, message="stopped at the time limit")
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError):
        return Failure(kind=FailureKind.TOO_LARGE, message=f"no memory left: {message}")
    if isinstance(error, duckdb.PermissionException) or any(r in message for r in _REFUSALS):
        return _refusal(message)
    if "Values were not provided" in message:
        return no_value([message.rpartition(": ")[2]])
    if (counts := _COUNTS.search(message)) is not None:
        if isinstance(params, Mapping):
            return no_parameter(params)
        return miscounted(*map(int, counts.groups()))
    if "excess parameters" in message:
        return no_parameter([message.rpartition(": ")[2]])
    return Failure(kind=FailureKind.ERROR, message=message)


def _refusal(message: str) -> Failure:
    return Failure(kind=FailureKind.REFUSED, message=message)


def _short(error: BaseException) -> str:
    """DuckDB's message without the excerpt of the query that follows it."""
    return str(error).split("\n\nLINE ")[0].split("\n", 1)[0].strip() or type(error).__name__
