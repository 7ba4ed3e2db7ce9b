"""LIMIT and ORDER BY that do not go together."""

from sqlglot import exp

from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case


def order_limit(case: Case) -> str | None:
    """LIMIT without ORDER BY, or an order over an aggregate that is not grouped."""
    for block in case.blocks():
        select = block.select
        order = select.args.get("order")
        if order is None:
            if select.args.get("limit") and not block.is_aggregate and select.parent is None:
                return (
                    "LIMIT without ORDER BY returns whichever rows come first. Order by what the "
                    "question ranks by, or drop LIMIT where it asks for no number of rows."
                )
            continue
        sums = [a for a in order.find_all(exp.AggFunc) if a.find_ancestor(exp.Select) is select]
        if sums and block.group is None and not any(a.find_ancestor(exp.Window) for a in sums):
            return (
                f"ORDER BY {text(sums[0])} without GROUP BY makes one row of the whole table. "
                "Group by what is ranked, or order by the column itself."
            )
    return None
