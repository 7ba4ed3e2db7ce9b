"""DISTINCT over the first rows, where it stood before LIMIT chose them."""

from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import Edit, Promise, Rewritten, free_name
from modularsql.sql import outermost
from modularsql.sql.clauses import clauses
from modularsql.sql.named import table_alias
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def distinct_after_limit(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Copies are dropped among the rows that LIMIT leaves. Another answer: only a suggestion."""
    at = outermost.distinct_place(statement)
    parts = clauses(statement)
    names = [output.name.casefold() for output in issue.block.outputs]
    if at is None or parts is None or len(set(names)) < len(names):
        return Declined(reason="it is no plain SELECT DISTINCT")
    text = statement.text
    rows = text[parts.select.start : at] + text[at + len("DISTINCT") : parts.stop].lstrip(" ")
    called = table_alias(free_name(statement, "q", "first", "q_rows"), dialect)
    wrapped = f"SELECT DISTINCT * FROM ({rows}){called}"
    return Edit(
        text[: parts.select.start] + wrapped + text[parts.stop :],
        Promise.ANSWER,
        doubt="the first rows may be wanted, or the first values",
    )
