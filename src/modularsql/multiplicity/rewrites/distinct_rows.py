"""DISTINCT on the outermost SELECT, where a join repeats its rows."""

from modularsql.multiplicity.registry import Issue
from modularsql.sql.outermost import Declined, Edited, add_distinct, outermost
from modularsql.sql.statement import Statement


def distinct_rows(statement: Statement, issue: Issue, dialect: str) -> Edited:
    """The paper's P1 edit, for a finding that names the join. Promises the same set of rows."""
    if outermost(statement.tree) is not issue.block.select:
        return Declined(reason="the repeated rows are those of an inner query")
    return add_distinct(statement, dialect)
