"""What the core needs from outside, as protocols; adapters live in `engines/`."""

from typing import Protocol

from modularsql.catalog import Catalog
from modularsql.records import Failure, Limits, Params
from modularsql.rows import Rows

Outcome = Rows | Failure
"""Rows, or why there are none. Bad SQL is a value here, never an exception."""


class Engine(Protocol):
    """A read-only, bounded door to one database.

    An engine may be shared between threads: it runs one query at a time. It may not be shared
    between processes.
    """

    @property
    def name(self) -> str:
        """The database as people know it: a path or URL without secrets."""

    @property
    def dialect(self) -> str:
        """The name sqlglot knows the SQL dialect by."""

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """Run one statement that only reads, within `limits`, and return its first rows."""

    def catalog(self) -> Catalog:
        """Tables, columns, keys and foreign keys as the engine declares them."""

    def compares_bytes(self) -> bool:
        """Whether equal text means equal bytes in every column (no NOCASE and the like)."""

    def close(self) -> None:
        """Give the connection back; a closed engine runs nothing more."""
