"""UNION ALL becomes UNION, where a branch returns rows that another returns too."""

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import Edit, Promise, Rewritten
from modularsql.sql.dialects import dialect_of
from modularsql.sql.outermost import Declined
from modularsql.sql.parse import Unparsed, tokenize
from modularsql.sql.statement import Statement


def union_all_to_union(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Take ALL from before the branch; DISTINCT stands there where a bare UNION is an error.

    Promises the same set of rows. UNION also drops copies that one branch holds by itself, so it
    is another reading.
    """
    around = issue.block.select.parent
    tokens = tokenize(statement.text, dialect)
    if not isinstance(around, exp.Union) or isinstance(tokens, Unparsed) or not statement.tokens:
        return Declined(reason="it is no branch of a UNION ALL")
    if isinstance(around.this, exp.Union):
        return Declined(reason="it is one of several, and UNION would go through them all")
    before = [token for token in tokens if token.start < statement.tokens[0].start]
    while before and before[-1].token_type == TokenType.L_PAREN:
        before.pop()
    if [token.token_type for token in before[-2:]] != [TokenType.UNION, TokenType.ALL]:
        return Declined(reason="its UNION ALL was not found in the text")
    start, end = before[-2].end + 1, before[-1].end + 1
    if statement.text[start : before[-1].start].strip():
        start = before[-1].start
    if dialect_of(dialect).bare_union:
        word = ""
    else:
        start, word = before[-1].start, "DISTINCT"
    text = statement.text[:start] + word + statement.text[end:]
    return Edit(text, Promise.SET, doubt="somebody wrote ALL, and rows may be meant to come twice")
