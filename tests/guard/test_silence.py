"""Sane analytical queries on two well-known databases: none is changed, none is warned of.

The queries stand in `silence/*.sql`, each below the question it answers. What is only said as info
(groups left out, DISTINCT that hides a fan-out) may be said.
"""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from modularsql import Guard, connect
from modularsql.records import Severity

CLASSIC = Path(__file__).parents[3] / "shared" / "data" / "classic"
SOURCES = {
    "chinook": CLASSIC / "chinook" / "Chinook_Sqlite.sqlite",
    "northwind": CLASSIC / "northwind_psql" / "northwind.sql",
}
QUERIES = Path(__file__).parent / "silence"


def questions(name: str) -> Iterator[tuple[str, str]]:
    """Each question with its query."""
    for block in (QUERIES / f"{name}.sql").read_text(encoding="utf-8").split("\n\n"):
        question, _, sql = block.strip().partition("\n")
        yield question.removeprefix("-- "), sql.removesuffix(";")


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both databases for both engines, with their keys."""
    if not all(path.exists() for path in SOURCES.values()):
        pytest.skip("needs the shared data")
    folder = tmp_path_factory.mktemp("classic")
    found = {}
    for name, tables in (("chinook", chinook()), ("northwind", northwind())):
        found[f"{name}.sqlite"] = folder / f"{name}.sqlite"
        with sqlite3.connect(found[f"{name}.sqlite"]) as lite:
            fill(lite, tables)
        lite.close()
        found[f"{name}.duckdb"] = folder / f"{name}.duckdb"
        with duckdb.connect(str(found[f"{name}.duckdb"])) as duck:
            fill(duck, tables)
    return found


Tables = dict[str, tuple[str, list[tuple[object, ...]]]]


def fill(connection: "sqlite3.Connection | duckdb.DuckDBPyConnection", tables: Tables) -> None:
    """Make tables in an order that their foreign keys allow."""
    left = dict(tables)
    while left:
        ready = next(
            name
            for name, (ddl, _) in left.items()
            if not any(
                other != name and re.search(rf'REFERENCES "?{other}\b', ddl, re.IGNORECASE)
                for other in left
            )
        )
        ddl, rows = left.pop(ready)
        connection.execute(ddl)
        # DuckDB looks for the row that a row refers to among those of earlier statements.
        step = 1 if len(rows) < 20 else 500
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            marks = ", ".join("(" + ", ".join("?" * len(part[0])) + ")" for _ in part)
            cells = [cell for row in part for cell in row]
            connection.execute(f'INSERT INTO "{ready}" VALUES {marks}', cells)


def chinook() -> Tables:
    """Table by table: its CREATE and its rows."""
    reader = sqlite3.connect(f"file:{SOURCES['chinook']}?mode=ro&immutable=1", uri=True)
    found: Tables = {}
    for name, ddl in reader.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"):
        text = re.sub(r"\[(\w+)\]", r'"\1"', ddl).replace("NVARCHAR", "VARCHAR")
        text = text.replace("DATETIME", "TIMESTAMP")
        text = text.replace("ON DELETE NO ACTION ON UPDATE NO ACTION", "")
        found[name] = (
            text,
            parents_first(reader.execute(f'SELECT * FROM "{name}"').fetchall(), name),
        )
    reader.close()
    return found


def northwind() -> Tables:
    """The same of a PostgreSQL dump: keys stand apart from the tables there."""
    text = SOURCES["northwind"].read_text(encoding="utf-8")
    keys: dict[str, list[str]] = {}
    added = r"^ALTER TABLE ONLY (\w+)\s+ADD CONSTRAINT \w+ (.*?);"
    for table, key in re.findall(added, text, re.MULTILINE | re.DOTALL):
        keys.setdefault(table, []).append(" ".join(key.split()))
    lite = sqlite3.connect(":memory:")
    found: Tables = {}
    created = r"^CREATE TABLE (\w+) \((.*?)^\);"
    for table, body in re.findall(created, text, re.MULTILINE | re.DOTALL):
        columns = body.rstrip().replace("bytea", "BLOB").replace("character varying", "varchar")
        ddl = f"CREATE TABLE {table} ({', '.join([columns, *keys.get(table, [])])})"
        lite.execute(ddl)
        lines = re.findall(rf"^INSERT INTO {table} VALUES .*?\);$", text, re.MULTILINE | re.DOTALL)
        for line in lines:
            lite.execute(line.replace("'\\x'", "NULL"))
        rows = lite.execute(f"SELECT * FROM {table}").fetchall()
        found[table] = (ddl, parents_first(rows, table))
    lite.close()
    return found


def parents_first(rows: list[tuple[object, ...]], table: str) -> list[tuple[object, ...]]:
    """Employees after those whom they report to."""
    at = {"Employee": 4, "employees": 16}.get(table)
    return rows if at is None else sorted(rows, key=lambda row: int(str(row[at] or 0)))


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize("name", SOURCES)
def test_sane_queries_are_left_in_peace(databases: dict[str, Path], name: str, kind: str) -> None:
    loud = []
    with Guard(connect(databases[f"{name}.{kind}"])) as guard:
        for question, sql in questions(name):
            for asked in (question, None) if kind == "sqlite" else (None,):
                answer = guard.run(sql, question=asked, fix=True)
                warned = [f.rule for f in answer.findings if f.severity != Severity.INFO]
                if warned or answer.final_sql != sql:
                    loud.append((question, asked is not None, warned, answer.final_sql))
    assert loud == []
