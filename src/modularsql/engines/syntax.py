"""Whether an engine's own parser takes a text: asked without a database, and nothing is run."""

import sqlite3
from collections.abc import Callable

Parser = Callable[[str], str | None]
"""From one statement to why its syntax is refused; None where it is taken."""


def parser_of(dialect: str) -> Parser | None:
    """The parser of the dialect's engine; None where the engine is a server, or not known."""
    return _PARSERS.get(dialect)


def _sqlite(sql: str) -> str | None:
    connection = sqlite3.connect(":memory:")
    # Whatever parses is refused before its names are looked up, so what else fails is the syntax.
    connection.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
    try:
        connection.execute(f"EXPLAIN {sql}")
    except (sqlite3.Error, sqlite3.Warning) as error:
        if any(words in str(error) for words in _SQLITE_WORDS):
            return f"SQLite {sqlite3.sqlite_version} says: {error}"
    finally:
        connection.close()
    return None


_SQLITE_WORDS = (
    "syntax error",
    "incomplete input",
    "unrecognized token",
    "clause should come after",
    "stack overflow",
)


def _duckdb(sql: str) -> str | None:
    import duckdb

    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        try:
            connection.extract_statements(sql)
        except duckdb.ParserException as error:
            words = str(error).split("\n", 1)[0].removeprefix("Parser Error: ")
            return f"DuckDB {duckdb.__version__} says: {words}"
        except duckdb.Error:
            return None
    return None


_PARSERS: dict[str, Parser] = {"sqlite": _sqlite, "duckdb": _duckdb}
