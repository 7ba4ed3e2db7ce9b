"""PostgreSQL by psycopg: read-only transactions that the server bounds, rows as they come.

Rows are taken from the wire a few at a time, and a query is cancelled once the caps are reached.
A cursor on the server (DECLARE) would do that too, but PostgreSQL plans one without parallel
workers. What a single row holds is in memory as a whole before we see it (the server bounds it at
1 GB); `IsolatedEngine` bounds that.
"""

from collections.abc import Generator, Hashable
from contextlib import closing
from typing import Any

import psycopg

from modularsql.catalog import Catalog
from modularsql.config import Settings
from modularsql.engines.address import Address
from modularsql.engines.base import (
    Clock,
    OneAtATime,
    TooLargeError,
    first_rows,
    no_value,
    too_long,
    unread,
)
from modularsql.engines.parameters import Bound, bind, has_placeholders
from modularsql.engines.postgres_catalog import read_catalog, signature, writable_tables
from modularsql.engines.postgres_errors import failure
from modularsql.engines.postgres_session import Connection, PostgresSession
from modularsql.engines.postgres_types import PLAIN, names_of, one_nan
from modularsql.engines.reading import Manner, refusal_of
from modularsql.ports import Outcome
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Row, Rows

_AT_ONCE = 16
"""Rows taken from the wire together: more is no faster, and each may hold a large cell."""

_VERSION = """
    SELECT EXISTS (SELECT FROM pg_catalog.pg_foreign_table), txid_current_snapshot()::text,
      pg_postmaster_start_time(), (SELECT oid FROM pg_database WHERE datname = current_database())
    """

# U&"…" writes a name with escapes, which we would read as another one.
MANNER = Manner(dialect="postgres", hides=('U&"',))


class PostgresEngine(OneAtATime):
    """An `Engine` for one database of a PostgreSQL server; threads take turns on it.

    Any method raises `SetupError` when the server cannot be reached.
    """

    dialect = "postgres"

    def __init__(self, address: Address, settings: Settings | None = None) -> None:
        """Connect. Raises `SetupError`, or `InputError` for options that are none."""
        super().__init__(address.shown, settings)
        self._address = address
        self._catalog: tuple[tuple[Any, ...], Catalog] | None = None
        self.lost = 0
        self._type_names: dict[int, str] = {}
        self._session = PostgresSession(address, self._settings)
        self._session.connect(Clock(self._settings.timeout))

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """Run one reading statement; see `ports.Engine`."""
        with self._turn():
            clock = Clock(limits.seconds)
            refused = too_long(sql) or refusal_of(sql, MANNER, self._session.acts)
            if refused is not None:
                return refused
            bound = bind(sql, params, self.dialect, "${}".format)
            if isinstance(bound, Failure):
                return bound
            if clock.passed():
                return Failure(kind=FailureKind.TIMEOUT, message="stopped at the time limit")
            outcome = self._run(bound, limits, clock)
            is_wrong = isinstance(outcome, Failure) and outcome.kind == FailureKind.ERROR
            if is_wrong and not params and has_placeholders(sql, self.dialect):
                return no_value()
            return outcome

    def catalog(self) -> Catalog:
        """Tables, views, keys and foreign keys; read again only after the schema changed."""
        clock = Clock(self._settings.timeout)
        with self._turn():
            try:
                with self._session.transaction(clock) as connection:
                    now = signature(connection)
                    if self._catalog is None or self._catalog[0] != now:
                        self._catalog = (now, read_catalog(connection))
                    return self._catalog[1]
            except psycopg.Error as error:
                raise unread(self.name, self._failed(error, clock)) from error

    def compares_bytes(self) -> bool:
        """True where no column is compared by a collation that takes different text for equal."""
        return all(column.collation is None for table in self.catalog() for column in table.columns)

    def version(self) -> Hashable:
        """See `ports.Versioned`: the transactions that are seen, which each write adds to.

        None where there are foreign tables, whose data changes elsewhere.
        """
        with self._turn():
            try:
                with self._session.transaction(Clock(self._settings.timeout)) as connection:
                    (elsewhere, *seen) = connection.execute(_VERSION).fetchone() or (True,)
            except psycopg.Error:
                return None
        return None if elsewhere else (self.name, *seen)

    def warnings(self) -> tuple[str, ...]:
        """What the role may do beyond reading, which only the transactions hold it back from."""
        clock = Clock(self._settings.timeout)
        with self._turn(), self._session.transaction(clock) as connection:
            role = connection.info.user
            if self._session.lowered:
                what = "is a superuser (its queries run as pg_read_all_data)"
            elif not (count := writable_tables(connection, role)):
                return ()
            else:
                what = f"may write to {count:,} tables"
        return (f"the role {role} {what}; a role that can only read is safer: docs/security.md",)

    def _give_back(self) -> None:
        self._session.close()

    def _run(self, bound: Bound, limits: Limits, clock: Clock) -> Outcome:
        try:
            with self._session.transaction(clock) as connection:
                cursor = psycopg.RawCursor(connection)
                with closing(_fetched(cursor, bound)) as fetched:
                    rows, truncated = first_rows(fetched, limits, self._settings.max_cell_bytes)
                    ms = clock.ms()
                columns, oids = _description(cursor, connection, bound)
            types = self._types(oids)
        except TooLargeError as error:
            return Failure(kind=FailureKind.TOO_LARGE, message=str(error))
        except MemoryError:
            return Failure(kind=FailureKind.TOO_LARGE, message="no memory left for the rows")
        except psycopg.Error as error:
            return self._failed(error, clock)
        except (UnicodeError, ValueError, OverflowError) as error:  # of a parameter
            return Failure(kind=FailureKind.ERROR, message=f"{type(error).__name__}: {error}")
        renew = one_nan(types)
        return Rows(
            columns=columns,
            types=types,
            rows=rows if renew is None else list(map(renew, rows)),
            truncated=truncated,
            ms=ms,
            plain=len(rows) <= 1 or (PLAIN.issuperset(types) and self.compares_bytes()),
        )

    def _failed(self, error: psycopg.Error, clock: Clock) -> Failure:
        found = failure(error, clock.passed())
        self.lost += found.kind == FailureKind.DIED
        return found

    def _types(self, oids: tuple[int, ...]) -> tuple[str, ...]:
        """Names of types, those of this database asked for once."""
        known = self._type_names
        new = [oid for oid in oids if oid not in known]
        for oid, name in names_of(new).items():
            known[oid] = name or self._asked_name(oid)
        return tuple(known[oid] for oid in oids)

    def _asked_name(self, oid: int) -> str:
        with self._session.transaction(Clock(self._settings.timeout)) as connection:
            row = connection.execute("SELECT format_type(%s, NULL)", [oid]).fetchone()
        return str(row[0]) if row else str(oid)


def _fetched(cursor: "psycopg.RawCursor[Row]", bound: Bound) -> Generator[Row, None, None]:
    """The rows as they come; the query is cancelled when nobody wants more."""
    yield from cursor.stream(bound.sql.encode(), bound.values or None, size=_AT_ONCE)


def _description(
    cursor: "psycopg.RawCursor[Row]", connection: Connection, bound: Bound
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Names and types of the columns; without a row psycopg keeps none, and the server is asked."""
    if cursor.description:
        columns = cursor.description
        return tuple(c.name for c in columns), tuple(c.type_code for c in columns)
    connection.pgconn.prepare(b"", bound.sql.encode())
    said = connection.pgconn.describe_prepared(b"")
    names = tuple((said.fname(i) or b"").decode() for i in range(said.nfields))
    return names, tuple(said.ftype(i) for i in range(said.nfields))
