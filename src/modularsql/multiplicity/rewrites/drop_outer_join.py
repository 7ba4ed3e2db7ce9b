"""A LEFT JOIN that nothing uses, and that repeats rows, is left out."""

from modularsql.multiplicity.columns import is_volatile
from modularsql.multiplicity.grain import filter_only
from modularsql.multiplicity.model import JoinKind
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.conditions import conditions
from modularsql.multiplicity.rewrites.edits import Cut, Edit, Promise, Rewritten, spliced
from modularsql.multiplicity.rewrites.semi_join import multiplying
from modularsql.sql.clauses import clauses, leftovers
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def drop_outer_join(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """The statement without the multiplying LEFT JOINs. Promises the same rows, each once.

    A LEFT JOIN keeps every row before it, so where its table is used nowhere but in its own ON it
    does nothing but repeat rows.
    """
    block = issue.block
    moved = multiplying(block, issue)
    parts = clauses(statement)
    if not moved or any(s.kind != JoinKind.LEFT or s.lateral for s in moved):
        return Declined(reason="what repeats the rows is no LEFT JOIN")
    if block.is_cut or is_volatile(block.select) or block.select.is_star:
        return Declined(reason="LIMIT, * or chance make its rows depend on the join")
    if any(a.argument is None for a in block.aggregates):
        return Declined(reason="COUNT(*) counts the rows of the join")
    if any(s not in filter_only(block) for s in moved):
        return Declined(reason="its table is used in the result")
    if parts is None or len(parts.items) != len(block.sources):
        return Declined(reason="its FROM clause could not be taken apart")
    placed = conditions(statement, block, parts, dialect)
    gone = {i for i, source in enumerate(block.sources) if source in moved}
    used = [c for n, group in (placed or {}).items() if n not in gone for c in group]
    if placed is None or any(c.sources & gone for c in used):
        return Declined(reason="another condition uses its table")
    cuts: list[Cut] = []
    for number in sorted(gone):
        whole, before = parts.items[number].whole, parts.items[number - 1].whole.end
        left = leftovers(statement, whole)
        start = whole.start if statement.text[before : whole.start].strip() else before
        cuts.append((start, whole.end, " " + left.rstrip(" ") if left else ""))
    return Edit(spliced(statement.text, cuts), Promise.SET)
