"""A join whose condition equates no columns, or not those that the schema declares."""

from collections.abc import Iterator
from itertools import takewhile

from sqlglot import exp

from modularsql.multiplicity.columns import conjuncts
from modularsql.multiplicity.model import Block, Source
from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case

Pair = tuple[tuple[int, str], tuple[int, str]]
"""Two columns that are equated: (source, name) of each."""


def join(case: Case) -> str | None:
    """The first ON that equates no column with one of another table, or passes by the only key
    between the two tables.

    `a JOIN b JOIN c ON …` may say all at its end, and WHERE may say what ON does not.
    """
    for block in case.blocks():
        pairs = list(_pairs(block))
        for source in block.sources:
            on = source.join.args.get("on") if source.join is not None else None
            if on is None or isinstance(on, exp.Boolean):
                continue
            mine = [pair for pair in pairs if id(source) in (pair[0][0], pair[1][0])]
            how = f"The join to {_called(source)} by {text(on)}"
            if not mine:
                return f"{how} equates no two columns. {_advice(source, block)}"
            if (other := _passed_by(source, block, mine)) is not None:
                return (
                    f"{how} does not follow the schema, which declares {other}. Join by that, "
                    "unless the question asks for the other."
                )
    return None


def _called(source: Source) -> str:
    return str(source.node.alias_or_name)


def _pairs(block: Block) -> Iterator[Pair]:
    """Columns of two sources that ON or WHERE equates."""
    places = [s.join.args.get("on") for s in block.sources if s.join is not None]
    where = block.select.args.get("where")
    places.append(where.this if where is not None else None)
    for place in places:
        for part in conjuncts(place) if place is not None else ():
            if isinstance(part, exp.EQ | exp.NullSafeEQ):
                yield from _equated(part, block)


def _equated(part: exp.Expr, block: Block) -> Iterator[Pair]:
    sides = [
        [(id(f[0]), f[1].casefold()) for c in s.find_all(exp.Column) if (f := _found(c, block))]
        for s in (part.this, part.expression)
    ]
    for one in sides[0]:
        for other in sides[1]:
            if one[0] != other[0]:
                yield one, other


def _found(column: exp.Expr, block: Block) -> tuple[Source, str] | None:
    found = block.columns.get(id(column))
    return (found[0], found[1]) if found is not None else None


def _keys(one: Source, other: Source) -> Iterator[tuple[str, set[Pair]]]:
    """Declared keys between two sources: in words, and as the pairs that follow it."""
    for child, parent in ((one, other), (other, one)):
        if child.table is None or parent.table is None:
            continue
        for key in child.table.foreign_keys:
            if key.refers_to(parent.table):
                pairs = list(zip(key.columns, key.target_columns, strict=False))
                words = " and ".join(
                    f"{_called(child)}.{a} = {_called(parent)}.{b}" for a, b in pairs
                )
                ends = [((id(child), a.casefold()), (id(parent), b.casefold())) for a, b in pairs]
                yield words, {*ends, *((b, a) for a, b in ends)}


def _advice(source: Source, block: Block) -> str:
    others = (other for other in block.sources if other is not source)
    declared = next((words for other in others for words, _ in _keys(source, other)), None)
    if declared is None:
        return "Join by columns of both tables that mean the same thing."
    return f"The schema declares {declared}: join by that."


def _passed_by(source: Source, block: Block, pairs: list[Pair]) -> str | None:
    """The key that two tables declare, where they are joined by something else.

    Two columns of the same name, or that refer to one and the same third table, are a join that
    people mean.
    """
    for other in takewhile(lambda one: one is not source, block.sources):
        between = [p for p in pairs if {p[0][0], p[1][0]} == {id(source), id(other)}]
        keys = list(_keys(source, other)) if between else []
        follows = any(pair in ends for pair in between for _, ends in keys)
        if keys and not follows and not any(a[1] == b[1] for a, b in between):
            return keys[0][0]
    return None
