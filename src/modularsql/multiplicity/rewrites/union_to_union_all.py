"""UNION below an aggregate becomes UNION ALL, so that equal rows of different things count."""

from itertools import pairwise

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
        (token, behind)
        for token, behind in pairwise(statement.tokens)
        if token.token_type == TokenType.UNION and (before or 0) < token.start < (after or 0)
    ]
    if len(words) != 1:
        return Declined(reason="its UNION was not found in the text")
    word, behind = words[0]
    last = behind if behind.token_type == TokenType.DISTINCT else word
    text = statement.text[: word.end + 1] + " ALL" + statement.text[last.end + 1 :]
    return Edit(text, Promise.MORE, Evidence.OBSERVED)
