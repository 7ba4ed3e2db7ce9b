"""When two SQL texts are the same query: the same tree, whatever the layout and the case."""

from modularsql.sql.parse import Unparsed
from modularsql.sql.statement import Statement, read_statement

_MOST_CHARS = 100_000


def same_sql(sql: str, dialect: str) -> str:
    """A key that equal trees share; the text itself where it does not parse."""
    statement = read_statement(sql, dialect, _MOST_CHARS)
    if not isinstance(statement, Statement) or isinstance(statement.tree, Unparsed):
        return sql
    return statement.tree.sql(dialect=dialect, comments=False, normalize=True)
