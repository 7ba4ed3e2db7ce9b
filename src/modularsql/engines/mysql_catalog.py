"""The catalog of a MySQL or MariaDB database, from information_schema.

Its own traps: text compares by a collation that takes 'a' for 'A', and mostly for 'a ' too, so
keys on text are unique under that equality and Python's is another one; an index on a prefix of a
column is still a key of the column; an index over an expression is none. Foreign keys may be
switched off while data is loaded, as dumps do, so they are asserted, not enforced. There is no
row identity.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from modularsql.catalog import Catalog, Column, ForeignKey, Key, Table
from modularsql.records import Evidence

Ask = Callable[[str], list[tuple[Any, ...]]]
"""Runs a query and gives all its rows."""

_TABLES = """
    SELECT table_name, table_type, table_comment FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
    ORDER BY table_type = 'VIEW', create_time, table_name
    """
_COLUMNS = """
    SELECT table_name, column_name, column_type, is_nullable, collation_name, extra, column_comment
    FROM information_schema.columns WHERE table_schema = DATABASE()
    ORDER BY table_name, ordinal_position
    """
_KEYS = """
    SELECT table_name, index_name, column_name FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND non_unique = 0
    ORDER BY table_name, index_name <> 'PRIMARY', index_name, seq_in_index
    """
_FOREIGN = """
    SELECT table_name, constraint_name, column_name, referenced_table_name, referenced_column_name,
      referenced_table_schema = DATABASE()
    FROM information_schema.key_column_usage
    WHERE table_schema = DATABASE() AND referenced_table_name IS NOT NULL
    ORDER BY table_name, constraint_name, ordinal_position
    """
_SIGNATURE = """
    SELECT (SELECT CONCAT_WS(' ', COUNT(*), MAX(create_time)) FROM information_schema.tables
            WHERE table_schema = DATABASE()),
           (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()),
           (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE())
    """
_BYTEWISE = ("binary", "utf8mb4_0900_bin")


def read_catalog(ask: Ask) -> Catalog:
    """Every table and view of the database of the URL."""
    columns: dict[str, list[Column]] = defaultdict(list)
    for table, name, type_, nullable, collation, extra, comment in ask(_COLUMNS):
        columns[table].append(
            Column(
                name=name,
                type=_text(type_),
                not_null=None if nullable == "YES" else Evidence.ENFORCED,
                collation=None if collation in (None, *_BYTEWISE) else collation,
                generated="GENERATED" in extra.upper() and "DEFAULT" not in extra.upper(),
                description=_text(comment or ""),
            )
        )
    keys = _grouped(ask(_KEYS))
    foreign = _grouped(ask(_FOREIGN))
    schema = str(ask("SELECT DATABASE()")[0][0])
    names = ask(_TABLES)
    known = {name for name, *_ in names}
    tables = (
        Table(
            name=name,
            schema=schema,
            kind="view" if kind == "VIEW" else "table",
            columns=tuple(columns[name]),
            keys=tuple(dict.fromkeys(_keys(keys[name], columns[name]))),
            foreign_keys=tuple(_foreign_keys(foreign[name], known)),
            description="" if kind == "VIEW" else _text(comment or ""),
            problem=comment if kind == "VIEW" and comment not in ("VIEW", "", None) else None,
        )
        for name, kind, comment in names
    )
    return Catalog(dialect="mysql", tables=tuple(tables))


def signature(ask: Ask) -> tuple[Any, ...]:
    """What is another one after the schema was changed."""
    return ask(_SIGNATURE)[0]


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _grouped(rows: list[tuple[Any, ...]]) -> dict[str, dict[str, list[tuple[Any, ...]]]]:
    """Rows by their first and second cell."""
    found: dict[str, dict[str, list[tuple[Any, ...]]]] = defaultdict(lambda: defaultdict(list))
    for table, part, *rest in rows:
        found[table][part].append(tuple(rest))
    return found


def _keys(indexes: dict[str, list[tuple[Any, ...]]], columns: list[Column]) -> Iterator[Key]:
    nullable = {column.name for column in columns if column.nullable}
    for index, parts in indexes.items():
        names = tuple(name for (name,) in parts)
        if None not in names:  # else one part is an expression
            yield Key(
                columns=names,
                kind="primary" if index == "PRIMARY" else "unique",
                null_distinct=not nullable.isdisjoint(names),
            )


def _foreign_keys(
    constraints: dict[str, list[tuple[Any, ...]]], known: set[str]
) -> Iterator[ForeignKey]:
    for parts in constraints.values():
        yield ForeignKey(
            columns=tuple(part[0] for part in parts),
            target=parts[0][1],
            target_columns=tuple(part[2] for part in parts),
            evidence=Evidence.ASSERTED,
            resolved=bool(parts[0][3]) and parts[0][1] in known,
        )
