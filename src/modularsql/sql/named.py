"""A query whose columns are called by other names, by position."""

from collections.abc import Sequence

from modularsql.sql.dialects import dialect_of


def cte(name: str, columns: Sequence[str], body: str, dialect: str) -> str:
    """The definition of a CTE with these columns; `body` is the query in its parentheses.

    Where the dialect takes no list of columns (BigQuery), an empty query before it gives the
    names: the first branch of a set operation does.
    """
    if dialect_of(dialect).cte_column_names:
        return f"{name}({', '.join(columns)}) AS {body}"
    nothing = ", ".join(f"NULL AS {column}" for column in columns)
    return f"{name} AS (SELECT {nothing} FROM (SELECT 1 AS o) AS o WHERE FALSE UNION ALL {body})"
