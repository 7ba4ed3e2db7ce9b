"""A join whose condition is no equality between columns of the two sides."""

from sqlglot import exp

from modularsql.multiplicity.columns import conjuncts
from modularsql.multiplicity.model import Block, Source
from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case


def join(case: Case) -> str | None:
    """The first ON that compares no column with one of another table, and the key that would."""
    for block in case.blocks():
        for source in block.sources:
            on = source.join.args.get("on") if source.join is not None else None
            if on is None or any(_links(part, source, block) for part in conjuncts(on)):
                continue
            said = (
                f"The condition of the join to {source.name}, {text(on)}, equates no two columns."
            )
            known = _declared(source, block, case)
            return said + (
                f" The schema declares {known}: join by that."
                if known
                else " Join by columns of both tables that mean the same thing."
            )
    return None


def _links(part: exp.Expr, source: Source, block: Block) -> bool:
    if not isinstance(part, exp.EQ | exp.NullSafeEQ):
        return False
    homes = [
        {id(found[0]) for c in side.find_all(exp.Column) if (found := block.columns.get(id(c)))}
        for side in (part.this, part.expression)
    ]
    return all(homes) and homes[0] != homes[1]


def _declared(source: Source, block: Block, case: Case) -> str | None:
    for other in block.sources:
        for child, parent in ((source, other), (other, source)):
            for key in child.table.foreign_keys if child.table and parent.table else ():
                if parent.table and key.target.casefold() == parent.table.name.casefold():
                    pairs = zip(key.columns, key.target_columns, strict=False)
                    return " and ".join(f"{child.name}.{a} = {parent.name}.{b}" for a, b in pairs)
    return None
