"""A join whose condition is no equality between columns of the two sides."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.columns import conjuncts
from modularsql.multiplicity.model import Block, Source
from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case


def join(case: Case) -> str | None:
    """The first ON that compares no column with one of another table, and the key that would.

    `a JOIN b JOIN c ON …` may say all at its end, and WHERE may say what ON does not.
    """
    for block in case.blocks():
        conditions = [part for place in _conditions(block) for part in conjuncts(place)]
        for source in block.sources:
            on = source.join.args.get("on") if source.join is not None else None
            if on is None or isinstance(on, exp.Boolean):
                continue
            if any(_links(part, source, block) for part in conditions):
                continue
            known = _declared(source, block)
            advice = (
                f"The schema declares {known}: join by that."
                if known
                else "Join by columns of both tables that mean the same thing."
            )
            return f"The join to {source.name} by {text(on)} equates no two columns. {advice}"
    return None


def _conditions(block: Block) -> Iterator[exp.Expr]:
    where = block.select.args.get("where")
    if where is not None:
        yield where.this
    for source in block.sources:
        if source.join is not None and source.join.args.get("on") is not None:
            yield source.join.args["on"]


def _links(part: exp.Expr, source: Source, block: Block) -> bool:
    """Whether a condition equates something of the source with something of another one."""
    if not isinstance(part, exp.EQ | exp.NullSafeEQ):
        return False
    sides = [
        {id(found[0]) for c in side.find_all(exp.Column) if (found := block.columns.get(id(c)))}
        for side in (part.this, part.expression)
    ]
    return all(sides) and sides[0] != sides[1] and any(id(source) in side for side in sides)


def _declared(source: Source, block: Block) -> str | None:
    for other in block.sources:
        for child, parent in ((source, other), (other, source)):
            for key in child.table.foreign_keys if child.table and parent.table else ():
                if parent.table and key.refers_to(parent.table):
                    pairs = zip(key.columns, key.target_columns, strict=False)
                    return " and ".join(f"{child.name}.{a} = {parent.name}.{b}" for a, b in pairs)
    return None
