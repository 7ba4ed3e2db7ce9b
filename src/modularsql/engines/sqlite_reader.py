"""One read-only connection to a SQLite file, which follows what others do to that file."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from modularsql.engines.base import LONGEST_SQL, Clock
from modularsql.engines.sqlite_clock import stop_clock
from modularsql.engines.sqlite_errors import is_interrupted, is_locked, unreadable
from modularsql.engines.sqlite_files import Snapshot, snapshot
from modularsql.engines.sqlite_rules import Authorizer
from modularsql.engines.watchdog import WATCHDOG
from modularsql.errors import SetupError

_T = TypeVar("_T")

# Steps of SQLite's virtual machine between two looks at the clock: about a tenth of a
# millisecond, and not measurable in the time of a query. Steps can be slow (a cell of 16 MB),
# so the watchdog interrupts as well; but only here does Python see a Ctrl-C.
_STEPS = 5_000

_RUNTIME_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: LONGEST_SQL,
    sqlite3.SQLITE_LIMIT_COLUMN: 2_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 1_000,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 500,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


class SqliteReader:
    """Opens the file so that nothing is left beside it, and opens it anew when that must change.

    `opened` counts the openings: what was read of the schema belongs to one of them.
    """

    def __init__(self, path: Path, max_cell_bytes: int, today: str = "") -> None:
        self._path = path
        self._max_cell_bytes = max_cell_bytes
        self._today = today
        self._clock: sqlite3.Connection | None = None
        self._connection: sqlite3.Connection | None = None
        self._snapshot: Snapshot | None = None
        self.authorizer = Authorizer()
        self.clock = Clock(0)
        self.opened = 0

    def open(self, clock: Clock) -> None:
        """Open the file, waiting for locks that long. `SetupError` when it cannot be read."""
        self.clock = clock
        self._follow_the_file()

    def read(self, what: Callable[[sqlite3.Connection], _T], clock: Clock) -> _T:
        """What `what` returns; asked again if the file was changed under a view without locks.

        Raises `SetupError` when the file cannot be read.
        """
        self.clock = clock
        while True:
            connection, now = self._follow_the_file()
            try:
                result = self._watched(what, connection)
            except SetupError:
                if snapshot(self._path) == now:
                    raise
            else:
                # In mode `plain` SQLite's own locks keep writers out while it reads.
                if now.mode == "plain" or snapshot(self._path) == now:
                    return result
            if not clock.pause(0.001):
                raise SetupError(f"{self._path} changed as it was read", "try again", "locked")

    def when_free(self, run: Callable[[], Any]) -> None:
        """Ask again until the lock is free or the time is over.

        SQLite's own busy handler would do, but cannot be bounded by a clock that is running.
        """
        while True:
            try:
                run()
            except sqlite3.OperationalError as error:
                if not is_locked(error) or not self.clock.pause(0.01):
                    raise
            else:
                return

    def _watched(self, what: Callable[[sqlite3.Connection], _T], connection: Any) -> _T:
        self.authorizer.refused = None
        clock = self.clock
        WATCHDOG.arm(clock, connection.interrupt)
        try:
            return what(connection)
        except (sqlite3.Error, UnicodeError) as error:  # names that are not UTF-8
            self.check_signal(error)
            raise unreadable(self._path, error) from error
        finally:
            WATCHDOG.disarm(clock)

    def check_signal(self, error: Exception) -> None:
        """SQLite takes an exception of a signal handler (Ctrl-C) for a wish to stop, and drops it.

        Nobody but our clock interrupts: where its time is not over, it was a signal.
        """
        if is_interrupted(error) and not self.clock.passed():
            raise KeyboardInterrupt from error

    def _follow_the_file(self) -> tuple[sqlite3.Connection, Snapshot]:
        """The connection, opened anew when the file is not what the open one assumes."""
        while True:
            now = snapshot(self._path)
            if self._connection is not None and now == self._snapshot:
                return self._connection, now
            self.close()
            try:
                self._connection = self._open(now)
            except sqlite3.Error as error:
                now.discard()
                if not is_locked(error) or not self.clock.pause(0.02):
                    self.check_signal(error)
                    raise unreadable(self._path, error) from error
            else:
                self._snapshot = now
                self.opened += 1
                return self._connection, now

    def _open(self, now: Snapshot) -> sqlite3.Connection:
        connection = sqlite3.connect(
            now.uri(), uri=True, isolation_level=None, check_same_thread=False, timeout=0
        )
        try:
            connection.execute("PRAGMA query_only = 1")
            connection.execute("PRAGMA mmap_size = 0")
            connection.execute("PRAGMA cell_size_check = 1")
            for limit, value in _RUNTIME_LIMITS.items():
                connection.setlimit(limit, value)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._max_cell_bytes)
            if self._today:
                self._clock = stop_clock(connection, self._today)
            connection.set_authorizer(self.authorizer)
            connection.set_progress_handler(lambda: self.clock.passed(), _STEPS)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Close the connection and drop the private copy, if there was one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._clock is not None:
            self._clock.close()
            self._clock = None
        if self._snapshot is not None:
            self._snapshot.discard()
            self._snapshot = None
