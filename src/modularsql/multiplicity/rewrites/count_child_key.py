"""COUNT(*) after a LEFT JOIN becomes COUNT of the joined table's key, which padding leaves NULL."""

from sqlglot import exp

from modularsql.multiplicity.model import JoinKind
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import (
    Edit,
    Promise,
    Rewritten,
    call,
    column,
    never_null,
)
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def count_child_key(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Count matches instead of rows. Promises the same groups, and 0 for those without a match."""
    node = issue.node
    if not isinstance(node, exp.Count) or not isinstance(node.this, exp.Star | exp.Literal):
        return Declined(reason="it is no COUNT(*)")
    joined = [s for s in issue.block.sources if s.kind == JoinKind.LEFT and s.optional]
    key = never_null(joined[0]) if len(joined) == 1 else None
    place = call(statement, node)
    if key is None or place is None:
        return Declined(reason="which column of the joined table to count is not clear")
    start, end = statement.tokens[place[0]].end + 1, statement.tokens[place[1]].start
    text = statement.text[:start] + column(joined[0], key, dialect) + statement.text[end:]
    return Edit(text, Promise.GROUPS)
