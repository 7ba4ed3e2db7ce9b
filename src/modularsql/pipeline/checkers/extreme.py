"""BIRD's habit: one row for the highest or the lowest (profile `bird`)."""

from sqlglot import exp

from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case


def extreme(case: Case) -> str | None:
    """`x = (SELECT MAX(x) …)` returns all that tie; BIRD's gold sorts and takes one."""
    query = case.query
    if query is None or query.block is None:
        return None
    where = query.block.select.args.get("where")
    for node in where.find_all(exp.EQ) if where is not None else ():
        for one, other in ((node.this, node.expression), (node.expression, node.this)):
            if not isinstance(one.unnest(), exp.Column) or not isinstance(other, exp.Subquery):
                continue
            inner = other.this
            outputs = inner.expressions if isinstance(inner, exp.Select) else []
            if len(outputs) == 1 and isinstance(outputs[0].unalias(), exp.Max | exp.Min):
                order = "DESC" if isinstance(outputs[0].unalias(), exp.Max) else "ASC"
                return (
                    f"{text(node)} returns every row that ties. Here one is expected: "
                    f"ORDER BY {text(one)} {order} LIMIT 1."
                )
    return None
