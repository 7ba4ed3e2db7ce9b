"""Where a column comes from: which column of which table, through derived tables and CTEs."""

from typing import NamedTuple

from modularsql.catalog import Column, Table
from modularsql.multiplicity.model import Block, Query, Source


class Origin(NamedTuple):
    """A column of a base table, and whether an outer join on the way may pad it with NULLs."""

    table: Table
    column: Column
    padded: bool


def origin(block: Block, attribute: int) -> Origin | None:
    """The base column an attribute is; None for what is computed or not known."""
    return _in_sources(block.sources, attribute, False) if attribute else None


def _in_sources(sources: list[Source], attribute: int, padded: bool) -> Origin | None:
    for source in sources:
        name = next((n for n, known in source.columns.items() if known == attribute), None)
        if name is None:
            continue
        padded = padded or source.optional
        if source.table is not None:
            column = source.table.column(name)
            return Origin(source.table, column, padded) if column else None
        return _in_query(source.query, attribute, padded) if source.query else None
    return None


def _in_query(query: Query, attribute: int, padded: bool) -> Origin | None:
    if query.block is None or query.block.aggregates:
        return None
    return _in_sources(query.block.sources, attribute, padded)
