"""The catalog of a SQLite database, from its PRAGMAs; collations from the stored DDL.

SQLite's own traps (https://www.sqlite.org/quirks.html): a PRIMARY KEY that is not the row id
may hold NULLs, partial and expression indexes are no keys, foreign keys are not enforced
unless the writing connection asked for it, and they may point nowhere.
"""

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import replace

from modularsql.catalog import UNSURE, Catalog, Column, ForeignKey, Key, Table
from modularsql.engines.collations import collations
from modularsql.engines.sqlite_errors import is_interrupted
from modularsql.records import Evidence

_ROW_IDS = ("rowid", "_rowid_", "oid")
_VIRTUAL = re.compile(r"\s*CREATE\s+VIRTUAL\b", re.IGNORECASE)
_EXPRESSION = -2  # cid of an indexed expression in PRAGMA index_xinfo


def read_catalog(connection: sqlite3.Connection) -> Catalog:
    """Every table and view of the main schema, SQLite's own tables left out."""
    objects = connection.execute(
        "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    ).fetchall()
    tables = [_table(connection, name, kind, sql or "") for name, kind, sql in objects]
    if names_a_collation(connection):
        tables = [_unsure_columns(table) if table.kind == "view" else table for table in tables]
    return Catalog(dialect="sqlite", tables=_resolved(tables))


def names_a_collation(connection: sqlite3.Connection) -> bool:
    """Whether the text of any table, view or index holds the word COLLATE."""
    query = "SELECT count(*) FROM sqlite_master WHERE sql LIKE '%collate%'"
    return bool(connection.execute(query).fetchone()[0])


def _unsure_columns(view: Table) -> Table:
    """A view's columns have the collations of what they are made of, which SQLite does not list."""
    return replace(view, columns=tuple(replace(c, collation=UNSURE) for c in view.columns))


def _table(connection: sqlite3.Connection, name: str, kind: str, sql: str) -> Table:
    view = kind == "view"
    try:
        # cid, name, type, notnull, default, pk (1-based position in the key), hidden
        found = connection.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
        indexes = connection.execute(f"PRAGMA index_list({_quoted(name)})").fetchall()
    except (sqlite3.Error, ValueError) as error:
        if isinstance(error, sqlite3.Error) and is_interrupted(error):
            raise
        return Table(name=name, kind="view" if view else "table", problem=str(error))
    own = {} if view else collations(sql, [row[1] for row in found], "sqlite")
    primary = [row[1] for row in sorted((r for r in found if r[5]), key=lambda r: r[5])]
    row_id = None if view else _row_id(connection, name, sql, {r[1].lower() for r in found})
    has_own_index = any(index[3] == "pk" for index in indexes)
    # Without an index of its own the key is the row id; without a row id it is NOT NULL.
    solid = set(primary) if row_id is None or (primary and not has_own_index) else set()
    columns = tuple(
        Column(
            name=row[1],
            type=row[2],
            not_null=Evidence.ENFORCED if row[3] or row[1] in solid else None,
            collation=own.get(row[1].casefold()),
            generated=row[6] in (2, 3),
        )
        for row in found
        if row[6] != 1
    )
    nullable = {column.name for column in columns if column.nullable}
    keys = [] if not primary or has_own_index else [_key(primary, "primary", nullable)]
    keys += [
        _key(names, "primary" if origin == "pk" else "unique", nullable)
        for names, origin in _unique(connection, indexes, own)
    ]
    return Table(
        name=name,
        kind="view" if view else "table",
        columns=columns,
        keys=tuple(sorted(dict.fromkeys(keys), key=lambda key: key.kind)),
        foreign_keys=tuple(_foreign_keys(connection, name)),
        row_id=row_id,
        definition=sql if view else None,
    )


def _key(names: list[str], kind: str, nullable: set[str]) -> Key:
    return Key(
        columns=tuple(names),
        kind="primary" if kind == "primary" else "unique",
        null_distinct=not nullable.isdisjoint(names),
    )


def _row_id(connection: sqlite3.Connection, name: str, sql: str, columns: set[str]) -> str | None:
    """The name under which the row id answers, None for WITHOUT ROWID and virtual tables."""
    free = next((r for r in _ROW_IDS if r not in columns), None)
    if free is None or _VIRTUAL.match(sql):
        return None
    try:
        connection.execute(f"SELECT {free} FROM {_quoted(name)} LIMIT 0")
    except sqlite3.Error:
        return None
    return free


def _unique(
    connection: sqlite3.Connection, indexes: list[tuple[object, ...]], declared: dict[str, str]
) -> Iterator[tuple[list[str], str]]:
    """Columns and origin of each unique index that is a key: whole, on columns, and at least as
    strict as the columns' own equality (text that is equal in bytes is so in any collation)."""
    for _, name, unique, origin, partial in indexes:
        if not unique or partial:
            continue
        parts = connection.execute(f"PRAGMA index_xinfo({_quoted(str(name))})").fetchall()
        parts = [part for part in parts if part[5]]  # seqno, cid, name, desc, coll, key
        if any(part[1] == _EXPRESSION or part[2] is None for part in parts):
            continue
        own = [declared.get(part[2].casefold(), "BINARY") for part in parts]
        used = [str(part[4]).upper() for part in parts]
        if all(mine in ("BINARY", its) for mine, its in zip(own, used, strict=True)):
            yield [part[2] for part in parts], str(origin)


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
        target_schema="main" if target else "",
        target_columns=columns,
        resolved=target is not None
        and len(columns) == len(key.columns)
        and all(target.column(name) for name in columns),
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
