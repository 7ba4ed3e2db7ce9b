"""COUNT(CASE WHEN … THEN x ELSE 0 END) counts every row; without the ELSE it counts the x."""

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import Edit, Promise, Rewritten, call
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def drop_else_zero(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Take the constant ELSE out of a counted CASE. Promises the count of the other branches."""
    place = call(statement, issue.node)
    case = issue.node.find(exp.Case)
    if place is None or case is None or case.args.get("default") is None:
        return Declined(reason="its ELSE was not found in the text")
    inside = statement.tokens[place[0] : place[1]]
    kinds = [token.token_type for token in inside]
    if kinds.count(TokenType.CASE) != 1 or kinds.count(TokenType.ELSE) != 1:
        return Declined(reason="its CASE holds another CASE")
    start = inside[kinds.index(TokenType.ELSE)].start
    end = inside[kinds.index(TokenType.END)].start
    return Edit(statement.text[:start] + statement.text[end:], Promise.GROUPS)
