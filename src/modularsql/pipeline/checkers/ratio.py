"""BIRD's habit: a ratio is a real number (profile `bird`)."""

from sqlglot import exp

from modularsql.multiplicity.model import Block
from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case, base_column
from modularsql.sql.dialects import dialect_of


def ratio(case: Case) -> str | None:
    """A division of whole numbers, which drops the fraction; BIRD's gold casts to REAL."""
    if not dialect_of(case.catalog.dialect).integer_division:
        return None
    for block in case.blocks():
        for node in block.select.find_all(exp.Div):
            if node.find_ancestor(exp.Select) is not block.select:
                continue
            if _is_whole(node.this, block) and _is_whole(node.expression, block):
                return (
                    f"{text(node)} divides whole numbers and drops the fraction. "
                    f"Write CAST({text(node.this.unnest())} AS REAL) / …"
                )
    return None


def _is_whole(node: exp.Expr, block: Block) -> bool:
    """Whether an expression is surely of whole numbers."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        return not node.is_string and node.name.isdigit()
    if isinstance(node, exp.Count):
        return True
    if isinstance(node, exp.Sum | exp.Max | exp.Min | exp.Distinct):
        inner = node.this if node.this is not None else node.expressions[0]
        return _is_whole(inner, block)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul):
        return _is_whole(node.this, block) and _is_whole(node.expression, block)
    if isinstance(node, exp.Case | exp.If):
        return all(_is_whole(value, block) for value in _values(node))
    found = base_column(block, node)
    return found is not None and "INT" in found[1].type.upper()


def _values(node: exp.Expr) -> list[exp.Expr]:
    branches = node.args.get("ifs") or [node]
    values = [branch.args["true"] for branch in branches]
    default = node.args.get("default") or node.args.get("false")
    return values if default is None else [*values, default]
