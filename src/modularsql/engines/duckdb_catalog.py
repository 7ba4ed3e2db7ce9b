"""The catalog of a DuckDB database, from its functions duckdb_tables(), duckdb_columns(), …"""

import re
from typing import Any

import duckdb

from modularsql.catalog import Catalog, Column, ForeignKey, Key, Table
from modularsql.records import Evidence

_OWN = "database_name = current_database() AND NOT internal"
_COLLATION = re.compile(r"\bCOLLATE\b", re.IGNORECASE)


def read_catalog(connection: duckdb.DuckDBPyConnection) -> Catalog:
    """Every table and view of the attached database, in all its schemas."""
    objects = connection.execute(
        f"SELECT schema_name, table_name, 'table' FROM duckdb_tables() WHERE {_OWN} "
        f"UNION ALL SELECT schema_name, view_name, 'view' FROM duckdb_views() WHERE {_OWN} "
        "ORDER BY 1, 3, 2"
    ).fetchall()
    columns = _grouped(
        connection,
        "SELECT schema_name, table_name, column_name, data_type, is_nullable "
        f"FROM duckdb_columns() WHERE {_OWN} ORDER BY column_index",
    )
    constraints = _grouped(
        connection,
        "SELECT schema_name, table_name, constraint_type, constraint_column_names, "
        "referenced_table, referenced_column_names FROM duckdb_constraints() "
        "WHERE database_name = current_database() ORDER BY constraint_index",
    )
    indexes = _grouped(
        connection,
        "SELECT schema_name, table_name, expressions FROM duckdb_indexes() "
        "WHERE database_name = current_database() AND is_unique AND NOT is_primary",
    )
    tables = []
    for schema, name, kind in objects:
        at = (schema, name)
        tables.append(
            _table(at, kind, columns.get(at, []), constraints.get(at, []), indexes.get(at, []))
        )
    return Catalog(dialect="duckdb", tables=tuple(tables))


def names_a_collation(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether any table, view or the default setting uses a collation."""
    default = connection.execute("SELECT current_setting('default_collation')").fetchone()
    if default and default[0]:
        return True
    texts = connection.execute(
        f"SELECT sql FROM duckdb_tables() WHERE {_OWN} "
        f"UNION ALL SELECT sql FROM duckdb_views() WHERE {_OWN}"
    ).fetchall()
    return any(_COLLATION.search(text or "") for (text,) in texts)


def _grouped(connection: duckdb.DuckDBPyConnection, query: str) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for schema, table, *rest in connection.execute(query).fetchall():
        groups.setdefault((schema, table), []).append(rest)
    return groups


def _table(
    at: tuple[str, str], kind: str, columns: list[Any], constraints: list[Any], indexes: list[Any]
) -> Table:
    described = tuple(Column(name=n, type=t, nullable=bool(null)) for n, t, null in columns)
    nullable = {column.name for column in described if column.nullable}
    keys = [
        Key(
            columns=tuple(names),
            kind="primary" if what == "PRIMARY KEY" else "unique",
            null_distinct=not nullable.isdisjoint(names),
        )
        for what, names, *_ in constraints
        if what in ("PRIMARY KEY", "UNIQUE")
    ]
    for (expressions,) in indexes:
        names = _plain_columns(str(expressions), {column.name for column in described})
        if names:
            keys.append(
                Key(columns=names, kind="unique", null_distinct=not nullable.isdisjoint(names))
            )
    foreign = tuple(
        ForeignKey(
            columns=tuple(names),
            target=target,
            target_columns=tuple(theirs),
            evidence=Evidence.ENFORCED,
        )
        for what, names, target, theirs in constraints
        if what == "FOREIGN KEY"
    )
    return Table(
        name=at[1],
        schema=at[0],
        kind="view" if kind == "view" else "table",
        columns=described,
        keys=tuple(dict.fromkeys(keys)),
        foreign_keys=foreign,
        row_id="rowid" if kind == "table" else None,
    )


def _plain_columns(expressions: str, known: set[str]) -> tuple[str, ...]:
    """Columns of an index, () when it is over an expression.

    DuckDB lists them as text: `[a, '"b c"']`; what is no known column is taken for an expression.
    """
    parts = [part.strip().strip("'").strip('"') for part in expressions.strip("[]").split(",")]
    return tuple(parts) if all(part in known for part in parts) else ()
