"""A query out of a text, as every stage of the pipeline reads it."""

from sqlglot import exp

from modularsql.sql.parse import is_query
from modularsql.sql.statement import Statement, read_statement

MOST_CHARS = 100_000
"""A reply is shorter; a longer text is not parsed."""


def read_query(text: str, dialect: str, most: int = MOST_CHARS) -> Statement | None:
    """The one query in a text; None for prose, other statements, and what does not parse."""
    found = read_statement(text, dialect, most)
    return found if isinstance(found, Statement) and tree_of(found) is not None else None


def read_tree(text: str, dialect: str, most: int = MOST_CHARS) -> exp.Expr | None:
    """The tree of that query."""
    return tree_of(read_query(text, dialect, most))


def tree_of(statement: Statement | None) -> exp.Expr | None:
    """The tree of a query, None of anything else."""
    tree = statement.tree if statement is not None else None
    return tree if isinstance(tree, exp.Expr) and is_query(tree) else None
