"""Two connections to a MySQL or MariaDB server: one that reads, one that can end what it runs.

Each query has a READ ONLY transaction of its own, rolled back at the end, and the server's own
limit on its time. `KILL QUERY` comes from the second connection: the first one is busy then.
"""

import contextlib
import math
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pymysql
from pymysql.cursors import SSCursor

from modularsql.config import Settings
from modularsql.engines.address import Address
from modularsql.engines.base import Clock
from modularsql.engines.mysql_errors import unreachable
from modularsql.engines.watchdog import ended_at
from modularsql.errors import InputError

_LATE = 0.15
"""Seconds after our own limit at which the server ends a query itself."""

_WAITS = """
    SELECT COUNT(*) FROM information_schema.processlist
    WHERE id = {} AND LOWER(state) LIKE '%lock%'
    """
_ERRORS = (pymysql.Error, OSError)
_OPTIONS = (
    "charset ssl_ca ssl_cert ssl_key ssl_verify_cert ssl_verify_identity ssl_disabled unix_socket "
    "bind_address"
).split()
# What changes how a text is read is left out of the server's own mode: we must read it the same.
_MODE = """
    SET SESSION sql_mode = REPLACE(REPLACE(REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', ''),
      'ANSI_QUOTES', ''), 'ANSI', '')
    """
# MariaDB cuts a recursion off at 1,000 rounds without a word; the time limit bounds it as well.
_ROUNDS = {True: "max_recursive_iterations", False: "cte_max_recursion_depth"}

Connection = Any  # pymysql carries no types


class MySQLSession:
    """The way to one database; its `connection` is open inside `transaction`."""

    def __init__(self, address: Address, settings: Settings) -> None:
        if not address.database:
            raise InputError(f"{address.shown} names no database", "write …/DATABASE", "url")
        self.address = address
        self._settings = settings
        self._reading: Connection = None
        self._ending: Connection = None
        self._turn = threading.Lock()
        self.is_mariadb = False
        self.waited = False  # the last query that was ended was waiting for a lock

    def connect(self, clock: Clock) -> Connection:
        """The open connection, or a new one. Raises `SetupError`."""
        if self._reading is not None and self._reading.open:
            return self._reading
        connection = self._open(clock)
        try:
            self._set_up(connection)
        except _ERRORS as error:
            connection.close()
            raise unreachable(self.address, error) from None
        self._reading = connection
        with self._turn:
            self._ready_to_end()
        return connection

    @contextlib.contextmanager
    def transaction(self, clock: Clock) -> Iterator[Connection]:
        """A read-only transaction that is ended at the clock's end, and then rolled back."""
        self.waited = False
        connection = self._begun(clock)
        with self._watched(connection, clock):
            try:
                yield connection
            finally:
                self._roll_back(connection)

    def end_query(self) -> None:
        """Have the server end what it runs for us."""
        number = self._reading.thread_id()
        with self._turn:
            self._ready_to_end()
            try:
                with self._ending.cursor() as cursor:
                    cursor.execute(_WAITS.format(number))
                    self.waited = bool(cursor.fetchone()[0])
                    cursor.execute(f"KILL QUERY {number}")
            except _ERRORS:
                self._ending.close()
                raise

    def _ready_to_end(self) -> None:
        if self._ending is None or not self._ending.open:
            self._ending = self._open(Clock(2.0))

    def close(self) -> None:
        """Give the connections back."""
        self._drop()
        with self._turn, contextlib.suppress(*_ERRORS):
            if self._ending is not None and self._ending.open:
                self._ending.close()

    def _open(self, clock: Clock) -> Connection:
        address = self.address
        unknown = sorted(set(address.options) - set(_OPTIONS))
        if unknown:
            raise InputError(
                f"the URL of {address.shown} is not right: no option {', '.join(unknown)}",
                f"known: {', '.join(_OPTIONS)}",
                "url",
            )
        truth = {"true": True, "1": True, "false": False, "0": False}
        options = {name: truth.get(value, value) for name, value in address.options.items()}
        try:
            return pymysql.connect(
                host=address.host,
                port=address.port or 3306,
                user=address.user,
                password=address.password or "",
                database=address.database,
                **{"charset": "utf8mb4", **options},
                connect_timeout=max(2, min(int(clock.left()), 60)),
                autocommit=True,
                max_allowed_packet=2**30,
                program_name="modularsql",
            )
        except (*_ERRORS, RuntimeError, ValueError) as error:
            raise unreachable(address, error) from None

    def _set_up(self, connection: Connection) -> None:
        self.is_mariadb = "mariadb" in connection.get_server_info().lower()
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION READ ONLY")
            cursor.execute(_MODE)
            cursor.execute(f"SET SESSION {_ROUNDS[self.is_mariadb]} = 4294967295")

    def _begun(self, clock: Clock) -> Connection:
        """A connection in a new transaction; once more where the server had gone meanwhile."""
        for attempt in (1, 2):
            connection = self.connect(clock)
            seconds = clock.left() + _LATE
            limit = (
                f"max_statement_time = {seconds:.3f}"
                if self.is_mariadb
                else f"max_execution_time = {int(seconds * 1000)}"
            )
            wait = math.ceil(seconds) + 1  # whoever waits for a lock is ended as well
            try:
                with self._watched(connection, clock), connection.cursor() as cursor:
                    cursor.execute(
                        f"SET SESSION {limit}, lock_wait_timeout = {wait}, "
                        f"innodb_lock_wait_timeout = {wait}"
                    )
                    cursor.execute("START TRANSACTION READ ONLY")
            except _ERRORS as error:
                self._drop()
                if attempt == 2:
                    raise unreachable(self.address, error) from None
            else:
                break
        return connection

    def _watched(
        self, connection: Connection, clock: Clock
    ) -> contextlib.AbstractContextManager[None]:
        """At the clock's end the query is ended, from the other connection; at last we hang up."""
        return ended_at(clock, self.end_query, lambda: _hang_up(connection))

    def _roll_back(self, connection: Connection) -> None:
        if not connection.open:
            return
        try:
            connection.rollback()
        except _ERRORS:
            self._drop()

    def _drop(self) -> None:
        if self._reading is not None and self._reading.open:
            with contextlib.suppress(*_ERRORS):
                self._reading.close()
        self._reading = None


def unbuffered(connection: Connection) -> SSCursor:
    """A cursor that takes one row after the other from the wire."""
    return connection.cursor(SSCursor)


def _hang_up(connection: Connection) -> None:
    # pymysql has no way to wake up who reads from the line; closing it does not.
    connection._sock.shutdown(socket.SHUT_RDWR)
