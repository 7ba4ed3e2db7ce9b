"""A catalog by SQLAlchemy's inspector; keys that the database does not enforce are asserted."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError

from modularsql.catalog import UNSURE, Catalog, Column, ForeignKey, Key, Table
from modularsql.records import Evidence


def read_catalog(
    connection: sqlalchemy.Connection, dialect: str, evidence: Evidence | None
) -> Catalog:
    """Every table and view of the default schema; keys on `evidence`, none where that is None."""
    inspector = sqlalchemy.inspect(connection)
    schema = inspector.default_schema_name or ""
    names = inspector.get_table_names()
    tables = [_table(inspector, name, schema, evidence, set(names)) for name in names]
    tables += [_view(inspector, name, schema) for name in inspector.get_view_names()]
    if connection.dialect.requires_name_normalize:
        # SQLAlchemy writes in small letters what the database folds to capitals.
        stored = connection.dialect.denormalize_name
        tables = [table.renamed(stored) for table in tables]
    return Catalog(dialect=dialect, tables=tuple(tables))


def _table(
    inspector: Any, name: str, schema: str, evidence: Evidence | None, known: set[str]
) -> Table:
    try:
        columns = _columns(inspector, name)
        if evidence is None:
            return Table(name=name, schema=schema, columns=columns)
        keys = tuple(_keys(inspector, name, columns, evidence))
        foreign = tuple(_foreign_keys(inspector, name, evidence, known))
    except SQLAlchemyError as error:
        return Table(name=name, schema=schema, problem=str(error).splitlines()[0])
    return Table(name=name, schema=schema, columns=columns, keys=keys, foreign_keys=foreign)


def _view(inspector: Any, name: str, schema: str) -> Table:
    try:
        columns = _columns(inspector, name)
    except SQLAlchemyError as error:
        problem = str(error).splitlines()[0]
        return Table(name=name, schema=schema, kind="view", problem=problem)
    return Table(name=name, schema=schema, kind="view", columns=columns)


def _columns(inspector: Any, name: str) -> tuple[Column, ...]:
    """Text columns have a collation that nobody lists."""
    return tuple(
        Column(
            name=column["name"],
            type=str(column["type"]),
            not_null=None if column.get("nullable", True) else Evidence.ENFORCED,
            collation=UNSURE if isinstance(column["type"], sqlalchemy.String) else None,
            description=column.get("comment") or "",
        )
        for column in inspector.get_columns(name)
    )


def _keys(
    inspector: Any, name: str, columns: tuple[Column, ...], evidence: Evidence
) -> Iterator[Key]:
    nullable = {column.name for column in columns if column.nullable}
    primary = tuple((inspector.get_pk_constraint(name) or {}).get("constrained_columns") or ())
    if primary:
        yield Key(columns=primary, kind="primary", null_distinct=False, evidence=evidence)
    try:
        unique = inspector.get_unique_constraints(name)
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


def _foreign_keys(
    inspector: Any, name: str, evidence: Evidence, known: set[str]
) -> Iterator[ForeignKey]:
    for key in inspector.get_foreign_keys(name):
        yield ForeignKey(
            columns=tuple(key["constrained_columns"]),
            target=key["referred_table"],
            target_columns=tuple(key["referred_columns"]),
            evidence=evidence,
            resolved=key["referred_table"] in known,
        )
