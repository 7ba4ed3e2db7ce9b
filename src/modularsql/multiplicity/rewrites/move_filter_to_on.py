"""A condition of WHERE that undoes a LEFT JOIN moves into its ON."""

from modularsql.multiplicity.columns import is_volatile
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.conditions import Placed, conditions, drop
from modularsql.multiplicity.rewrites.edits import (
    Cut,
    Edit,
    Promise,
    Rewritten,
    has_positions,
    spliced,
)
from modularsql.sql.clauses import Clauses, Span, clauses, leftovers
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def move_filter_to_on(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Keep the rows without a match. Promises no row less.

    It is another answer, and an inner join may be meant: never more than a suggestion.
    """
    block = issue.block
    parts = clauses(statement)
    if parts is None or len(parts.items) != len(block.sources):
        return Declined(reason="its FROM clause could not be taken apart")
    placed = conditions(statement, block, parts, dialect)
    if placed is None or is_volatile(block.select) or has_positions(block.select):
        return Declined(reason="its conditions could not be taken apart")
    undone = [i for i, source in enumerate(block.sources) if source.undone]
    moved = [c for c in placed[None] if c.sources & set(undone)]
    if len(undone) != 1 or not moved:
        return Declined(reason="no condition of WHERE undoes it alone")
    number = undone[0]
    if any(max(c.sources) > number for c in moved) or not placed[number]:
        return Declined(reason="the condition compares it with a table that is joined later")
    if parts.items[number].using or any(
        number in c.sources for later in range(number + 1, len(parts.items)) for c in placed[later]
    ):
        return Declined(reason="USING, or a later join, needs its rows as well")
    text = " AND ".join(c.text for c in moved)
    end = parts.items[number].whole.end
    cuts: list[Cut] = [(end, end, f" AND {text}"), *_without(statement, parts, moved, placed[None])]
    return Edit(
        spliced(statement.text, [*_bracketed(placed[number]), *cuts]),
        Promise.MORE,
        doubt="an inner join may be meant",
    )


def _bracketed(on: list[Placed]) -> list[Cut]:
    """Parentheses around a condition with OR, to stand beside AND."""
    if not on[0].text.startswith("(") or len(on) > 1:
        return []
    span = on[0].span
    return [(span.start, span.start, "("), (span.end, span.end, ")")]


def _without(
    statement: Statement, parts: Clauses, moved: list[Placed], where: list[Placed]
) -> list[Cut]:
    """WHERE without these conditions, or no WHERE at all; comments stay."""
    if len(moved) < len(where) or parts.where is None:
        return drop(statement, moved, where)
    start = parts.items[-1].whole.end
    left = leftovers(statement, Span(start, parts.end), [c.span for c in where])
    return [(start, parts.end, " " + left.rstrip(" ") if left else "")]
