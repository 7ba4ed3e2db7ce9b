"""x NOT IN (SELECT y …) becomes NOT EXISTS, which one NULL among the y does not undo."""

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import (
    Edit,
    Promise,
    Rewritten,
    closing,
    first_place,
    free_name,
    index_at,
)
from modularsql.sql.dialects import dialect_of
from modularsql.sql.named import cte, table_alias
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def not_in_to_not_exists(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """The same rows where the subquery holds no NULL; the intended ones where it does.

    The subquery stays as it is, inside a derived table: its names cannot meet those around it.
    """
    asked = issue.node.find(exp.In)
    column = asked.this if asked is not None else None
    if not isinstance(issue.node, exp.Not) or not isinstance(column, exp.Column):
        return Declined(reason="it is no NOT IN on a column")
    start = first_place(column)
    at = None if start is None else index_at(statement, start)
    if at is None:
        return Declined(reason="its place in the text is not known")
    tokens = statement.tokens
    word = next((i for i in range(at, len(tokens)) if tokens[i].token_type == TokenType.NOT), None)
    if word is None or [t.token_type for t in tokens[word : word + 3]] != [
        TokenType.NOT,
        TokenType.IN,
        TokenType.L_PAREN,
    ]:
        return Declined(reason="it is not written as NOT IN (…)")
    close = closing(tokens, word + 2)
    if close is None:
        return Declined(reason="its place in the text is not known")
    outer = statement.text[tokens[at].start : tokens[word - 1].end + 1]
    inner = statement.text[tokens[word + 2].start : tokens[close].end + 1]
    alias = free_name(statement, "q", "q1", "q2", "q_not_in")
    written = (
        f"({outer} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {_named(inner, alias, dialect)} "
        f"WHERE {alias}.v = {_qualified(outer, column, issue, dialect)}))"
    )
    text = statement.text[: tokens[at].start] + written + statement.text[tokens[close].end + 1 :]
    return Edit(text, Promise.MORE)


def _named(inner: str, alias: str, dialect: str) -> str:
    """The subquery as a table with one column `v`."""
    called = table_alias(alias, dialect)
    if not dialect_of(dialect).derived_column_names:  # a CTE names them
        return f"(WITH {cte(alias, ['v'], inner, dialect)} SELECT v FROM {alias}){called}"
    return f"{inner}{called}(v)"


def _qualified(outer: str, column: exp.Column, issue: Issue, dialect: str) -> str:
    """The outer column, so that no name inside can be taken for it."""
    found = issue.block.columns.get(id(column))
    if column.table or found is None:
        return outer
    return f"{found[0].qualifier.sql(dialect=dialect)}.{outer}"
