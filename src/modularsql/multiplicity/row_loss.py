"""Rows that an inner join to a table of one partner at most leaves out, in numbers.

Such a join looks something up and is not meant to choose: where a row has no partner (a NULL, or a
reference to nothing) it is gone, with all that is counted or added up of it.
"""

from dataclasses import dataclass

from sqlglot import exp

from modularsql.multiplicity.columns import is_volatile
from modularsql.multiplicity.grain import settles
from modularsql.multiplicity.measure import bare, with_definitions
from modularsql.multiplicity.model import Block, JoinKind, Query, Source
from modularsql.multiplicity.rules.facts.links import homes_of
from modularsql.multiplicity.steps import written


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A join that finds at most one row for each row before it, and nothing else depends on it."""

    source: Source
    partner: exp.Column
    at: int

    @property
    def join(self) -> str:
        """The join as written, in one line."""
        return "" if self.source.join is None else written(self.source.join)


def lookups(block: Block) -> tuple[Lookup, ...]:
    """The lookups of a block that can be counted, in the order of FROM."""
    joins = block.select.args.get("joins") or []
    inner = (JoinKind.FIRST, JoinKind.INNER)
    if block.correlated or is_volatile(block.select) or any(s.lateral for s in block.sources):
        return ()
    if len(joins) != len(block.sources) - 1 or any(s.kind not in inner for s in block.sources):
        return ()
    found = []
    for number, source in enumerate(block.sources[1:], 1):
        partner = _partner(source)
        alone = settles(block, tuple(block.sources[:number]))
        if partner is None or source.relation.ids & ~alone or _is_used(source, block):
            continue
        found.append(Lookup(source=source, partner=partner, at=number - 1))
    return tuple(found)


def lost_rows(block: Block, query: Query, found: tuple[Lookup, ...]) -> exp.Select:
    """All rows as if no lookup left one out, and for each lookup those that have a partner."""
    counts: list[exp.Expr] = [exp.Count(this=exp.Star())]
    counts += [exp.Count(this=one.partner.copy()) for one in found]
    select = bare(block.select, counts)
    for one in found:
        join = select.args["joins"][one.at]
        join.set("side", "LEFT")
        join.set("kind", None)
    with_definitions(select, query)
    return select


def _partner(source: Source) -> exp.Column | None:
    """A column that is NULL only where there is no partner: the join's own ON compares it."""
    if source.table is None or source.join is None or source.join.args.get("on") is None:
        return None
    if source.join.args.get("method"):
        return None
    for name, attribute in source.columns.items():
        if attribute & source.predicate.not_null:
            return source.column(name)
    return None


def _is_used(source: Source, block: Block) -> bool:
    """Whether a condition speaks of it, but for its own ON."""
    homes = homes_of(block)
    where = block.select.args.get("where")
    others = [
        s.join.args.get("on") for s in block.sources if s.join is not None and s is not source
    ]
    conditions = [where, *others]
    return any(
        homes.get(id(column)) == id(source)
        for condition in conditions
        if isinstance(condition, exp.Expr)
        for column in condition.find_all(exp.Column)
    )
