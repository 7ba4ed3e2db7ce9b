"""No rows, although the tables hold some."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.model import Block
from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case, base_column
from modularsql.rows import Rows


def result(case: Case) -> str | None:
    """The first condition on a value that its column does not hold; else that nothing matches."""
    if not isinstance(case.outcome, Rows) or case.outcome.rows or case.query is None:
        return None
    for block in case.blocks():
        for node, column, value in _values(block):
            table = base_column(block, column)
            if table is None:
                continue
            select = exp.select("1").from_(exp.table_(table[0].name, quoted=True))
            same = exp.column(table[1].name, quoted=True).eq(value.copy())
            if case.any_row(select.where(same)) is False:
                return (
                    f"The query returns no rows: no row of {table[0].name} meets {text(node)}. "
                    "Spell the value as the data does (see the schema), or look for it in "
                    "another column."
                )
    return None


def _values(block: Block) -> Iterator[tuple[exp.Expr, exp.Expr, exp.Expr]]:
    """Comparisons of a column with a literal in WHERE and ON: the node, the column, the literal."""
    places = [block.select.args.get("where"), *(block.select.args.get("joins") or ())]
    for place in places:
        for node in place.find_all(exp.EQ) if place is not None else ():
            if node.find_ancestor(exp.Select) is not block.select:
                continue
            for one, other in ((node.this, node.expression), (node.expression, node.this)):
                if isinstance(one.unnest(), exp.Column) and isinstance(other.unnest(), exp.Literal):
                    yield node, one, other
