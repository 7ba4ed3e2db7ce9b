"""The ORDER BY keys of a query block: which output column each is, and where NULL stands in it."""

from collections.abc import Sequence
from typing import cast

from sqlglot import exp

from modularsql.sql.dialects import dialect_of
from modularsql.sql.parse import follow, parse_as_said, path


def key_places(block: exp.Expr, columns: Sequence[str]) -> list[int | None]:
    """For each ORDER BY key of `block` the place of the output column that it is, or None.

    `columns` are the names of what the block returns.
    """
    order = block.args.get("order")
    return [] if order is None else [_place(key.this, block, columns) for key in order.expressions]


def meant(key: exp.Expr, select: exp.Select) -> exp.Expr:
    """What a key sorts by: the output that it names by alias or position, else itself."""
    outputs = select.expressions
    place = _place(key, select, [output.alias_or_name for output in outputs])
    return cast("exp.Expr", key if place is None else outputs[place]).unalias()


def with_keys(block: exp.Expr, columns: Sequence[str]) -> exp.Expr | None:
    """A copy of a block with the keys that it does not select as further columns, in their order.

    None where a further column could change the rows (DISTINCT, a set operation), or where a key
    holds the name of an output, which is another column in the SELECT list.
    """
    places = key_places(block, columns)
    keys = block.args["order"].expressions if places else []
    hidden = [key.this for key, place in zip(keys, places, strict=True) if place is None]
    if hidden and (
        not isinstance(block, exp.Select)
        or block.args.get("distinct")
        or any(_is_ambiguous(column, block) for key in hidden for column in _columns(key))
    ):
        return None
    whole = block.copy()
    for key in hidden:
        whole.append("expressions", key.copy())
    return whole


def puts_null_first(key: exp.Ordered, dialect: str) -> bool:
    """Whether NULL comes before all values: because the key says so, or the dialect has it so."""
    said = key.args.get("nulls_first")
    if said is not None:
        return bool(said)
    on_top = "large" if key.args.get("desc") else "small"
    return dialect_of(dialect).null_sorts == on_top


def says_null_first(key: exp.Ordered, text: str, dialect: str) -> bool:
    """Whether NULLS FIRST is written behind a key of the tree of `text`."""
    same = follow(parse_as_said(text, dialect), path(key))
    return same is not None and bool(same.args.get("nulls_first"))


def _columns(key: exp.Expr) -> list[exp.Column]:
    return list(key.find_all(exp.Column))


def _is_ambiguous(column: exp.Column, block: exp.Select) -> bool:
    """Whether a name without its table is the alias of something else in the SELECT list."""
    if column.table:
        return False
    named = [item.unalias() for item in block.expressions if _same(item.alias, column.name)]
    return any(not isinstance(one, exp.Column) or not _is_item(column, one) for one in named)


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
