"""A sort that puts NULLs on top of what LIMIT keeps."""

from sqlglot import exp

from modularsql.multiplicity.measure import bare, with_definitions
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case, base_column
from modularsql.sql.order_keys import meant, puts_null_first


def null_order(case: Case) -> str | None:
    """The column that a LIMIT ranks by holds NULLs, and these come first."""
    for block in case.blocks():
        select = block.select
        order = select.args.get("order")
        if order is None or not select.args.get("limit") or not order.expressions:
            continue
        first = order.expressions[0]
        if not isinstance(first, exp.Ordered) or not puts_null_first(first, case.catalog.dialect):
            continue
        column = meant(first.this, select)
        found = base_column(block, column)
        if found is None or not found[1].nullable:
            continue
        attribute = block.columns[id(column.unnest())][2]
        if attribute & block.rows.not_null or not _holds_null(block, column, case):
            continue
        return (
            f"The ordering column {text(column)} holds NULLs, and they come first here. "
            f"Add {text(column)} IS NOT NULL to the WHERE clause."
        )
    return None


def _holds_null(block: Block, column: exp.Expr, case: Case) -> bool:
    """Whether a row that FROM and WHERE let through has NULL there."""
    if case.query is None or block.correlated:
        return False
    rows = bare(block.select, [exp.Literal.number(1)])
    with_definitions(rows, case.query)
    return bool(case.any_row(rows.where(column.unnest().copy().is_(exp.null()), copy=False)))
