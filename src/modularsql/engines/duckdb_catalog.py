"""The catalog of a DuckDB database, from its functions duckdb_tables(), duckdb_columns(), …

DuckDB's own trap: it enforces a key on a column with a collation byte by byte, but compares such
columns by their collation. So that is no key here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import duckdb

from modularsql.catalog import UNSURE, Catalog, Column, ForeignKey, Key, Table
from modularsql.engines.collations import collations
from modularsql.records import Evidence

_OWN = "database_name = current_database() AND NOT internal"
_COLLATION = re.compile(r"\bCOLLATE\b", re.IGNORECASE)
# One of a list of index expressions as text: in quotes, with escapes, or a bare word.
_INDEXED = re.compile(r"'((?:[^'\\]|\\.)*)'|([^,\[\]\s']+)")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(slots=True, kw_only=True)
class _Found:
    """What the functions list of one table or view."""

    schema: str
    name: str
    kind: str
    ddl: str
    comment: str
    columns: list[dict[str, Any]] = field(default_factory=list)
    constraints: list[dict[str, Any]] = field(default_factory=list)
    indexes: list[dict[str, Any]] = field(default_factory=list)


def read_catalog(connection: duckdb.DuckDBPyConnection) -> Catalog:
    """Every table and view of the attached database, in all its schemas."""
    found: dict[tuple[str, str], _Found] = {}
    for kind in ("table", "view"):
        query = f"SELECT * FROM duckdb_{kind}s() WHERE {_OWN} ORDER BY schema_name, {kind}_name"
        for row in _rows(connection, query):
            at = (row["schema_name"], row[f"{kind}_name"])
            ddl, comment = row["sql"] or "", row.get("comment") or ""
            found[at] = _Found(schema=at[0], name=at[1], kind=kind, ddl=ddl, comment=comment)
    for part, condition, order in (
        ("columns", _OWN, "column_index"),
        ("constraints", "database_name = current_database()", "constraint_index"),
        (
            "indexes",
            "database_name = current_database() AND is_unique AND NOT is_primary",
            "index_name",
        ),
    ):
        query = f"SELECT * FROM duckdb_{part}() WHERE {condition} ORDER BY {order}"
        for row in _rows(connection, query):
            if (owner := found.get((row["schema_name"], row["table_name"]))) is not None:
                getattr(owner, part).append(row)
    unsure = names_a_collation(connection)
    tables = (_table(one, _problem(connection, one), unsure) for one in found.values())
    return Catalog(dialect="duckdb", tables=tuple(tables))


def names_a_collation(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether any table, view or macro of the database uses a collation."""
    texts = connection.execute(
        f"SELECT sql FROM duckdb_tables() WHERE {_OWN} "
        f"UNION ALL SELECT sql FROM duckdb_views() WHERE {_OWN} "
        f"UNION ALL SELECT macro_definition FROM duckdb_functions() WHERE {_OWN}"
    ).fetchall()
    return any(_COLLATION.search(text or "") for (text,) in texts)


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[dict[str, Any]]:
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description or []]
    return (dict(zip(names, row, strict=True)) for row in cursor.fetchall())


def _problem(connection: duckdb.DuckDBPyConnection, one: _Found) -> str | None:
    """Why a view cannot be read: DuckDB goes on listing it when its tables are gone."""
    if one.kind == "table":
        return None
    quoted = ".".join('"' + name.replace('"', '""') + '"' for name in (one.schema, one.name))
    try:
        connection.execute(f"SELECT * FROM {quoted} LIMIT 0")
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        return str(error).split("\n", 1)[0]
    return None


def _table(one: _Found, problem: str | None, unsure: bool) -> Table:
    is_view = one.kind == "view"
    names = [row["column_name"] for row in one.columns]
    declared = {} if is_view else collations(one.ddl, names, "duckdb")
    columns = tuple(
        Column(
            name=row["column_name"],
            type=row["data_type"],
            not_null=None if row["is_nullable"] else Evidence.ENFORCED,
            collation=UNSURE if is_view and unsure else declared.get(row["column_name"].casefold()),
            generated=bool(row.get("is_generated")),
            description=row.get("comment") or "",
        )
        for row in one.columns
    )
    return Table(
        name=one.name,
        schema=one.schema,
        description=one.comment,
        kind="view" if is_view else "table",
        columns=columns,
        keys=tuple(dict.fromkeys(_keys(one, columns))),
        foreign_keys=tuple(_foreign_keys(one)),
        row_id=None if is_view or "rowid" in map(str.casefold, names) else "rowid",
        problem=problem,
        definition=one.ddl if is_view else None,
    )


def _keys(one: _Found, columns: tuple[Column, ...]) -> Iterator[Key]:
    nullable = {column.name for column in columns if column.nullable}
    plain = {column.name for column in columns if column.collation is None}
    sets: list[tuple[str, tuple[str, ...]]] = [
        (row["constraint_type"], tuple(row["constraint_column_names"])) for row in one.constraints
    ]
    sets += [("UNIQUE", _indexed(str(row["expressions"]))) for row in one.indexes]
    for kind, names in sets:
        if kind in ("PRIMARY KEY", "UNIQUE") and names and plain.issuperset(names):
            yield Key(
                columns=names,
                kind="primary" if kind == "PRIMARY KEY" else "unique",
                null_distinct=not nullable.isdisjoint(names),
            )


def _foreign_keys(one: _Found) -> Iterator[ForeignKey]:
    for row in one.constraints:
        if row["constraint_type"] == "FOREIGN KEY":
            yield ForeignKey(
                columns=tuple(row["constraint_column_names"]),
                target=row["referenced_table"],
                target_schema=one.schema,  # it may refer to no other schema
                target_columns=tuple(row["referenced_column_names"]),
                evidence=Evidence.ENFORCED,
            )


def _indexed(expressions: str) -> tuple[str, ...]:
    """The columns of an index, () when it is over an expression.

    DuckDB lists them as text: `[a, '"b c"', '((a + 1))']`; what is not a bare word is a column
    only in double quotes.
    """
    names = []
    for text, word in _INDEXED.findall(expressions):
        name = word.strip() or _ESCAPED.sub(r"\1", text)
        if not word and not (name.startswith('"') and name.endswith('"')):
            return ()
        names.append(name if word else name[1:-1].replace('""', '"'))
    return tuple(names)
