"""An ON that compares a table with itself: of which other table one of its names may be meant."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from modularsql.multiplicity.columns import bare, conjuncts
from modularsql.multiplicity.model import Block, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Misnamed:
    """`column` may be meant of `other`, which has its name too; `kept` is what it is compared with.

    The names are folded.
    """

    column: exp.Column
    kept: tuple[Source, str]
    other: tuple[Source, str]


def misnamed(block: Block, join: exp.Expr) -> Iterator[Misnamed]:
    """Every reading of a join's equalities within one table that would connect it with another."""
    at = next((i for i, source in enumerate(block.sources) if source.join is join), None)
    if at is None:
        return
    for part in conjuncts(join.args.get("on")):
        if not isinstance(part, exp.EQ):
            continue
        sides = (bare(part.this), bare(part.expression))
        for column, kept in (sides, sides[::-1]):
            home, stays = block.columns.get(id(column)), block.columns.get(id(kept))
            if home is None or stays is None or home[0] is not stays[0]:
                continue
            for other in block.sources[: at + 1]:
                if other is not home[0] and home[1] in other.columns:
                    assert isinstance(column, exp.Column)
                    yield Misnamed(column=column, kept=stays[:2], other=(other, home[1]))
