"""COUNT of a repeated key becomes COUNT(DISTINCT key)."""

from sqlglot import exp

from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import call
from modularsql.sql.outermost import Declined, Edited
from modularsql.sql.statement import Statement


def count_distinct(statement: Statement, issue: Issue, dialect: str) -> Edited:
    """Count each row of the measured table once.

    Only where the counted column is a key of its table, so that equal values are one row.
    Promises the number of its rows in each group.
    """
    node = issue.node
    if not isinstance(node, exp.Count) or not isinstance(node.this, exp.Column):
        return Declined(reason="it counts no single column")
    found = issue.block.columns.get(id(node.this))
    if found is None or not found[0].relation.is_key(found[2]):
        return Declined(reason="the counted column is no key: equal values may be different rows")
    place = call(statement, node)
    if place is None:
        return Declined(reason="its place in the text is not known")
    at = statement.tokens[place[0]].end + 1
    return statement.text[:at] + "DISTINCT " + statement.text[at:]
