"""MAX or MIN beside a column that is neither grouped nor aggregated."""

from sqlglot import exp

from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case


def max_min(case: Case) -> str | None:
    """`SELECT name, MAX(x) FROM t`: which name that is, most databases do not say."""
    for block in case.blocks():
        if block.group is not None or not block.aggregates:
            continue
        extreme = next((a for a in block.aggregates if isinstance(a.node, exp.Max | exp.Min)), None)
        if extreme is None:
            continue
        inside = {id(c) for a in block.aggregates for c in a.node.find_all(exp.Column)}
        loose = next(
            (
                c
                for output in block.outputs
                for c in output.expression.find_all(exp.Column)
                if id(c) not in inside
                and id(c) in block.columns
                and c.find_ancestor(exp.Select) is block.select
            ),
            None,
        )
        if loose is not None:
            return (
                f"{text(loose)} stands beside {text(extreme.node)} without GROUP BY: whose it is "
                "is not defined, and ties are lost. Compare the column in WHERE with a subquery of "
                f"{text(extreme.node)} to get every row that has it."
            )
    return None
