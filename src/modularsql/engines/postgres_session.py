"""One connection to a PostgreSQL server, opened again when the server dropped it.

Each query has a transaction of its own, READ ONLY and rolled back at the end; what bounds it is
set for that transaction alone, so a pooler between us and the server does no harm.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any

import psycopg

from modularsql.config import Settings
from modularsql.engines.address import Address
from modularsql.engines.base import Clock
from modularsql.engines.postgres_errors import is_starting, unreachable
from modularsql.engines.postgres_types import set_up
from modularsql.engines.watchdog import ended_at

_LATE = 0.2
"""Seconds after its limit at which we ask the server to end a query it did not end itself."""

_READS_ALL = "pg_read_all_data"  # from PostgreSQL 14 on

# Functions that PostgreSQL calls volatile (their value changes) though they only tell something.
_HARMLESS = """
    random random_normal clock_timestamp timeofday gen_random_uuid uuidv4 uuidv7 array_shuffle
    array_sample pg_relation_size pg_table_size pg_indexes_size pg_total_relation_size
    pg_database_size
    """.split()
_ACTING = """
    SELECT DISTINCT lower(proname) FROM pg_catalog.pg_proc WHERE provolatile = 'v'
    AND NOT (pronamespace = 'pg_catalog'::regnamespace AND proname = ANY(%s))
    AND prorettype <> 'pg_catalog.tsm_handler'::regtype  -- of TABLESAMPLE, no query can call it
    """

Connection = psycopg.Connection[tuple[Any, ...]]


class PostgresSession:
    """The way to one database; `connection` is open inside `transaction`."""

    def __init__(self, address: Address, settings: Settings) -> None:
        self.address = address
        self._settings = settings
        self._connection: Connection | None = None
        self._acting: frozenset[str] | None = None
        self.lowered = False

    def connect(self, clock: Clock) -> Connection:
        """The open connection, or a new one; waits for a server that starts just now."""
        if self._connection is not None and not self._connection.closed:
            return self._connection
        while True:
            try:
                self._connection = self._open(clock)
            except psycopg.Error as error:
                if not is_starting(error) or not clock.pause(0.2):
                    raise unreachable(self.address, error) from None
            else:
                return self._connection

    @contextmanager
    def transaction(self, clock: Clock) -> Iterator[Connection]:
        """A read-only transaction, ended by the server at the clock's end and then rolled back.

        Raises `psycopg.Error` of what is done inside, `SetupError` where there is no server.
        """
        connection = self._begun(clock)
        with _watched(connection, clock):
            try:
                yield connection
            finally:
                self._roll_back(connection)

    def acts(self, name: str, is_call: bool) -> bool:
        """Whether the server calls a function of that name volatile: see `reading.Acts`."""
        if self._acting is None:
            with self.transaction(Clock(self._settings.timeout)) as connection:
                rows = connection.execute(_ACTING, [_HARMLESS]).fetchall()
            self._acting = frozenset(name for (name,) in rows)
        return name in self._acting

    def close(self) -> None:
        """Give the connection back."""
        self._drop()

    def _open(self, clock: Clock) -> Connection:
        address = self.address
        named = {
            "host": address.host,
            "port": address.port,
            "user": address.user,
            "password": address.password,
            "dbname": address.database,
        }
        given: dict[str, Any] = {
            "application_name": "modularsql",
            **address.options,
            **{name: value for name, value in named.items() if value is not None},
        }
        connection = psycopg.connect(
            autocommit=True,
            connect_timeout=max(2, int(clock.left())),
            client_encoding="utf-8",
            **given,
        )
        try:
            said = connection.info.parameter_status
            encoded = said("server_encoding") != "SQL_ASCII"
            set_up(connection, encoded)
            if not encoded:  # else the server refuses to send what is no UTF-8
                connection.execute("SET client_encoding = 'SQL_ASCII'")
            is_superuser = said("is_superuser") == "on"
            self.lowered = is_superuser and connection.info.server_version >= 140_000
            self._acting = None
        except BaseException:
            connection.close()
            raise
        return connection

    def _begun(self, clock: Clock) -> Connection:
        """A connection in a new transaction; once more where the server had gone meanwhile."""
        for attempt in (1, 2):
            connection = self.connect(clock)
            try:
                with _watched(connection, clock):
                    connection.execute(self._beginning(connection, clock))
            except psycopg.OperationalError as error:
                self._drop()
                if attempt == 2:
                    raise unreachable(self.address, error) from None
            else:
                break
        return connection

    def _beginning(self, connection: Connection, clock: Clock) -> str:
        ms = max(1, int(clock.left() * 1000))
        # The lock's limit first: the statement's would end the wait as a query that is too slow.
        parts = [
            "BEGIN READ ONLY",
            f"SET LOCAL statement_timeout = {ms + 20}",
            f"SET LOCAL lock_timeout = {ms}",
            f"SET LOCAL idle_in_transaction_session_timeout = {ms + 60_000}",
            "SET LOCAL standard_conforming_strings = on",
        ]
        if connection.info.server_version >= 140_000:
            # The server looks whether we are still there, and ends what nobody waits for.
            parts.append("SET LOCAL client_connection_check_interval = 1000")
        if self.lowered:
            # Row security binds this role: rather an error than fewer rows.
            parts += [f"SET LOCAL ROLE {_READS_ALL}", "SET LOCAL row_security = off"]
        return "; ".join(parts)

    def _roll_back(self, connection: Connection) -> None:
        if connection.closed:
            return
        try:
            connection.execute("ROLLBACK")
        except psycopg.Error:
            self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None


def _watched(connection: Connection, clock: Clock) -> AbstractContextManager[None]:
    """Where the server does not end a query in time we ask it to, and at last hang up."""
    late = Clock(clock.left() + _LATE)
    return ended_at(
        late, lambda: connection.cancel_safe(timeout=2.0), partial(_hang_up, connection)
    )


def _hang_up(connection: Connection) -> None:
    # The connection's own socket; what is closed here is only our copy of it.
    with socket.socket(fileno=os.dup(connection.pgconn.socket)) as line:
        line.shutdown(socket.SHUT_RDWR)
