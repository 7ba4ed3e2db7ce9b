"""Random small databases: few tables, few values, many NULLs and near-equal values.

Data is dense, so that a wrong claim meets a
counterexample soon: '1', '01', 1 and 1.0 side by side, 'a' beside 'A'.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import duckdb

NAMES = ("id", "a", "b", "c")

SQLITE_TYPES = {
    "INTEGER": (1, 2, 3, 4),
    "TEXT": ("a", "A", "b", "1", "01"),
    "REAL": (1.0, 1.5, 2.0, 3.0),
    "": (1, 1.0, 1, 1.0, 2, "1", "a", "A"),
    "TEXT COLLATE NOCASE": ("a", "A", "b", "B", "1"),
}
DUCKDB_TYPES = {
    "INTEGER": (1, 2, 3, 4),
    "BIGINT": (1, 2, 3, 4),
    "VARCHAR": ("a", "A", "b", "1", "01"),
    "DOUBLE": (1.0, 1.5, 2.0, 0.0, -0.0),
    "VARCHAR COLLATE NOCASE": ("a", "A", "b", "B", "1"),
}
COLLATED = "VARCHAR COLLATE NOCASE"
LOOSE = ("", "TEXT COLLATE NOCASE", COLLATED)

NUMBERS = ("1", "2", "3", "1.0", "NULL")
TEXTS = ("'a'", "'A'", "'1'", "'01'", "NULL")


@dataclass(frozen=True)
class Part:
    """Something in FROM: the alias and the names of its columns."""

    alias: str
    columns: tuple[str, ...]
    has_row_id: bool = False
    is_one_row: bool = False
    loose: tuple[str, ...] = ()  # columns of which equal values may differ in what they show


@dataclass(frozen=True)
class Text:
    """A query and the names of its columns."""

    sql: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class RandomTable:
    """A table: its columns with their types, and the statement that makes it."""

    name: str
    columns: dict[str, str]
    ddl: str


@dataclass(frozen=True)
class RandomSchema:
    """Tables of one dialect, and the column types they use, each with its values."""

    dialect: str
    types: dict[str, tuple[Any, ...]]
    tables: tuple[RandomTable, ...]
    views: tuple[Part, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether all columns hold text."""
        return "VARCHAR" in self.types


def random_schema(random: Random, dialect: str) -> RandomSchema:
    """Two or three tables that share column names.

    DuckDB refuses to compare text with numbers, so its tables hold one or the other.
    """
    types = SQLITE_TYPES
    if dialect == "duckdb":
        chosen = ["VARCHAR", COLLATED] if random.random() < 0.3 else ["INTEGER", "BIGINT", "DOUBLE"]
        types = {name: DUCKDB_TYPES[name] for name in chosen}
    count = random.randint(2, 3)
    tables = tuple(_table(random, f"t{i}", dialect, list(types)) for i in range(count))
    return RandomSchema(dialect, types, tables)


def _table(random: Random, name: str, dialect: str, types: list[str]) -> RandomTable:
    columns = {"id": random.choice([types[0], types[0], *types])}
    for other in random.sample(NAMES[1:], random.randint(1, 3)):
        columns[other] = random.choice(types)
    constraints, keys = dict.fromkeys(columns, ""), []
    shape = random.choice(["single", "single", "composite", "none"])
    if shape == "single":
        constraints["id"] += " PRIMARY KEY"
    elif shape == "composite":
        keys.append(f"PRIMARY KEY ({', '.join(random.sample(list(columns), 2))})")
    for column in columns:
        if random.random() < 0.2:
            constraints[column] += " NOT NULL"
        if random.random() < 0.15:
            constraints[column] += " UNIQUE"
    if len(columns) > 2 and random.random() < 0.15:
        keys.append(f"UNIQUE ({', '.join(random.sample(list(columns), 2))})")
    parts = [f"{c} {columns[c]}{constraints[c]}" for c in columns]
    ddl = f"CREATE TABLE {name} ({', '.join([*parts, *keys])})"
    if dialect == "sqlite" and shape != "none" and random.random() < 0.2:
        ddl += " WITHOUT ROWID"
    return RandomTable(name, columns, ddl + _index(random, name, dialect, columns))


def _index(random: Random, name: str, dialect: str, columns: dict[str, str]) -> str:
    """A unique index at times: not all of them are keys."""
    if random.random() > 0.12:
        return ""
    column = random.choice(list(columns))
    traps = [f"{column} COLLATE NOCASE", f"{column}) WHERE ({column} > 1", f"lower({column})"]
    on = random.choice([column, *traps]) if dialect == "sqlite" else column
    return f"; CREATE UNIQUE INDEX {name}_index ON {name} ({on})"


def random_rows(random: Random, schema: RandomSchema, table: RandomTable) -> Iterator[list[Any]]:
    """Rows for a table; constraints will turn some of them away."""
    types = [schema.types[type_] for type_ in table.columns.values()]
    # Some values come more often, so that rows agree.
    pools = [(values, random.sample(values, 2)) for values in types]
    for _ in range(random.randint(2, 7)):
        yield [
            None if random.random() < 0.15 else random.choice(random.choice([values, some]))
            for values, some in pools
        ]


def sqlite_database(random: Random, schema: RandomSchema) -> sqlite3.Connection:
    """The schema in memory, with random data."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for table in schema.tables:
        connection.executescript(table.ddl)
        marks = ", ".join("?" * len(table.columns))
        for row in random_rows(random, schema, table):
            connection.execute(f"INSERT OR IGNORE INTO {table.name} VALUES ({marks})", row)
    return connection


def duckdb_database(random: Random, schema: RandomSchema) -> duckdb.DuckDBPyConnection:
    """The schema in memory, with random data."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute("SET enable_progress_bar = false")
    for table in schema.tables:
        connection.execute(table.ddl)
        marks = ", ".join("?" * len(table.columns))
        for row in random_rows(random, schema, table):
            try:
                connection.execute(f"INSERT INTO {table.name} VALUES ({marks})", row)
            except duckdb.ConstraintException:
                continue
    return connection
