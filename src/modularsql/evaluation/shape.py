"""What the outermost block of a query says about its rows: order, keys, DISTINCT, LIMIT, joins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from modularsql.sql.order_keys import key_places
from modularsql.sql.outermost import is_cut, outermost
from modularsql.sql.parse import Unparsed, parse_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The outermost query block.

    `keys` are the ORDER BY keys: for each the place (0-based) of the output column it is, or
    None where it is not selected as it stands. `limit` and `offset`: None
    where there is none, or it is no plain number (no OFFSET is 0). `extremes`: the places of MIN
    and MAX of a plain column. `collated`: a key names a collation.
    `unrepeated`: the block says that each row shall
    come once (DISTINCT, a set operation without ALL) or each group (GROUP BY).
    """

    ordered: bool
    keys: tuple[int | None, ...]
    collated: bool
    unrepeated: bool
    cut: bool
    limit: int | None
    offset: int | None
    extremes: tuple[int, ...]
    joined: bool

    @property
    def visible_keys(self) -> tuple[int, ...]:
        """The leading keys whose values stand in the rows."""
        places = []
        for place in self.keys:
            if place is None:
                break
            places.append(place)
        return tuple(places)


@lru_cache(maxsize=64)
def read_block(sql: str, dialect: str) -> exp.Expr | None:
    """The outermost block of a query, not to be changed; None where it is no query we can read.

    Kept, since gold is looked at once for each of its predictions.
    """
    tree = parse_text(sql.strip().rstrip("; \n"), dialect)
    return None if isinstance(tree, Unparsed) else outermost(tree)


def read_shape(sql: str, dialect: str, columns: Sequence[str]) -> Shape | None:
    """The shape of `sql`, whose result has these columns; None where it is no query we can read."""
    block = read_block(sql, dialect)
    if block is None:
        return None
    order = block.args.get("order")
    return Shape(
        ordered=order is not None,
        keys=tuple(key_places(block, columns)) if order is not None else (),
        collated=order is not None and order.find(exp.Collate) is not None,
        unrepeated=any(block.args.get(name) for name in ("distinct", "group")),
        cut=is_cut(block),
        limit=_number(block.args.get("limit")),
        offset=_number(block.args["offset"]) if block.args.get("offset") else 0,
        extremes=tuple(_extremes(block, columns)),
        joined=isinstance(block, exp.Select) and bool(block.args.get("joins")),
    )


def _number(clause: exp.Expr | None) -> int | None:
    """The number of a LIMIT or OFFSET; None where it is no plain number."""
    number = None if clause is None else clause.expression
    return int(number.this) if isinstance(number, exp.Literal) and number.is_int else None


def _extremes(block: exp.Expr, columns: Sequence[str]) -> Iterator[int]:
    """The places of MIN and MAX of a column as it is stored."""
    items = block.expressions if isinstance(block, exp.Select) else []
    if len(items) == len(columns):
        for at, item in enumerate(items):
            value = item.unalias()
            if isinstance(value, exp.Min | exp.Max) and isinstance(value.this, exp.Column):
                yield at
