"""A sort that puts NULLs on top of what LIMIT keeps."""

from sqlglot import exp

from modularsql.multiplicity.model import Block
from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case, base_column
from modularsql.sql.dialects import dialect_of


def null_order(case: Case) -> str | None:
    """The column that a LIMIT ranks by holds NULLs, and these come first."""
    for block in case.blocks():
        select = block.select
        order = select.args.get("order")
        if order is None or not select.args.get("limit") or not order.expressions:
            continue
        first = order.expressions[0]
        if not isinstance(first, exp.Ordered) or not _on_top(first, case.catalog.dialect):
            continue
        column = _meant(first.this, block)
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


def _meant(node: exp.Expr, block: Block) -> exp.Expr:
    """What an ORDER BY names: an output by its alias or its position, else itself."""
    outputs: list[exp.Expr] = block.select.expressions
    if isinstance(node, exp.Column) and not node.table:
        named = (one for one in outputs if isinstance(one, exp.Alias))
        same = (one for one in named if one.alias.casefold() == node.name.casefold())
        return next((one.unalias() for one in same), node)
    if isinstance(node, exp.Literal) and node.name.isdigit():
        place = int(node.name)
        return outputs[place - 1].unalias() if 0 < place <= len(outputs) else node
    return node


def _on_top(ordered: exp.Ordered, dialect: str) -> bool:
    nulls_first = ordered.args.get("nulls_first")
    if nulls_first is not None:
        return bool(nulls_first)
    on_top = "large" if ordered.args.get("desc") else "small"
    return dialect_of(dialect).null_sorts == on_top


def _holds_null(block: Block, node: exp.Expr, case: Case) -> bool:
    found = base_column(block, node)
    if found is None:
        return False
    table, column = found
    select = exp.select("1").from_(exp.table_(table.name, quoted=True))
    return bool(case.any_row(select.where(exp.column(column.name, quoted=True).is_(exp.null()))))
