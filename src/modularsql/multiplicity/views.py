"""The queries behind views, and the schemas that a query reads by way of them."""

from collections.abc import Iterator
from functools import lru_cache

from sqlglot import exp

from modularsql.catalog import Catalog, Table
from modularsql.sql.parse import parse_text


def view_query(view: Table, dialect: str) -> exp.Query | None:
    """The tree of a view's query; None where nothing is known of it, or it does not parse."""
    return _tree(view.definition, dialect) if view.definition else None


def schemas_read(tree: exp.Expr, catalog: Catalog) -> frozenset[str]:
    """The schemas that a query names, or a view that it reads, or one that this view reads …"""
    return frozenset(table.db for table in _tables(tree, catalog) if table.db)


def _tables(tree: exp.Expr, catalog: Catalog) -> Iterator[exp.Table]:
    trees, seen = [tree], set[tuple[str, str]]()
    while trees:
        for table in trees.pop().find_all(exp.Table):
            yield table
            for view in catalog.meant(table.name, table.db):
                if view.kind != "view" or (view.schema, view.name) in seen:
                    continue
                seen.add((view.schema, view.name))
                if (query := view_query(view, catalog.dialect)) is not None:
                    trees.append(query)


@lru_cache(maxsize=256)
def _tree(definition: str, dialect: str) -> exp.Query | None:
    """From the text of the query, or of the statement that made the view."""
    tree = parse_text(definition, dialect)
    if isinstance(tree, exp.Create):
        tree = tree.expression
    return tree if isinstance(tree, exp.Query) and not isinstance(tree, exp.Table) else None
