"""A query whose columns are called by other names, by position."""

from collections.abc import Sequence

from sqlglot import exp

from modularsql.sql.dialects import dialect_of
from modularsql.sql.parse import Unparsed, parse_text


def cte(name: str, columns: Sequence[str], body: str, dialect: str) -> str:
    """The definition of a CTE with these columns; `body` is the query in its parentheses.

    Where the dialect takes no list of columns (BigQuery), an empty query before it gives the
    names: the first branch of a set operation does.
    """
    if dialect_of(dialect).cte_column_names:
        return f"{name}({', '.join(columns)}) AS {body}"
    nothing = ", ".join(f"NULL AS {column}" for column in columns)
    return f"{name} AS (SELECT {nothing} FROM (SELECT 1 AS o) AS o WHERE FALSE UNION ALL {body})"


def table_alias(name: str, dialect: str) -> str:
    """What calls the table or derived table before it `name`: ` AS name`, in Oracle ` name`."""
    return f" AS {name}" if dialect_of(dialect).table_alias_takes_as else f" {name}"


def embeddable(sql: str, dialect: str) -> tuple[list[str], str]:
    """CTEs that have to stand before `sql`, and `sql` as it may stand in a CTE or derived table.

    As it is, but for dialects that take no WITH, OPTION or order there (SQL Server; an order that
    settles which rows there are is taken).
    """
    if dialect_of(dialect).embeds_any:
        return [], sql
    tree = parse_text(sql, dialect)
    if isinstance(tree, Unparsed):
        return [], sql
    if not any(tree.args.get(settles) for settles in ("limit", "offset")):
        tree.set("order", None)
    with_ = tree.args.get("with_")
    before = with_.expressions if isinstance(with_, exp.With) else []
    for no_part in ("with_", "options"):
        tree.set(no_part, None)
    return [definition.sql(dialect=dialect) for definition in before], tree.sql(dialect=dialect)
