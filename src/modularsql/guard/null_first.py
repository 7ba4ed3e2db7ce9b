"""NULL on top of what LIMIT keeps: `ORDER BY ms LIMIT 1` gives the row without a value.

Said only where it was seen: a row that was kept has NULL in the first key, one with a value was
left out, and nobody asked for that (no NULLS FIRST, no `ms IS NULL`).
"""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from modularsql.guard import findings as say
from modularsql.guard.session import Purse
from modularsql.multiplicity.columns import is_volatile
from modularsql.multiplicity.model import Query
from modularsql.multiplicity.words import text
from modularsql.records import Finding
from modularsql.rows import Rows
from modularsql.sql.order_keys import (
    key_places,
    meant,
    puts_null_first,
    says_null_first,
    with_keys,
)
from modularsql.sql.outermost import outermost, select_place
from modularsql.sql.parse import begins_at
from modularsql.sql.statement import Statement


def null_first(statement: Statement, query: Query, rows: Rows, purse: Purse) -> Finding | None:
    """The finding, where there is one; probes run only where the first key may hold NULL."""
    dialect = purse.session.engine.dialect
    block = outermost(query.node)
    key = None if block is None else _suspect(block, dialect)
    if block is None or key is None or not rows.rows or rows.truncated:
        return None
    place = key_places(block, rows.columns)[0]
    if place is None and _is_never_null(key.this, query):
        return None
    values = _values(block, place, rows, purse)
    if not values or values[0] is not None:  # NULL comes first, or not at all
        return None
    given = sum(value is not None for value in values)
    if not _leaves_values_out(block, rows.columns, given, purse):
        return None
    if says_null_first(key, statement.text, dialect):
        return None
    at = begins_at(key) or select_place(statement)
    return say.null_sorts_first(
        text(_sorted_by(key, block)),
        _clause(key, block),
        (len(values) - given, len(values)),
        statement.place(at),
    )


def _suspect(block: exp.Expr, dialect: str) -> exp.Ordered | None:
    """The first key of a block that is cut, where NULL comes first and is not asked for."""
    order = block.args.get("order")
    if order is None or not block.args.get("limit") or is_volatile(block):
        return None
    key = order.expressions[0]
    if not isinstance(key, exp.Ordered) or not puts_null_first(key, dialect):
        return None
    return None if _asks_for_null(block, _sorted_by(key, block)) else key


def _sorted_by(key: exp.Ordered, block: exp.Expr) -> exp.Expr:
    return meant(key.this, block) if isinstance(block, exp.Select) else key.this


def _asks_for_null(block: exp.Expr, key: exp.Expr) -> bool:
    """Whether the query speaks of the key's NULL, other than to leave it out."""
    return any(
        isinstance(found.expression, exp.Null)
        and _is_same(found.this.unnest(), key.unnest())
        and not isinstance(_around(found), exp.Not)
        for found in block.find_all(exp.Is, exp.NullSafeEQ)
    )


def _around(node: exp.Expr) -> exp.Expr | None:
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    return parent


def _is_same(one: exp.Expr, other: exp.Expr) -> bool:
    if isinstance(one, exp.Column) and isinstance(other, exp.Column):
        return bool(one.name.casefold() == other.name.casefold())
    return one == other


def _is_never_null(key: exp.Expr, query: Query) -> bool:
    """Whether the schema or the query itself keeps NULL out of a key that is not selected."""
    key, block = key.unnest(), query.block
    if isinstance(key, exp.Count | exp.Is):
        return True
    home = None if block is None else block.columns.get(id(key))
    return block is not None and home is not None and bool(home[2] & block.rows.not_null)


def _values(block: exp.Expr, place: int | None, rows: Rows, purse: Purse) -> Sequence[Any]:
    """The first key of each row that was kept; empty where that cannot be told."""
    if place is not None:
        return [row[place] for row in rows.rows]
    shown = with_keys(block, rows.columns)
    again = None if shown is None else purse.run(shown)
    if again is None or len(again.rows) != len(rows.rows):
        return ()  # other rows: the data has changed, or a part of the query cannot be written
    return [row[len(rows.columns)] for row in again.rows]


def _leaves_values_out(block: exp.Expr, columns: Sequence[str], given: int, purse: Purse) -> bool:
    """Whether there are more rows with a value than the `given` that were kept.

    Asked from the other end of the order, where NULL comes last.
    """
    other = with_keys(block, columns)
    if other is None:
        return False
    key = other.args["order"].expressions[0]
    key.set("desc", not key.args.get("desc"))
    key.set("nulls_first", False)
    other.set("offset", None)
    other.set("limit", exp.Limit(expression=exp.Literal.number(given + 1)))
    place = key_places(block, columns)[0]
    found = purse.run(other)
    at = len(columns) if place is None else place
    return found is not None and len(found.rows) > given and found.rows[given][at] is not None


def _clause(key: exp.Ordered, block: exp.Expr) -> str:
    """Where a condition on the key can stand; empty where there is no one place."""
    meaning = _sorted_by(key, block)
    if not isinstance(block, exp.Select) or meaning.find(exp.Window):
        return ""
    return " in HAVING" if meaning.find(exp.AggFunc) else " in WHERE"
