"""MySQL and MariaDB by pymysql: read-only transactions, rows as they come, KILL QUERY at the end.

A query's text and its values are put together by the driver (its protocol of prepared statements
is not in it), with the server's own rules for quotes.
"""

from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from typing import Any

import pymysql
from pymysql.constants import FIELD_TYPE
from pymysql.converters import encoders

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
from modularsql.engines.mysql_catalog import read_catalog, signature
from modularsql.engines.mysql_errors import failure
from modularsql.engines.mysql_rules import FUNCTIONS, KEYWORDS, MANNER, READING, SAFE_GRANTS, STORED
from modularsql.engines.mysql_session import Connection, MySQLSession, unbuffered
from modularsql.engines.parameters import Bound, bind, has_placeholders
from modularsql.engines.reading import refusal_of
from modularsql.errors import SetupError
from modularsql.ports import Outcome
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Row, Rows

_OWN_NAMES = {
    "tiny": "tinyint",
    "short": "smallint",
    "long": "int",
    "int24": "mediumint",
    "longlong": "bigint",
    "newdecimal": "decimal",
    "null": "null",
}
_TYPE_NAMES = {
    value: _OWN_NAMES.get(name.lower(), name.lower())
    for name, value in vars(FIELD_TYPE).items()
    if name.isupper()
}
_BINARY = 63  # number of the collation that compares bytes
_COLLATED = ("var_string", "string", "varchar", "blob", "tiny_blob", "medium_blob", "long_blob")
_UNSURE = ("json", "geometry", "enum", "set")
_QUERY_ERRORS = (pymysql.Error, OSError)
_PARAMETER_ERRORS = (UnicodeError, ValueError, TypeError, AttributeError, KeyError, OverflowError)
_CATALOGS = 8  # sets of databases whose tables are kept in mind
_GRANTS = """
    SELECT DISTINCT privilege_type FROM (
      SELECT grantee, privilege_type FROM information_schema.user_privileges UNION ALL
      SELECT grantee, privilege_type FROM information_schema.schema_privileges
        WHERE table_schema = DATABASE() UNION ALL
      SELECT grantee, privilege_type FROM information_schema.table_privileges
        WHERE table_schema = DATABASE()) AS g
    WHERE grantee = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')
    ORDER BY privilege_type
    """


class MySQLEngine(OneAtATime):
    """An `Engine` for one database of a MySQL or MariaDB server; threads take turns on it.

    Any method raises `SetupError` when the server cannot be reached.
    """

    dialect = "mysql"

    def __init__(self, address: Address, settings: Settings | None = None) -> None:
        """Connect. Raises `SetupError`, or `InputError` for a URL that is not right."""
        super().__init__(address.shown, settings)
        self._address = address
        self.lost = 0
        self._own: str | None = None
        self._catalogs: dict[tuple[str, ...], tuple[tuple[Any, ...], Catalog]] = {}
        self._stored: dict[str, bool] | None = None
        self._session = MySQLSession(address, self._settings)
        self._session.connect(Clock(self._settings.timeout))

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """Run one reading statement; see `ports.Engine`."""
        with self._turn():
            clock = Clock(limits.seconds)
            refused = too_long(sql) or refusal_of(sql, MANNER, self._acts)
            if refused is not None:
                return refused
            bound = bind(sql, params, self.dialect, lambda _: "%s", lambda t: t.replace("%", "%%"))
            if isinstance(bound, Failure):
                return bound
            odd = next((v for v in bound.values if type(v) not in encoders), None)
            if odd is not None:
                message = f"a value of type {type(odd).__name__} cannot be bound"
                return Failure(kind=FailureKind.ERROR, message=message)
            if not params and has_placeholders(sql, self.dialect):
                return no_value()
            if clock.passed():
                return Failure(kind=FailureKind.TIMEOUT, message="stopped at the time limit")
            return self._run(bound, limits, clock)

    def catalog(self) -> Catalog:
        """Tables, views, keys and foreign keys; read again only after the schema changed."""
        return self.catalog_with(frozenset())

    def catalog_with(self, schemas: frozenset[str]) -> Catalog:
        """The same with the tables of further databases that the user may read."""
        with self._turn():
            if self._own is None:
                self._own = str(self._ask("SELECT DATABASE()")[0][0])
            wanted = (self._own, *sorted(schemas - {self._own}))
            now = signature(self._ask, wanted)
            if wanted not in self._catalogs or self._catalogs[wanted][0] != now:
                while len(self._catalogs) >= _CATALOGS:
                    del self._catalogs[next(iter(self._catalogs))]
                self._catalogs[wanted] = (now, read_catalog(self._ask, wanted))
            return self._catalogs[wanted][1]

    def compares_bytes(self) -> bool:
        """True where the database holds no text at all: its collations fold letters and blanks."""
        return all(column.collation is None for table in self.catalog() for column in table.columns)

    def warnings(self) -> tuple[str, ...]:
        """What the user may do beyond reading, which only the transactions hold it back from."""
        with self._turn():
            more = [name for (name,) in self._ask(_GRANTS) if name not in SAFE_GRANTS]
        if not more:
            return ()
        some = ", ".join(more[:4]) + (", …" if len(more) > 4 else "")
        return (
            f"the user {self._address.user} may do more than read ({some}); a user that can only "
            "read is safer: docs/security.md",
        )

    def _give_back(self) -> None:
        self._session.close()

    def _acts(self, name: str, is_call: bool) -> bool:
        """Whether a function may do more than compute: all do that are on no list."""
        if name in KEYWORDS:
            return True
        if not is_call or name in FUNCTIONS:
            return False
        if self._stored is None:
            self._stored = {stored: reads in READING for stored, reads in self._ask(STORED)}
        return not self._stored.get(name, False)

    def _ask(self, sql: str, values: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query of ours about the schema."""
        clock = Clock(self._settings.timeout)
        try:
            with (
                self._session.transaction(clock) as connection,
                connection.cursor() as cursor,
            ):
                cursor.execute(sql, tuple(values) or None)
                return list(cursor.fetchall())
        except _QUERY_ERRORS as error:
            found = self._failed(error, clock)
            raise unread(self.name, found) from error

    def _failed(self, error: Exception, clock: Clock) -> Failure:
        found = failure(error, clock.passed())
        self.lost += found.kind == FailureKind.DIED
        return found

    def _run(self, bound: Bound, limits: Limits, clock: Clock) -> Outcome:
        try:
            with self._session.transaction(clock) as connection:
                with closing(self._fetched(connection, bound)) as fetched:
                    rows, truncated = first_rows(fetched, limits, self._settings.max_cell_bytes)
                    ms = clock.ms()
                fields = connection._result.fields if connection._result else []
        except TooLargeError as error:
            return Failure(kind=FailureKind.TOO_LARGE, message=str(error))
        except MemoryError:
            return Failure(kind=FailureKind.TOO_LARGE, message="no memory left for the rows")
        except _QUERY_ERRORS as error:
            found = self._failed(error, clock)
            if found.kind == FailureKind.TIMEOUT and self._session.waited:
                message = "another transaction held a lock"
                return Failure(kind=FailureKind.LOCKED, message=message)
            return found
        except _PARAMETER_ERRORS as error:
            return Failure(kind=FailureKind.ERROR, message=f"{type(error).__name__}: {error}")
        return Rows(
            columns=tuple(field.name for field in fields),
            types=tuple(map(_type_name, fields)),
            rows=rows,
            truncated=truncated,
            ms=ms,
            plain=len(rows) <= 1 or all(map(_is_plain, fields)),
        )

    def _fetched(self, connection: Connection, bound: Bound) -> Generator[Row, None, None]:
        """The rows as they come; what nobody wants any more is ended on the server."""
        cursor = unbuffered(connection)
        try:
            cursor.execute(bound.sql, bound.values or None)
            while (row := cursor.fetchone()) is not None:
                yield row
        finally:
            if (result := connection._result) and result.unbuffered_active:
                if connection.open:
                    with suppress(*_QUERY_ERRORS, SetupError):
                        self._session.end_query()
                else:
                    result.unbuffered_active = False  # pymysql would read on from no line
            with suppress(*_QUERY_ERRORS):
                cursor.close()


def _type_name(field: Any) -> str:
    name: str = _TYPE_NAMES.get(field.type_code, "unknown")
    is_bytes = field.charsetnr == _BINARY
    if name.endswith("blob"):
        return name if is_bytes else name.replace("blob", "text")
    if name in ("var_string", "string", "varchar"):
        return ("" if name == "string" else "var") + ("binary" if is_bytes else "char")
    return name


def _is_plain(field: Any) -> bool:
    """Whether Python's equality is the server's: text goes by a collation."""
    name = _TYPE_NAMES.get(field.type_code, "unknown")
    return name not in _UNSURE and (name not in _COLLATED or field.charsetnr == _BINARY)
