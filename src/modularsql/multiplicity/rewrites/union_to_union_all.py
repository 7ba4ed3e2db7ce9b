"""UNION below an aggregate becomes UNION ALL, so that equal rows of different things count."""

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import (
    Edit,
    Promise,
    Rewritten,
    first_place,
    last_place,
)
from modularsql.records import Evidence
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def union_to_union_all(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Keep every row of both branches. Promises no row less than before."""
    source = issue.block.sources[0] if len(issue.block.sources) == 1 else None
    node = source.query.node if source is not None and source.query is not None else None
    if not isinstance(node, exp.Union) or isinstance(node.this, exp.SetOperation):
        return Declined(reason="the aggregate is not over a single UNION of two queries")
    before, after = last_place(node.this), first_place(node.expression)
    words = [
        token
        for token in statement.tokens
        if token.token_type == TokenType.UNION and (before or 0) < token.start < (after or 0)
    ]
    if len(words) != 1:
        return Declined(reason="its UNION was not found in the text")
    at = words[0].end + 1
    text = statement.text[:at] + " ALL" + statement.text[at:]
    return Edit(text, Promise.MORE, Evidence.OBSERVED)
