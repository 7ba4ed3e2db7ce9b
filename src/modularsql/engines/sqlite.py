"""SQLite by the standard library: read-only, allow-listed, bounded in time, rows and bytes.

Bounds that SQLite keeps itself: the authorizer (what may be done), interrupt and progress
handler (time) and its run-time limits (length of a cell and of the SQL, columns, depth, compound
selects). A single built-in call looks at no clock: most are done in milliseconds at the default
cell cap, but `instr` and `replace` compare every place of one text with the other and can take
minutes on a megabyte. In this process the time limit is then overrun by the length of that one
call, and one row may take as much memory as its cells' caps together; `IsolatedEngine` bounds
both. What a sort cannot keep in memory goes to files in the system's folder for temporary files,
which have no name from their first moment on.
"""

import os
import sqlite3
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from modularsql.catalog import Catalog
from modularsql.config import Settings
from modularsql.engines.base import (
    Clock,
    OneAtATime,
    TooLargeError,
    first_rows,
    no_parameter,
    too_long,
)
from modularsql.engines.files import data_version, existing_file
from modularsql.engines.sqlite_catalog import names_a_collation, read_catalog
from modularsql.engines.sqlite_errors import failure
from modularsql.engines.sqlite_reader import SqliteReader
from modularsql.errors import SetupError
from modularsql.ports import Outcome
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Rows

T = TypeVar("T")

_QUERY_ERRORS = (sqlite3.Error, sqlite3.Warning, MemoryError, OverflowError, ValueError)


class SqliteEngine(OneAtATime):
    """An `Engine` for one SQLite file; it may be shared between threads, which take turns.

    Any method raises `SetupError` when the file can no longer be read.
    """

    dialect = "sqlite"

    def __init__(self, path: Path, settings: Settings | None = None) -> None:
        """Open an existing file. Raises `InputError` or `SetupError`; creates no file."""
        super().__init__(str(path), settings)
        self._path = Path(os.path.realpath(existing_file(path)))
        self._schema: tuple[int, int] | None = None
        self._catalog: Catalog | None = None
        self._compares_bytes: bool | None = None
        self._reader = SqliteReader(self._path, self._settings.max_cell_bytes, self._settings.today)
        self._reader.open(Clock(self._settings.timeout))

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """Run one reading statement; see `ports.Engine`."""
        return self._read([sql], limits, lambda open_: self._run(open_, sql, params, limits))

    def fold(self, function: Callable[..., T], *sqls: str, limits: Limits) -> T | Failure:
        """See `ports.Streaming`; the rows are read in a process of their own."""
        from modularsql.engines.apart import fold_apart  # what imports it, and runs it, is rare

        with self._turn():
            return fold_apart(function, self._path, sqls, self._settings, limits.seconds)

    def fold_here(self, function: Callable[..., T], *sqls: str, limits: Limits) -> T | Failure:
        """The same in this process."""
        return self._read(sqls, limits, lambda open_: self._taken(open_, sqls, None, function))

    def _read(
        self,
        sqls: Sequence[str],
        limits: Limits,
        what: Callable[[sqlite3.Connection], T | Failure],
    ) -> T | Failure:
        with self._turn():
            if (refused := next(filter(None, map(too_long, sqls)), None)) is not None:
                return refused
            try:
                return self._reader.read(what, Clock(limits.seconds))
            except SetupError as error:
                if error.kind != "locked":
                    raise
                return Failure(kind=FailureKind.LOCKED, message=error.message)

    def catalog(self) -> Catalog:
        """Tables, views, keys and foreign keys; read again only after the schema changed."""
        with self._turn():
            return self._reader.read(self._read_catalog, Clock(self._settings.timeout))

    def compares_bytes(self) -> bool:
        """True where no table, view or index of the database names a collation at all."""
        with self._turn():
            return self._reader.read(self._read_collations, Clock(self._settings.timeout))

    def version(self) -> Hashable:
        """See `ports.Versioned`."""
        return data_version(self._path)

    def _give_back(self) -> None:
        self._reader.close()

    def _follow_the_schema(self, connection: sqlite3.Connection) -> None:
        """Forget what was read of the schema when it has changed since."""
        connection.text_factory = _decode
        cursor = connection.cursor()
        self._reader.when_free(lambda: cursor.execute("PRAGMA schema_version"))
        schema = (self._reader.opened, cursor.fetchone()[0])
        if schema != self._schema:
            self._catalog = self._compares_bytes = None
            self._schema = schema

    def _read_catalog(self, connection: sqlite3.Connection) -> Catalog:
        self._follow_the_schema(connection)
        if self._catalog is None:
            self._catalog = read_catalog(connection)
        return self._catalog

    def _read_collations(self, connection: sqlite3.Connection) -> bool:
        self._follow_the_schema(connection)
        if self._compares_bytes is None:
            self._compares_bytes = not names_a_collation(connection)
        return self._compares_bytes

    def _run(
        self, connection: sqlite3.Connection, sql: str, params: Params, limits: Limits
    ) -> Outcome:
        cell = self._settings.max_cell_bytes
        found = self._taken(
            connection,
            [sql],
            params,
            lambda cursor: (_columns(cursor), first_rows(cursor, limits, cell)),
        )
        if isinstance(found, Failure):
            return found
        columns, (rows, truncated) = found
        return Rows(
            columns=columns,
            types=(None,) * len(columns),
            rows=rows,
            truncated=truncated,
            ms=self._reader.clock.ms(),
            # Nobody compares a single row.
            plain=len(rows) <= 1 or self._read_collations(connection),
        )

    def _taken(
        self,
        connection: sqlite3.Connection,
        sqls: Sequence[str],
        params: Params,
        take: Callable[..., T],
    ) -> T | Failure:
        """What `take` makes of the rows; once more where some text is not UTF-8."""
        connection.text_factory = str
        found = self._attempt(connection, sqls, params, take)
        if isinstance(found, Failure) and "Could not decode to UTF-8" in found.message:
            connection.text_factory = _decode
            found = self._attempt(connection, sqls, params, take)
        return found

    def _attempt(
        self,
        connection: sqlite3.Connection,
        sqls: Sequence[str],
        params: Params,
        take: Callable[..., T],
    ) -> T | Failure:
        values = _Asked(params) if isinstance(params, Mapping) else tuple(params or ())
        cursors = [connection.cursor() for _ in sqls]
        try:
            for cursor, sql in zip(cursors, sqls, strict=True):
                self._reader.when_free(partial(cursor.execute, sql, values))
                if cursor.description is None:
                    message = "the statement returns no rows"
                    return Failure(kind=FailureKind.REFUSED, message=message)
            if isinstance(values, _Asked) and (surplus := values.keys() - values.asked):
                return no_parameter(sorted(surplus))
            return take(*cursors)
        except TooLargeError as error:
            return Failure(kind=FailureKind.TOO_LARGE, message=str(error))
        except _QUERY_ERRORS as error:
            self._reader.check_signal(error)
            return failure(self._path, error, self._reader.authorizer.refused)
        finally:
            for cursor in cursors:
                cursor.close()


class _Asked(dict[str, Any]):
    """Values by name that know which of them SQLite asked for: it does not mind the others."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)


def _columns(cursor: sqlite3.Cursor) -> tuple[str, ...]:
    return tuple(column[0] for column in cursor.description)


def _decode(text: bytes) -> str:
    """Text that is not UTF-8 keeps its bytes as lone surrogates (PEP 383)."""
    return text.decode("utf-8", "surrogateescape")
