"""The catalog of a SQLite database, from its PRAGMAs; collations from the stored DDL.

SQLite's own traps (https://www.sqlite.org/quirks.html): a PRIMARY KEY that is not the row id
may hold NULLs, partial and expression indexes are no keys, foreign keys are not enforced
unless the writing connection asked for it, and they may point nowhere.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace

from modularsql.catalog import Catalog, Column, ForeignKey, Key, Table
from modularsql.records import Evidence

_ROW_IDS = ("rowid", "_rowid_", "oid")
_EXPRESSION = -2  # cid of an indexed expression in PRAGMA index_xinfo


def read_catalog(connection: sqlite3.Connection) -> Catalog:
    """Every table and view of the main schema, SQLite's own tables left out."""
    objects = connection.execute(
        "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    ).fetchall()
    tables = [_table(connection, name, kind, sql or "") for name, kind, sql in objects]
    return Catalog(dialect="sqlite", tables=_resolved(tables))


def _table(connection: sqlite3.Connection, name: str, kind: str, sql: str) -> Table:
    try:
        found = connection.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
    except sqlite3.Error as error:
        return Table(name=name, kind="view" if kind == "view" else "table", problem=str(error))
    collations = _collations(sql)
    # cid, name, type, notnull, default, pk (1-based position in the key), hidden
    primary = [row[1] for row in sorted((r for r in found if r[5]), key=lambda r: r[5])]
    row_id = None if kind == "view" else _row_id(connection, name, {r[1].lower() for r in found})
    indexes = connection.execute(f"PRAGMA index_list({_quoted(name)})").fetchall()
    has_own_index = any(index[3] == "pk" for index in indexes)
    # Without an index of its own the key is the row id; without a row id it is NOT NULL.
    solid = set(primary) if row_id is None or (primary and not has_own_index) else set()
    columns = tuple(
        Column(
            name=row[1],
            type=row[2],
            nullable=not row[3] and row[1] not in solid,
            collation=collations.get(row[1].casefold()),
            generated=row[6] in (2, 3),
        )
        for row in found
        if row[6] != 1
    )
    nullable = {column.name for column in columns if column.nullable}
    keys = [] if not primary else [_key(primary, "primary", nullable)]
    keys += [_key(names, "unique", nullable) for names in _unique(connection, indexes, collations)]
    return Table(
        name=name,
        kind="view" if kind == "view" else "table",
        columns=columns,
        keys=tuple(dict.fromkeys(keys)),
        foreign_keys=tuple(_foreign_keys(connection, name)),
        row_id=row_id,
    )


def _key(names: list[str], kind: str, nullable: set[str]) -> Key:
    return Key(
        columns=tuple(names),
        kind="primary" if kind == "primary" else "unique",
        null_distinct=not nullable.isdisjoint(names),
    )


def _row_id(connection: sqlite3.Connection, name: str, columns: set[str]) -> str | None:
    """The name under which the row id answers, None for WITHOUT ROWID and virtual tables."""
    free = next((r for r in _ROW_IDS if r not in columns), None)
    if free is None:
        return None
    try:
        connection.execute(f"SELECT {free} FROM {_quoted(name)} LIMIT 0")
    except sqlite3.Error:
        return None
    return free


def _unique(
    connection: sqlite3.Connection, indexes: list[tuple[object, ...]], collations: dict[str, str]
) -> Iterator[list[str]]:
    """Columns of each unique index that is a key: whole, on columns, under their own equality."""
    for _, name, unique, origin, partial in indexes:
        if not unique or partial or origin == "pk":
            continue
        parts = connection.execute(f"PRAGMA index_xinfo({_quoted(str(name))})").fetchall()
        parts = [part for part in parts if part[5]]  # seqno, cid, name, desc, coll, key
        if any(part[1] == _EXPRESSION or part[2] is None for part in parts):
            continue
        own = [collations.get(part[2].casefold(), "BINARY").upper() for part in parts]
        if own == [str(part[4]).upper() for part in parts]:
            yield [part[2] for part in parts]


def _foreign_keys(connection: sqlite3.Connection, name: str) -> Iterator[ForeignKey]:
    rows = connection.execute(f"PRAGMA foreign_key_list({_quoted(name)})").fetchall()
    for number in sorted({row[0] for row in rows}):
        parts = sorted((row for row in rows if row[0] == number), key=lambda row: row[1])
        yield ForeignKey(
            columns=tuple(part[3] for part in parts),
            target=parts[0][2],
            target_columns=tuple(part[4] for part in parts if part[4] is not None),
            evidence=Evidence.ASSERTED,
        )


def _resolved(tables: list[Table]) -> tuple[Table, ...]:
    """Foreign keys with the target's columns filled in, or marked as pointing nowhere."""
    by_name = {table.name.casefold(): table for table in tables}
    resolved = []
    for table in tables:
        foreign = tuple(
            _resolve(key, by_name.get(key.target.casefold())) for key in table.foreign_keys
        )
        resolved.append(replace(table, foreign_keys=foreign))
    return tuple(resolved)


def _resolve(key: ForeignKey, target: Table | None) -> ForeignKey:
    columns = key.target_columns
    if target is not None and not columns:
        primary = next((k for k in target.keys if k.kind == "primary"), None)
        columns = primary.columns if primary else ()
    return replace(
        key,
        target=target.name if target else key.target,
        target_columns=columns,
        resolved=target is not None
        and len(columns) == len(key.columns)
        and all(target.column(name) for name in columns),
    )


def _collations(sql: str) -> dict[str, str]:
    """Collation by folded column name; unreadable DDL that names one makes every column unsure."""
    if "collate" not in sql.lower():
        return {}
    # Imported here: the parser takes longer to import than most worker processes live.
    from sqlglot import exp

    from modularsql.sql.parse import parse_text

    tree = parse_text(sql, "sqlite")
    if not isinstance(tree, exp.Create) or not isinstance(tree.this, exp.Schema):
        return {}
    found = {}
    for column in tree.this.find_all(exp.ColumnDef):
        for constraint in column.find_all(exp.CollateColumnConstraint):
            name = constraint.this.name.upper()
            if name != "BINARY":
                found[column.name.casefold()] = name
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
