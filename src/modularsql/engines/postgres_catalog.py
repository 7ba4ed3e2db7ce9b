"""The catalog of a PostgreSQL database, from its system tables.

PostgreSQL's own traps: a key of a table does not bind the tables that inherit from it, which a
query of it reads as well; partial and expression indexes are no keys; UNIQUE lets NULLs repeat
unless it says NULLS NOT DISTINCT; a foreign key may be NOT VALID. A deferred constraint may be
violated inside the transaction that writes, never where we read. `ctid` tells rows apart within
one statement and may change after it; across partitions it does not. A materialized view holds
its rows and the keys of its indexes, as a table does. The text of a view's query names the schema
of all that is not on the search path, so it is asked for with none.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from modularsql.catalog import Catalog, Column, ForeignKey, Key, Table
from modularsql.records import Evidence

Connection = psycopg.Connection[tuple[Any, ...]]

_OURS = """
    n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
    """
_RELATIONS = f"""
    SELECT c.oid, n.nspname, c.relname, c.relkind = 'v', c.relkind IN ('r', 'm'),
      EXISTS (SELECT FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent
              WHERE i.inhparent = c.oid AND p.relkind = 'r'),
      has_schema_privilege(n.oid, 'USAGE')
        AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT')),
      coalesce(obj_description(c.oid, 'pg_class'), '')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {_OURS}
    ORDER BY array_position(current_schemas(false), n.nspname), n.nspname, c.relname
    """
_COLUMNS = f"""
    SELECT a.attrelid, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),
      NOT a.attnotnull, a.attgenerated <> '',
      CASE WHEN t.typname = 'citext' THEN 'citext'
           WHEN NOT l.collisdeterministic THEN l.collname END,
      coalesce(col_description(a.attrelid, a.attnum), '')
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {_OURS}
    ORDER BY a.attrelid, a.attnum
    """
_KEYS = f"""
    SELECT x.indrelid, x.indisprimary, x.indkey::int2[], x.indnkeyatts,
      coalesce((to_jsonb(x) ->> 'indnullsnotdistinct')::boolean, false),
      (SELECT bool_and(l.oid IS NULL OR l.oid = a.attcollation OR NOT l.collisdeterministic
                       OR d.collisdeterministic)
       FROM generate_series(0, x.indnkeyatts - 1) AS o(i)
       JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[o.i]
       LEFT JOIN pg_collation l ON l.oid = x.indcollation[o.i]
       LEFT JOIN pg_collation d ON d.oid = a.attcollation)
    FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE x.indisunique AND x.indisvalid AND x.indislive AND x.indpred IS NULL
      AND x.indexprs IS NULL AND {_OURS}
    ORDER BY NOT x.indisprimary, x.indexrelid
    """
_FOREIGN = f"""
    SELECT k.conrelid, k.conkey, k.confrelid, k.confkey, k.convalidated
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE k.contype = 'f' AND {_OURS} ORDER BY k.conrelid, k.conname
    """
_VIEWS = f"""
    SELECT c.oid, pg_get_viewdef(c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'v' AND {_OURS}
    """
_NO_PATH = "SELECT set_config('search_path', '', true)"  # until this transaction is rolled back
_SIGNATURE = """
    SELECT current_schemas(false)::text, max(s), sum(n)::bigint FROM (
      SELECT max(xmin::text::bigint) AS s, count(*) AS n FROM pg_class UNION ALL
      SELECT max(xmin::text::bigint), count(*) FROM pg_attribute UNION ALL
      SELECT max(xmin::text::bigint), count(*) FROM pg_index UNION ALL
      SELECT max(xmin::text::bigint), count(*) FROM pg_namespace UNION ALL
      SELECT max(xmin::text::bigint), count(*) FROM pg_rewrite UNION ALL
      SELECT max(xmin::text::bigint), count(*) FROM pg_constraint) AS parts
    """
_MAY_WRITE = f"""
    SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND {_OURS} AND has_schema_privilege(%(who)s, n.oid, 'USAGE')
      AND has_table_privilege(%(who)s, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
    """


@dataclass(frozen=True, slots=True)
class _Relation:
    oid: int
    schema: str
    name: str
    view: bool
    plain: bool
    inherited: bool
    readable: bool
    description: str


def read_catalog(connection: Connection) -> Catalog:
    """Every table and view outside the system's schemas, those on the search path first.

    In a transaction that is rolled back: it has no search path any more.
    """
    ((path,),) = connection.execute("SELECT current_schemas(false)::text[]").fetchall()
    columns = _columns(connection)
    keys = _by_table(connection, _KEYS)
    foreign = _by_table(connection, _FOREIGN)
    relations = [_Relation(*row) for row in connection.execute(_RELATIONS)]
    connection.execute(_NO_PATH)
    texts: dict[int, str] = dict(connection.execute(_VIEWS).fetchall())
    by_oid = {one.oid: one for one in relations}
    tables = []
    for one in relations:
        own = columns.get(one.oid, {})
        table = Table(
            name=one.name,
            schema=one.schema,
            kind="view" if one.view else "table",
            columns=tuple(own.values()),
            row_id="ctid" if one.plain and not one.inherited else None,
            description=one.description,
            problem=None if one.readable else "this role may not read it (GRANT SELECT)",
            definition=texts.get(one.oid),
        )
        if not one.inherited:
            table = replace(table, keys=tuple(dict.fromkeys(_keys(keys[one.oid], own))))
        links = _foreign_keys(foreign[one.oid], one.oid, columns, by_oid)
        tables.append(replace(table, foreign_keys=tuple(links)))
    return Catalog(dialect="postgres", tables=tuple(tables), path=tuple(path))


def signature(connection: Connection) -> tuple[Any, ...]:
    """What is another one after the schema was changed."""
    return connection.execute(_SIGNATURE).fetchone() or ()


def writable_tables(connection: Connection, role: str) -> int:
    """How many tables a role may write to."""
    row = connection.execute(_MAY_WRITE, {"who": role}).fetchone()
    return int(row[0]) if row else 0


def _columns(connection: Connection) -> dict[int, dict[int, Column]]:
    found: dict[int, dict[int, Column]] = defaultdict(dict)
    for table, number, name, type_, *rest in connection.execute(_COLUMNS):
        nullable, generated, collation, description = rest
        found[table][number] = Column(
            name=name,
            type=type_,
            not_null=None if nullable else Evidence.ENFORCED,
            collation=collation,
            generated=generated,
            description=description,
        )
    return found


def _by_table(connection: Connection, query: str) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for table, *rest in connection.execute(query):
        found[table].append(tuple(rest))
    return found


def _keys(rows: list[tuple[Any, ...]], columns: dict[int, Column]) -> Iterator[Key]:
    """Keys of a table, each as strict as the equality of its columns."""
    for primary, numbers, count, no_null_twice, strict in rows:
        parts = [columns[number] for number in numbers[:count] if number in columns]
        if not strict or len(parts) != count:
            continue
        yield Key(
            columns=tuple(column.name for column in parts),
            kind="primary" if primary else "unique",
            null_distinct=not no_null_twice and any(column.nullable for column in parts),
        )


def _foreign_keys(
    rows: list[tuple[Any, ...]],
    table: int,
    columns: dict[int, dict[int, Column]],
    relations: dict[int, _Relation],
) -> Iterator[ForeignKey]:
    for numbers, target, target_numbers, valid in rows:
        to = relations.get(target)
        yield ForeignKey(
            columns=tuple(columns[table][number].name for number in numbers),
            target=to.name if to else "",
            target_schema=to.schema if to else "",
            target_columns=tuple(columns[target][number].name for number in target_numbers),
            evidence=Evidence.ENFORCED if valid else Evidence.ASSERTED,
            resolved=to is not None,
        )
