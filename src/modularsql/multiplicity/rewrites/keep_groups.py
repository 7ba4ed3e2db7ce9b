"""An inner join that leaves out groups with nothing to count becomes an outer join."""

from sqlglot import exp

from modularsql.multiplicity.aggregates import within
from modularsql.multiplicity.model import JoinKind
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import (
    Cut,
    Edit,
    Promise,
    Rewritten,
    call,
    column,
    never_null,
    spliced,
)
from modularsql.sql.clauses import clauses
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def keep_groups(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Every row of the grouped table gets its group, with 0 where there is nothing to count.

    Promises no group less. Groups without a match may be left out on purpose, so it is never more
    than a suggestion.
    """
    block, parts = issue.block, clauses(statement)
    if parts is None or len(parts.items) != 2 or len(block.sources) != 2:
        return Declined(reason="its FROM clause could not be taken apart")
    fixed = block.rows.closure(within(block))
    parent = next((i for i, s in enumerate(block.sources) if not s.relation.ids & ~fixed), None)
    lead = parts.items[1].lead
    if parent is None or lead is None or block.sources[1].kind != JoinKind.INNER:
        return Declined(reason="it has no inner join to what it counts")
    if not parts.items[1].conditions:
        return Declined(reason="its join is written without ON or USING")
    side = "LEFT JOIN" if parent == 0 else "RIGHT JOIN"
    child = block.sources[1 - parent]
    key = never_null(child)
    cuts: list[Cut] = [(lead.start, lead.end, side)]
    for aggregate in block.aggregates:
        if aggregate.argument is not None:
            continue
        place = call(statement, aggregate.node)
        if key is None or place is None or not isinstance(aggregate.node, exp.Count):
            return Declined(reason="which column of the joined table to count is not clear")
        start, end = statement.tokens[place[0]].end + 1, statement.tokens[place[1]].start
        cuts.append((start, end, column(child, key, dialect)))
    doubt = "groups without a match may be left out on purpose"
    return Edit(spliced(statement.text, cuts), Promise.MORE, doubt=doubt)
