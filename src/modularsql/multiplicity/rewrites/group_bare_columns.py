"""Columns beside an aggregate that are not grouped by are added to GROUP BY."""

from sqlglot.tokenizer_core import TokenType

from modularsql.multiplicity.aggregates import within
from modularsql.multiplicity.columns import own_columns
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import Edit, Promise, Rewritten
from modularsql.sql.clauses import clauses
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def group_bare_columns(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """One row for each value of the columns. Promises no group less.

    The row with the largest value, or one row whatever its columns, may be meant just as well.
    """
    block, parts = issue.block, clauses(statement)
    group = parts.after.get(TokenType.GROUP_BY) if parts is not None else None
    if group is None or block.is_regrouped or block.group is None:
        return Declined(reason="it has no GROUP BY to add them to")
    settled = block.rows.closure(within(block))
    aggregated = {id(part) for a in block.aggregates for part in a.node.walk()}
    bare = [
        node.sql(dialect=dialect, comments=False)
        for output in block.outputs
        if not output.attribute & settled
        for node in own_columns(output.expression)
        if id(node) not in aggregated
        and (home := block.columns.get(id(node))) is not None
        and not home[2] & settled
    ]
    if not bare:
        return Declined(reason="no column of its result is bare")
    added = ", ".join(dict.fromkeys(bare))
    return Edit(
        f"{statement.text[: group.end]}, {added}{statement.text[group.end :]}",
        Promise.MORE,
        doubt="the row with the largest value, or any one, may be meant",
    )
