"""The same schema, read from its text and by the engine itself, gives the same facts."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from modularsql.catalog import Catalog, Key, Table
from modularsql.declared.ddl import read_ddl
from modularsql.engines.duckdb_catalog import read_catalog as read_duckdb
from modularsql.engines.sqlite_catalog import read_catalog as read_sqlite

DATA = Path(__file__).parents[2].parent / "shared" / "data"
DATABASES = sorted(DATA.rglob("*.sqlite"))


def comparable(table: Table) -> Table:
    """Without what has no meaning: order, letter case, a UNIQUE that repeats the PRIMARY KEY."""
    primary = {key.columns for key in table.keys if key.kind == "primary"}
    keys = {k for k in table.keys if k.kind == "primary" or k.columns not in primary}
    foreign = {
        replace(
            key,
            columns=tuple(map(str.casefold, key.columns)),
            target_columns=tuple(map(str.casefold, key.target_columns)),
        )
        for key in table.foreign_keys
    }
    return replace(
        table,
        columns=tuple(replace(c, type=" ".join(c.type.upper().split())) for c in table.columns),
        keys=tuple(sorted(keys, key=repr)),
        foreign_keys=tuple(sorted(foreign, key=repr)),
    )


def assert_same(text: str, connection: sqlite3.Connection) -> None:
    declared = read_ddl(text, "sqlite")
    assert declared.problems == ()
    for table in read_sqlite(connection):
        ours = declared.catalog.table(table.name)
        assert ours is not None
        assert comparable(ours) == comparable(surely(table, connection))


def surely(table: Table, connection: sqlite3.Connection) -> Table:
    """The table with collations and keys as SQLite's indexes have them, no DDL read for it."""
    copy = sqlite3.connect(":memory:")
    copy.executescript(schema_of(connection))
    columns = tuple(replace(c, collation=own_collation(copy, table, c.name)) for c in table.columns)
    nullable = {column.name for column in columns if column.nullable}
    mine = {column.name: column.collation or "BINARY" for column in columns}
    keys = [key for key in table.keys if key.kind == "primary" and not has_index(copy, table, "pk")]
    for _, name, unique, origin, partial in indexes(copy, table):
        parts = [part for part in copy.execute(f"PRAGMA index_xinfo({quoted(name)})") if part[5]]
        names = [part[2] for part in parts]
        if not unique or partial or None in names:
            continue
        if all(mine[part[2]] in ("BINARY", part[4].upper()) for part in parts):
            keys.append(
                Key(
                    columns=tuple(names),
                    kind="primary" if origin == "pk" else "unique",
                    null_distinct=not nullable.isdisjoint(names),
                )
            )
    copy.close()
    return replace(table, columns=columns, keys=tuple(keys))


def own_collation(copy: sqlite3.Connection, table: Table, column: str) -> str | None:
    """An index on a column takes the column's own."""
    copy.execute(f"CREATE INDEX probing ON {quoted(table.name)} ({quoted(column)})")
    collation = str(copy.execute("PRAGMA index_xinfo(probing)").fetchone()[4]).upper()
    copy.execute("DROP INDEX probing")
    return None if collation == "BINARY" else collation


def indexes(copy: sqlite3.Connection, table: Table) -> list[tuple[int, str, int, str, int]]:
    return copy.execute(f"PRAGMA index_list({quoted(table.name)})").fetchall()


def has_index(copy: sqlite3.Connection, table: Table, origin: str) -> bool:
    return any(index[3] == origin for index in indexes(copy, table))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def schema_of(connection: sqlite3.Connection) -> str:
    rows = connection.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' "
        "ESCAPE '@' ORDER BY rowid"
    )
    return ";\n".join(sql for (sql,) in rows) + ";\n"


@pytest.mark.skipif(not DATABASES, reason="needs ../shared/data")
def test_every_schema_of_the_benchmarks_reads_as_sqlite_reads_it() -> None:
    for path in DATABASES:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
        assert_same(schema_of(connection), connection)
        connection.close()
    assert len(DATABASES) > 100


NAMES = ("a", "B", '"c d"', "[e]", "`f`", "'g'", "key")
TYPES = st.sampled_from(
    ["", "INT", "INTEGER", "integer", "TEXT", "VARCHAR(10)", '"INTEGER"', "unsigned big int"]
)
OPTIONS = st.lists(
    st.sampled_from(
        [
            "NOT NULL",
            "NULL",
            "UNIQUE",
            "PRIMARY KEY",
            "PRIMARY KEY DESC",
            "COLLATE NOCASE",
            "COLLATE binary",
            "DEFAULT (1 + 2)",
            "DEFAULT 'x,y)'",
            "DEFAULT -1.5",
            "CHECK (a IS NOT NULL OR 1)",
            "CONSTRAINT n NOT NULL ON CONFLICT IGNORE",
            "REFERENCES p (x) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED",
            "REFERENCES nowhere",
            "GENERATED ALWAYS AS (1) STORED",
        ]
    ),
    max_size=3,
    unique=True,
)
PARTS = st.lists(
    st.sampled_from(["a", "B", '"c d"', "e", "A DESC", "a COLLATE NOCASE", "b ASC"]),
    min_size=1,
    max_size=3,
    unique_by=lambda part: part.split()[0].casefold(),
)
CONSTRAINTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["UNIQUE ({})", "CONSTRAINT k UNIQUE ({})", "CHECK (1)", "PRIMARY KEY ({})"]
        ),
        PARTS,
    ),
    max_size=3,
)
INDEXES = st.lists(
    st.tuples(
        st.sampled_from(["UNIQUE", ""]),
        st.one_of(PARTS, st.sampled_from([["lower(a)"], ["a || b"], ["a", "b IS NULL"]])),
        st.sampled_from(["", " WHERE a > 1"]),
    ),
    max_size=2,
)


@st.composite
def scripts(draw: st.DrawFn) -> str:
    columns = [f"{name} {draw(TYPES)} {' '.join(draw(OPTIONS))}" for name in NAMES]
    rest = [form.format(", ".join(parts)) for form, parts in draw(CONSTRAINTS)]
    options = draw(st.sampled_from(["", "WITHOUT ROWID", "STRICT"]))
    text = "CREATE TABLE p (x INTEGER PRIMARY KEY);\n"
    body = ", -- it's;\n".join([*columns, *rest])
    text += f"CREATE TABLE t (\n{body}\n) {options};\n"
    for number, (unique, parts, where) in enumerate(draw(INDEXES)):
        text += f"CREATE {unique} INDEX i{number} ON t ({', '.join(parts)}){where};\n"
    return text


@settings(max_examples=200, deadline=None)
@given(scripts())
def test_whatever_sqlite_accepts_reads_as_sqlite_reads_it(text: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.executescript(text)
        except sqlite3.Error:
            event("refused")
            return
        assert_same(text, connection)


DUCKDB = [
    "CREATE TABLE p (x INTEGER PRIMARY KEY); CREATE TABLE t (a INTEGER REFERENCES p, b INT UNIQUE)",
    "CREATE TABLE t (a VARCHAR, b INTEGER NOT NULL, UNIQUE (a, b), PRIMARY KEY (b))",
    "CREATE TABLE t (a STRUCT(x INT, y VARCHAR), b INT[], c DECIMAL(9, 2) DEFAULT 3.5)",
    "CREATE TABLE t (a INT, b INT); CREATE UNIQUE INDEX i ON t (a, b); CREATE INDEX j ON t (b)",
    "CREATE TABLE t (a INT, b INT); CREATE UNIQUE INDEX i ON t ((a + b))",
    "CREATE SCHEMA s; CREATE TABLE s.t (a INT CHECK (a > 0), b INT AS (a + 1))",
    'CREATE TABLE "a b" ("x y" INT PRIMARY KEY, z DATE DEFAULT current_date)',
]


@pytest.mark.parametrize("text", DUCKDB)
def test_a_schema_of_duckdb_reads_as_duckdb_reads_it(text: str) -> None:
    connection = duckdb.connect()
    connection.execute(text)
    theirs = read_duckdb(connection)
    connection.close()
    declared = read_ddl(text, "duckdb")
    assert declared.problems == ()
    assert _without_types(declared.catalog) == _without_types(theirs)


def _without_types(catalog: Catalog) -> dict[str, tuple[object, ...]]:
    def key(key: Key) -> str:
        return repr(key)

    return {
        f"{table.schema}.{table.name}": (
            [(c.name, c.nullable) for c in table.columns],
            sorted(table.keys, key=key),
            table.foreign_keys,
            table.row_id,
        )
        for table in catalog
    }
