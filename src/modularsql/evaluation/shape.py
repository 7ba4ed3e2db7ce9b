"""What the outermost block of a query says about its rows: order, keys, DISTINCT, LIMIT, joins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

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


def key_places(block: exp.Expr, columns: Sequence[str]) -> list[int | None]:
    """For each ORDER BY key of `block` the place of the output column that it is, or None."""
    order = block.args.get("order")
    return [] if order is None else [_place(key.this, block, columns) for key in order.expressions]


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


def _place(key: exp.Expr, block: exp.Expr, columns: Sequence[str]) -> int | None:
    while isinstance(key, exp.Paren):
        key = key.this
    if isinstance(key, exp.Literal) and key.is_int:
        place = int(key.this) - 1
        return place if 0 <= place < len(columns) else None
    if not isinstance(block, exp.Select) or any(item.is_star for item in block.expressions):
        called = [at for at, name in enumerate(columns) if _same(key.name, name)]
        return called[0] if isinstance(key, exp.Column) and len(called) == 1 else None
    items = block.expressions
    if len(items) != len(columns):
        return None
    aliased = [at for at, item in enumerate(items) if _is_named(key, item.alias)]
    places = aliased or [at for at, item in enumerate(items) if _is_item(key, item.unalias())]
    return places[0] if places else None


def _is_named(key: exp.Expr, name: str) -> bool:
    """Whether a key without a table is this name: an output's name goes before a column's."""
    return isinstance(key, exp.Column) and not key.table and _same(key.name, name)


def _is_item(key: exp.Expr, item: exp.Expr) -> bool:
    if item == key:
        return True
    if not (isinstance(key, exp.Column) and isinstance(item, exp.Column)):
        return False
    # A name with its table and without: one scope holds one such column, or the query fails.
    tables = key.table and item.table
    return _same(key.name, item.name) and (not tables or _same(key.table, item.table))


def _same(name: str, other: str) -> bool:
    return bool(name.casefold() == other.casefold())
