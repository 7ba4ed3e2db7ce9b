"""SQLite by the standard library: read-only, allow-listed, bounded in time, rows and bytes.

Bounds that SQLite keeps itself: the authorizer (what may be done), the progress handler (time;
asked every few thousand steps
of its virtual machine) and its run-time limits (length of a cell and of the SQL, columns, depth,
compound selects). A single built-in call is one step: most are done in milliseconds at the
default cell cap, but `instr` compares every place of one text with the other and can take
minutes on a megabyte. In this process the time limit is then overrun by the length of that one
call; `IsolatedEngine` kills it.
"""

import marshal
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from modularsql.catalog import Catalog
from modularsql.config import Settings
from modularsql.engines.base import Clock, existing_file
from modularsql.engines.sqlite_catalog import read_catalog
from modularsql.engines.sqlite_files import Snapshot, snapshot
from modularsql.engines.sqlite_rules import Authorizer
from modularsql.errors import SetupError
from modularsql.ports import Outcome
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Row, Rows

HEADER = b"SQLite format 3\0"

# Steps of SQLite's virtual machine between two looks at the clock: about a tenth of a
# millisecond, and not measurable in the time of a query.
_STEPS = 5_000
_BATCH = 256

_RUNTIME_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 2_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 1_000,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 500,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


class SqliteEngine:
    """An `Engine` for one SQLite file; it may be shared between threads, which take turns."""

    dialect = "sqlite"

    def __init__(self, path: Path, settings: Settings | None = None) -> None:
        """Open an existing file. Raises `InputError` or `SetupError`; creates no file."""
        self._settings = settings or Settings()
        self._name = str(path)
        self._path = Path(os.path.realpath(existing_file(path)))
        self._lock = threading.RLock()
        self._authorizer = Authorizer()
        self._clock = Clock(self._settings.timeout)
        self._schema_version = -1
        self._catalog: Catalog | None = None
        self._compares_bytes: bool | None = None
        self._snapshot = snapshot(self._path)
        self._connection = self._open(self._snapshot)

    @property
    def name(self) -> str:
        """The path as given."""
        return self._name

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """Run one reading statement; see `ports.Engine`."""
        with self._lock:
            self._clock = Clock(limits.seconds)
            try:
                self._follow_the_file()
                before = self._snapshot
                outcome = self._run(sql, params, limits)
                if snapshot(self._path) != before:
                    # Somebody wrote while an unlocked (immutable) view was open: read again.
                    self._follow_the_file()
                    outcome = self._run(sql, params, limits)
            except SetupError as error:
                return Failure(kind=FailureKind.ERROR, message=error.message)
            return outcome

    def catalog(self) -> Catalog:
        """Tables, views, keys and foreign keys; read again only after the schema changed."""
        with self._lock:
            self._follow_the_schema()
            if self._catalog is None:
                self._catalog = read_catalog(self._connection)
            return self._catalog

    def compares_bytes(self) -> bool:
        """True where no table of the database names a collation at all."""
        with self._lock:
            self._follow_the_schema()
            if self._compares_bytes is None:
                query = "SELECT count(*) FROM sqlite_master WHERE sql LIKE '%collate%'"
                self._compares_bytes = self._connection.execute(query).fetchone()[0] == 0
            return self._compares_bytes

    def close(self) -> None:
        """Close the connection and drop the private copy, if there was one."""
        with self._lock:
            self._connection.close()
            self._snapshot.discard()

    def _follow_the_file(self) -> None:
        """Open anew when the file is no longer what the open connection assumes."""
        now = snapshot(self._path)
        if now == self._snapshot:
            return
        self.close()
        self._schema_version = -1
        self._snapshot = now
        self._connection = self._open(now)

    def _follow_the_schema(self) -> None:
        """Forget what was read of the schema when it has changed since."""
        self._clock = Clock(self._settings.timeout)
        self._follow_the_file()
        version = self._connection.execute("PRAGMA schema_version").fetchone()[0]
        if version != self._schema_version:
            self._catalog = self._compares_bytes = None
            self._schema_version = version

    def _open(self, snapshot_: Snapshot) -> sqlite3.Connection:
        uri = "file:" + quote(str(snapshot_.readable().absolute())) + "?mode=ro"
        if snapshot_.immutable:
            uri += "&immutable=1"
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(
                uri, uri=True, isolation_level=None, check_same_thread=False, timeout=0
            )
            self._bound(connection)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            if _is_locked(error):
                return self._wait_and_open(snapshot_)
            raise SetupError(
                f"cannot read {self._path}: {error}", "is it a SQLite database?", "not_a_database"
            ) from error
        return connection

    def _wait_and_open(self, snapshot_: Snapshot) -> sqlite3.Connection:
        if self._clock.passed():
            raise SetupError(
                f"{self._path} is locked by another program", "try again later", "locked"
            )
        threading.Event().wait(min(0.05, self._clock.left()))
        return self._open(snapshot_)

    def _bound(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA mmap_size = 0")
        connection.execute("PRAGMA cell_size_check = 1")
        for limit, value in _RUNTIME_LIMITS.items():
            connection.setlimit(limit, value)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._settings.max_cell_bytes)
        connection.set_authorizer(self._authorizer)
        connection.set_progress_handler(lambda: self._clock.passed(), _STEPS)

    def _run(self, sql: str, params: Params, limits: Limits) -> Outcome:
        outcome = self._attempt(sql, params, limits, str)
        if isinstance(outcome, Failure) and "Could not decode to UTF-8" in outcome.message:
            return self._attempt(sql, params, limits, _decode)
        return outcome

    def _attempt(
        self, sql: str, params: Params, limits: Limits, text: Callable[[bytes], str]
    ) -> Outcome:
        self._authorizer.refused = None
        self._connection.text_factory = text
        cursor = self._connection.cursor()
        try:
            self._wait_for_locks(lambda: cursor.execute(sql, params or ()))
            if cursor.description is None:
                return Failure(kind=FailureKind.REFUSED, message="the statement returns no rows")
            columns = tuple(column[0] for column in cursor.description)
            rows, truncated = _fetch(cursor, limits)
        except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
            return self._failure(error)
        finally:
            cursor.close()
        return Rows(
            columns=columns,
            types=(None,) * len(columns),
            rows=rows,
            truncated=truncated,
            ms=self._clock.ms(),
        )

    def _wait_for_locks(self, run: Callable[[], Any]) -> None:
        """Ask again until the lock is free or the time is over.

        SQLite's own busy handler would do, but cannot be bounded by a clock that is running.
        """
        while True:
            try:
                run()
            except sqlite3.OperationalError as error:
                if not _is_locked(error) or self._clock.passed():
                    raise
                threading.Event().wait(0.01)
            else:
                return

    def _failure(self, error: Exception) -> Failure:
        message = str(error)
        if self._authorizer.refused is not None:
            return Failure(kind=FailureKind.REFUSED, message=self._authorizer.refused)
        if _is_locked(error):
            return Failure(kind=FailureKind.LOCKED, message="the database is locked")
        if message == "interrupted":
            return Failure(kind=FailureKind.TIMEOUT, message="stopped at the time limit")
        for part, kind in _KINDS:
            if part in message:
                return Failure(kind=kind, message=message)
        return Failure(kind=FailureKind.ERROR, message=message)


_KINDS = (
    ("one statement at a time", FailureKind.REFUSED),
    ("readonly database", FailureKind.REFUSED),
    ("not authorized", FailureKind.REFUSED),
    ("query string is too large", FailureKind.REFUSED),
    ("bindings supplied", FailureKind.UNBOUND),
    ("did not supply a value", FailureKind.UNBOUND),
    ("string or blob too big", FailureKind.TOO_LARGE),
    ("out of memory", FailureKind.TOO_LARGE),
)


def _is_locked(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _fetch(cursor: sqlite3.Cursor, limits: Limits) -> tuple[list[Row], bool]:
    """Up to `max_rows` rows and `max_bytes` bytes; True when there were more."""
    rows: list[Row] = []
    size = 0
    while batch := cursor.fetchmany(min(_BATCH, limits.max_rows + 1 - len(rows))):
        # marshal is a sum over all cells at C speed; version 2 shares nothing between cells.
        size += len(marshal.dumps(batch, 2))
        if size > limits.max_bytes:
            return rows + _fitting(batch, limits.max_bytes - size, first=not rows), True
        rows += batch
        if len(rows) > limits.max_rows:
            return rows[: limits.max_rows], True
    return rows, False


def _fitting(batch: list[Row], excess: int, first: bool) -> list[Row]:
    """The rows of a batch that fit when `excess` (negative) bytes must go; one at the least."""
    kept = list(batch)
    while kept and excess < 0 and not (first and len(kept) == 1):
        excess += len(marshal.dumps(kept.pop(), 2))
    return kept


def _decode(text: bytes) -> str:
    """Text that is not UTF-8 keeps its bytes as lone surrogates (PEP 383)."""
    return text.decode("utf-8", "surrogateescape")
