"""Chinook on SQLite, DuckDB, PostgreSQL and MariaDB: the same findings, the same repaired rows.

    python -m benchmarks.four_engines

needs `classic/chinook` among the benchmarks' data (`corpus.py`) and the servers of
`tests/servers.py`. The tables are made from the SQLite file, with its names and keys, since the
project's own scripts name them apart.
"""

import datetime
import decimal
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from tests.servers import SERVERS, Server

from benchmarks.corpus import DATA
from modularsql import Answer, Guard, connect
from modularsql.catalog import Catalog, Table
from modularsql.config import Settings

HERE = Path(__file__).parent
CHINOOK = DATA / "classic/chinook/Chinook_Sqlite.sqlite"
QUERIES = HERE / "four_engines.sql"
_AT_ONCE = 500
# MySQL's own collation takes 'Luís' for 'Luis', which is another answer, and right there.
_FIRST = {"mysql": ["ALTER DATABASE COLLATE utf8mb4_bin"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A query on which an engine says something else than SQLite."""

    sql: str
    engine: str
    what: str
    here: object
    there: object


def queries() -> list[str]:
    """The queries, one a line."""
    return [line.rstrip(";") for line in QUERIES.read_text(encoding="utf-8").splitlines()]


def script(catalog: Catalog, source: Path) -> list[str]:
    """Statements that make the tables of a SQLite file on any of the other databases."""
    statements = []
    with closing(sqlite3.connect(source)) as connection:
        for table in _in_order(catalog):
            columns = [f"{c.name} {_type(c.type)}" for c in table.columns]
            keys = [f"PRIMARY KEY ({', '.join(k.columns)})" for k in table.keys[:1]]
            links = [
                f"FOREIGN KEY ({', '.join(f.columns)}) REFERENCES {f.target}"
                f"({', '.join(f.target_columns)})"
                for f in table.foreign_keys
                if f.target != table.name
            ]
            parts = ", ".join([*columns, *keys, *links])
            statements.append(f"CREATE TABLE {table.name} ({parts})")
            rows = connection.execute(f'SELECT * FROM "{table.name}"').fetchall()
            for start in range(0, len(rows), _AT_ONCE):
                values = ", ".join(map(_row, rows[start : start + _AT_ONCE]))
                statements.append(f"INSERT INTO {table.name} VALUES {values}")
    return statements


def _in_order(catalog: Catalog) -> list[Table]:
    """Tables after those that they refer to."""
    done: list[Table] = []
    left = list(catalog.tables)
    while left:
        names = {table.name for table in done}
        ready = [t for t in left if all(f.target in (*names, t.name) for f in t.foreign_keys)]
        done += ready or left
        left = [table for table in left if table not in done]
    return done


def _type(name: str) -> str:
    return name.upper().replace("NVARCHAR", "VARCHAR").replace("DATETIME", "TIMESTAMP")


def _row(values: tuple[Any, ...]) -> str:
    written = (
        "NULL" if v is None else str(v) if isinstance(v, int | float) else _text(v) for v in values
    )
    return f"({', '.join(written)})"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def bag(answer: Answer) -> Counter[tuple[Any, ...]]:
    """The rows as a bag; numbers by value to two places (AVG has four on MySQL)."""
    return Counter(tuple(map(_cell, row)) for row in answer.rows)


def _cell(value: Any) -> Any:
    if isinstance(value, bool | int | float | decimal.Decimal):
        return round(decimal.Decimal(str(value)), 2).normalize()
    return str(value) if isinstance(value, datetime.datetime) else value


def said(answer: Answer) -> list[tuple[str, str, int, str, Any]]:
    """What is found, with its numbers."""
    return sorted(
        (f.rule, f.severity.value, f.line, str(f.cause).casefold(), f.measured.get("factor"))
        for f in answer.findings
    )


def differences(guards: dict[str, Guard]) -> Iterator[Difference]:
    """What each engine says of each query otherwise than SQLite does, repairs applied."""
    for sql in queries():
        answers = {name: guard.run(sql, fix=True) for name, guard in guards.items()}
        first = answers["sqlite"]
        for name, answer in answers.items():
            for what, here, there in (
                ("failure", first.failure, answer.failure),
                ("findings", said(first), said(answer)),
                ("repairs", first.applied, answer.applied),
                ("rows", bag(first), bag(answer)),
            ):
                if here != there:
                    yield Difference(sql=sql, engine=name, what=what, here=here, there=there)


def open_all(folder: Path, servers: dict[str, Server]) -> dict[str, Guard]:
    """A guard on Chinook in each database."""
    settings = Settings(timeout=60)
    first = connect(CHINOOK, settings)
    statements = script(first.catalog(), CHINOOK)
    path = folder / "chinook.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    guards = {"sqlite": first, "duckdb": connect(path, settings)}
    for name, server in servers.items():
        server.build(folder / name, [*_FIRST.get(name, ()), *statements])
        guards[name] = connect(server.target(folder / name), settings)
    return {name: Guard(engine, "grain", settings) for name, engine in guards.items()}


def main() -> int:
    """Print the differences; 1 where there are any."""
    servers = {name: s for name, s in SERVERS.items() if not s.absent}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            guards = open_all(Path(folder), servers)
            for one in differences(guards):
                found.append(one)
                print(f"{one.engine}: {one.what}\n  {one.sql}\n  {one.here}\n  {one.there}")
            for guard in guards.values():
                guard.close()
        finally:
            for server in servers.values():
                server.close()
    print(f"{len(queries())} queries on {', '.join(guards)}: {len(found)} differences")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
