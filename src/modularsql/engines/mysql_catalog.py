"""The catalog of a MySQL or MariaDB database, from information_schema.

Its own traps: text compares by a collation that takes 'a' for 'A', and mostly for 'a ' too, so
keys on text are unique under that equality and Python's is another one; an index on a prefix of a
column is still a key of the column; an index over an expression is none. Foreign keys may be
switched off while data is loaded, as dumps do, so they are asserted, not enforced. There is no
row identity. The text of a view's query is listed for who has SHOW VIEW alone; each name in it has
its database before it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from modularsql.catalog import Catalog, Column, ForeignKey, Key, Table
from modularsql.records import Evidence


class Ask(Protocol):
    """Runs a query with values for its places and gives all its rows."""

    def __call__(self, sql: str, values: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        """Raises `SetupError` where that cannot be."""


# A server looks into the one database that is named so; with a list of names it opens all tables.
_TABLES = """
    SELECT table_name, table_type, table_comment FROM information_schema.tables
    WHERE table_schema = %s AND table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
    ORDER BY table_type = 'VIEW', create_time, table_name
    """
_VIEWS = """
    SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = %s
    """
_COLUMNS = """
    SELECT table_name, column_name, column_type, is_nullable, collation_name, extra, column_comment
    FROM information_schema.columns WHERE table_schema = %s
    ORDER BY table_name, ordinal_position
    """
_KEYS = """
    SELECT table_name, index_name, column_name FROM information_schema.statistics
    WHERE table_schema = %s AND non_unique = 0
    ORDER BY table_name, index_name <> 'PRIMARY', index_name, seq_in_index
    """
_FOREIGN = """
    SELECT table_name, constraint_name, column_name, referenced_table_schema, referenced_table_name,
      referenced_column_name
    FROM information_schema.key_column_usage
    WHERE table_schema = %s AND referenced_table_name IS NOT NULL
    ORDER BY table_name, constraint_name, ordinal_position
    """
_SIGNATURE = """
    SELECT (SELECT CONCAT_WS(' ', COUNT(*), MAX(create_time)) FROM information_schema.tables
            WHERE table_schema = %s),
           (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = %s),
           (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = %s),
           (SELECT BIT_XOR(CRC32(CONCAT(table_name, ' ', view_definition)))
            FROM information_schema.views WHERE table_schema = %s)
    """
_BYTEWISE = ("binary", "utf8mb4_0900_bin")


def read_catalog(ask: Ask, schemas: Sequence[str]) -> Catalog:
    """Every table and view of some databases; bare names are those of the first one."""
    tables = [table for schema in schemas for table in _tables(ask, schema)]
    known = {(table.schema, table.name) for table in tables}
    return Catalog(
        dialect="mysql",
        tables=tuple(
            replace(
                table,
                foreign_keys=tuple(
                    replace(key, resolved=(key.target_schema, key.target) in known)
                    for key in table.foreign_keys
                ),
            )
            for table in tables
        ),
        path=tuple(schemas[:1]),
    )


def _tables(ask: Ask, schema: str) -> Iterator[Table]:
    columns = _columns(ask(_COLUMNS, [schema]))
    keys = _grouped(ask(_KEYS, [schema]))
    foreign = _grouped(ask(_FOREIGN, [schema]))
    texts = {name: _text(text or "") for name, text in ask(_VIEWS, [schema])}
    for name, kind, comment in ask(_TABLES, [schema]):
        is_view = kind == "VIEW"
        yield Table(
            name=name,
            schema=schema,
            kind="view" if is_view else "table",
            columns=tuple(columns[name]),
            keys=tuple(dict.fromkeys(_keys(keys[name], columns[name]))),
            foreign_keys=tuple(_foreign_keys(foreign[name])),
            description="" if is_view else _text(comment or ""),
            problem=comment if is_view and comment not in ("VIEW", "", None) else None,
            definition=texts.get(name) or None,
        )


def _columns(rows: list[tuple[Any, ...]]) -> dict[str, list[Column]]:
    columns: dict[str, list[Column]] = defaultdict(list)
    for table, name, type_, nullable, collation, extra, comment in rows:
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
    return columns


def signature(ask: Ask, schemas: Sequence[str]) -> tuple[Any, ...]:
    """What is another one after the schema of one of these databases was changed."""
    return tuple((schema, *ask(_SIGNATURE, [schema] * 4)[0]) for schema in schemas)


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


def _foreign_keys(constraints: dict[str, list[tuple[Any, ...]]]) -> Iterator[ForeignKey]:
    for parts in constraints.values():
        yield ForeignKey(
            columns=tuple(part[0] for part in parts),
            target=parts[0][2],
            target_schema=parts[0][1],
            target_columns=tuple(part[3] for part in parts),
            evidence=Evidence.ASSERTED,
        )
