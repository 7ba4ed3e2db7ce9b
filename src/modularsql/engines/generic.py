"""Everything else behind SQLAlchemy, with the limits its dialect and driver allow.

A database that cannot be kept from writing is refused, unless the setting `unenforced` accepts
it. `capabilities.py` says what is enforced where, and `warnings` what is not here. Beyond that a
text must parse as one query, without INTO and locks; the connection is rolled back and closed.
"""

import math
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import sqlalchemy
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlglot import exp

from modularsql.catalog import Catalog
from modularsql.config import Settings
from modularsql.engines.base import Clock, OneAtATime, TooLargeError, first_rows, too_long
from modularsql.engines.capabilities import CAPABILITIES, UNKNOWN
from modularsql.engines.generic_catalog import read_catalog
from modularsql.engines.parameters import Bound, bind
from modularsql.engines.reading import Manner, refusal_of, refused
from modularsql.engines.watchdog import ended_at
from modularsql.errors import InputError, SetupError
from modularsql.ports import Outcome
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Rows
from modularsql.sql.parse import Unparsed, is_known, is_query, parse_text

_FORBIDDEN = (("INTO",), ("FOR", "UPDATE"), ("FOR", "SHARE"))
_LATE = 0.2
_MARKS = {"qmark": "?", "format": "%s", "pyformat": "%s"}
_BREAKS = ("cancel", "interrupt", "close")
"""What a driver's connection may have to end a query, best first."""


class GenericEngine(OneAtATime):
    """An `Engine` over SQLAlchemy; each query has a connection of its own."""

    def __init__(self, url: str, settings: Settings | None = None) -> None:
        """Connect. Raises `SetupError`, also where nothing keeps a query from writing."""
        super().__init__("", settings)
        try:
            self._engine = sqlalchemy.create_engine(url, poolclass=NullPool)
        except (NoSuchModuleError, ImportError) as error:
            name = url.partition(":")[0]
            raise SetupError(
                f"no SQLAlchemy dialect or driver for {name}:// ({error})",
                "install the package that brings it",
                "driver",
            ) from None
        except ArgumentError:
            raise InputError("the URL cannot be read", "write it as SQLAlchemy does") from None
        self.name = self._engine.url.set(query={}).render_as_string(hide_password=True)
        name = self._engine.dialect.name
        self.capabilities = CAPABILITIES.get(name, UNKNOWN)
        self.dialect = self.capabilities.dialect or (name if is_known(name) else "")
        self._manner = Manner(dialect=self.dialect, forbidden=_FORBIDDEN)
        if not self.capabilities.read_only and self._settings.unenforced != "accept":
            raise SetupError(
                f"nothing keeps a query on {self.name} from writing",
                "give it a user that can only read, then set unenforced = accept",
                "unenforced",
            )
        with self._connection(Clock(self._settings.timeout)):
            pass

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """Run one reading statement; see `ports.Engine`."""
        with self._turn():
            clock = Clock(limits.seconds)
            refusal = too_long(sql) or refusal_of(sql, self._manner, lambda *_: False)
            if refusal is not None:
                return refusal
            tree = parse_text(sql.rstrip("; \t\r\n"), self.dialect)
            if isinstance(tree, Unparsed) or not is_query(tree) or tree.find(exp.DML, exp.DDL):
                why = tree.reason if isinstance(tree, Unparsed) else "it does not only read"
                return refused(f"only what our parser reads as one query is run here: {why}")
            style = self._engine.dialect.paramstyle
            bound = bind(sql, params, self.dialect, lambda _: _MARKS.get(style, "?"))
            if isinstance(bound, Failure):
                return bound
            if clock.passed():
                return Failure(kind=FailureKind.TIMEOUT, message="stopped at the time limit")
            return self._run(bound, limits, clock)

    def catalog(self) -> Catalog:
        """What SQLAlchemy's inspector lists, read anew each time."""
        return self.catalog_with(frozenset())

    def catalog_with(self, schemas: frozenset[str]) -> Catalog:
        """The same with further schemas, where the user may read them."""
        with self._turn(), self._connection(Clock(self._settings.timeout)) as connection:
            return read_catalog(connection, self.dialect, self.capabilities.keys, schemas)

    def compares_bytes(self) -> bool:
        """Never known here: the database counts."""
        return False

    def warnings(self) -> tuple[str, ...]:
        """What nobody enforces."""
        return (f"not enforced on {self.name}: {', '.join(self.capabilities.missing())}",)

    def _give_back(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _connection(self, clock: Clock) -> Iterator[sqlalchemy.Connection]:
        try:
            opened = self._engine.connect()
        except (SQLAlchemyError, OSError) as error:
            said = self._without_password(error)
            raise SetupError(f"cannot connect to {self.name}: {said}", "check the URL") from None
        with closing(opened) as connection:
            self._begin(connection, clock)
            driver = connection.connection.dbapi_connection
            ways = [getattr(driver, way) for way in _BREAKS if hasattr(driver, way)]
            with ended_at(Clock(clock.left() + _LATE), *ways):
                yield connection
            with suppress(SQLAlchemyError):
                connection.rollback()

    def _begin(self, connection: sqlalchemy.Connection, clock: Clock) -> None:
        """Run what bounds the query; where it fails, the proof must hold all the same."""
        seconds = max(1, math.ceil(clock.left()))
        proof = self.capabilities.proof
        try:
            for statement in self.capabilities.begin:
                connection.exec_driver_sql(statement.format(seconds=seconds, ms=1000 * seconds))
        except SQLAlchemyError as error:
            if not proof:
                raise self._not_bounded(self._without_password(error)) from None
        if proof and connection.exec_driver_sql(proof).scalar() not in (1, "1"):
            raise self._not_bounded(f"{proof} does not give 1")

    def _not_bounded(self, why: str) -> SetupError:
        return SetupError(
            f"{self.name} cannot be made read-only: {why}",
            "check what this user may set",
            "unenforced",
        )

    def _run(self, bound: Bound, limits: Limits, clock: Clock) -> Outcome:
        try:
            with self._connection(clock) as connection:
                reading = connection.execution_options(stream_results=True)
                with closing(
                    reading.exec_driver_sql(bound.sql, tuple(bound.values) or None)
                ) as result:
                    columns = tuple(result.keys())
                    fetched = (tuple(row) for row in result)
                    rows, cut = first_rows(fetched, limits, self._settings.max_cell_bytes)
        except TooLargeError as error:
            return Failure(kind=FailureKind.TOO_LARGE, message=str(error))
        except SetupError:
            raise
        except Exception as error:  # of any driver
            if clock.passed():
                return Failure(kind=FailureKind.TIMEOUT, message="stopped at the time limit")
            return Failure(kind=FailureKind.ERROR, message=self._without_password(error))
        types = (None,) * len(columns)
        ms = clock.ms()
        return Rows(columns=columns, types=types, rows=rows, truncated=cut, ms=ms, plain=False)

    def _without_password(self, error: Exception) -> str:
        text = " ".join(str(getattr(error, "orig", None) or error).split())
        password = self._engine.url.password
        return text.replace(str(password), "***") if password else text
