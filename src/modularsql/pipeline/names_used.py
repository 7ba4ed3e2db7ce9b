"""Which tables and columns a SQL text really uses: parsed, and resolved against the catalog."""

from collections.abc import Iterator

from modularsql.catalog import Catalog
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.model import Block
from modularsql.pipeline.reading import read_tree
from modularsql.pipeline.state import Place


def names_used(sql: str, catalog: Catalog) -> set[Place]:
    """Tables and columns of the catalog that a query reads; empty where it cannot be read.

    A table that is only counted (`COUNT(*)`) is there without a column.
    """
    tree = read_tree(sql, catalog.dialect)
    query = infer(tree, catalog) if tree is not None else None
    if query is None:
        return set()
    return {place for block in query.blocks() for place in _of_block(block)}


def _of_block(block: Block) -> Iterator[Place]:
    for source in block.sources:
        if source.table is not None:
            yield source.table.name, None
    for source, name, _ in block.columns.values():
        column = source.table.column(name) if source.table is not None else None
        if source.table is not None and column is not None:
            yield source.table.name, column.name
    for output in block.outputs:
        if output.name != "*":
            continue
        for source in output.sources:
            if source.table is not None:
                yield from ((source.table.name, c.name) for c in source.table.columns)
