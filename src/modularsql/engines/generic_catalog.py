"""A catalog by SQLAlchemy's inspector; keys that the database does not enforce are asserted."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError

from modularsql.catalog import UNSURE, Catalog, Column, ForeignKey, Key, Table
from modularsql.records import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class _Schema:
    """What reads one schema: the default one where `name` is None."""

    inspector: Any
    name: str | None
    shown: str

    def asked(self, what: str, *args: str) -> Any:
        """What the inspector's method of that name says."""
        return getattr(self.inspector, what)(*args, schema=self.name)


def read_catalog(
    connection: sqlalchemy.Connection,
    dialect: str,
    evidence: Evidence | None,
    schemas: frozenset[str] = frozenset(),
) -> Catalog:
    """Every table and view of the default schema and of these; keys on `evidence`, if any."""
    inspector = sqlalchemy.inspect(connection)
    home = inspector.default_schema_name or ""
    tables = list(_tables(_Schema(inspector=inspector, name=None, shown=home), evidence))
    for name in sorted(name for name in schemas if name.casefold() != home.casefold()):
        with suppress(SQLAlchemyError, NotImplementedError):  # there is no such schema
            tables += _tables(_Schema(inspector=inspector, name=name, shown=name), evidence)
    known = {(table.schema.casefold(), table.name) for table in tables}
    tables = [_resolved(table, known) for table in tables]
    if connection.dialect.requires_name_normalize:
        # SQLAlchemy writes in small letters what the database folds to capitals.
        stored = connection.dialect.denormalize_name
        tables = [table.renamed(stored) for table in tables]
    return Catalog(dialect=dialect, tables=tuple(tables), path=(home,) if home else ())


def _resolved(table: Table, known: set[tuple[str, str]]) -> Table:
    keys = tuple(
        replace(key, resolved=(key.target_schema.casefold(), key.target) in known)
        for key in table.foreign_keys
    )
    return replace(table, foreign_keys=keys)


def _tables(schema: _Schema, evidence: Evidence | None) -> list[Table]:
    tables = [_table(schema, name, evidence) for name in schema.asked("get_table_names")]
    return tables + [_view(schema, name) for name in schema.asked("get_view_names")]


def _table(schema: _Schema, name: str, evidence: Evidence | None) -> Table:
    try:
        columns = _columns(schema, name)
        if evidence is None:
            return Table(name=name, schema=schema.shown, columns=columns)
        keys = tuple(_keys(schema, name, columns, evidence))
        foreign = tuple(_foreign_keys(schema, name, evidence))
    except SQLAlchemyError as error:
        return Table(name=name, schema=schema.shown, problem=str(error).splitlines()[0])
    return Table(name=name, schema=schema.shown, columns=columns, keys=keys, foreign_keys=foreign)


def _view(schema: _Schema, name: str) -> Table:
    try:
        columns = _columns(schema, name)
    except SQLAlchemyError as error:
        problem = str(error).splitlines()[0]
        return Table(name=name, schema=schema.shown, kind="view", problem=problem)
    return Table(name=name, schema=schema.shown, kind="view", columns=columns)


def _columns(schema: _Schema, name: str) -> tuple[Column, ...]:
    """Text columns have a collation that nobody lists."""
    return tuple(
        Column(
            name=column["name"],
            type=str(column["type"]),
            not_null=None if column.get("nullable", True) else Evidence.ENFORCED,
            collation=UNSURE if isinstance(column["type"], sqlalchemy.String) else None,
            description=column.get("comment") or "",
        )
        for column in schema.asked("get_columns", name)
    )


def _keys(
    schema: _Schema, name: str, columns: tuple[Column, ...], evidence: Evidence
) -> Iterator[Key]:
    nullable = {column.name for column in columns if column.nullable}
    found = schema.asked("get_pk_constraint", name) or {}
    primary = tuple(found.get("constrained_columns") or ())
    if primary:
        yield Key(columns=primary, kind="primary", null_distinct=False, evidence=evidence)
    try:
        unique = schema.asked("get_unique_constraints", name)
    except NotImplementedError:
        return
    for constraint in unique:
        names = tuple(constraint["column_names"])
        yield Key(
            columns=names,
            kind="unique",
            null_distinct=not nullable.isdisjoint(names),
            evidence=evidence,
        )


def _foreign_keys(schema: _Schema, name: str, evidence: Evidence) -> Iterator[ForeignKey]:
    for key in schema.asked("get_foreign_keys", name):
        yield ForeignKey(
            columns=tuple(key["constrained_columns"]),
            target=key["referred_table"],
            target_schema=key.get("referred_schema") or schema.shown,
            target_columns=tuple(key["referred_columns"]),
            evidence=evidence,
        )
