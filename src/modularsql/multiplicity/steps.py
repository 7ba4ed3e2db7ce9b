"""FROM and WHERE as steps: what is read first, then each join with the conditions it settles.

A step's query reads the parts of FROM up to it, under all conditions of WHERE that speak of
these parts alone. Its rows, against those of the step before, are what the join does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from modularsql.multiplicity.columns import conjuncts, is_volatile
from modularsql.multiplicity.measure import bare, with_definitions
from modularsql.multiplicity.model import Block, Query, Source
from modularsql.multiplicity.rules.facts.links import homes_of, is_written
from modularsql.sql.quote import quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One part of FROM: `added` are its sources, `sources` those and all before it.

    `join` is None for the first part. `conditions` are the parts of WHERE that hold from here
    on; `before` are those of the steps before.
    """

    node: exp.Expr
    join: exp.Join | None
    added: tuple[Source, ...]
    sources: tuple[Source, ...]
    conditions: tuple[exp.Expr, ...]
    before: tuple[exp.Expr, ...] = ()

    @property
    def text(self) -> str:
        """The part as it is written, in one line."""
        return written(self.join if self.join is not None else self.node)


def written(part: exp.Expr) -> str:
    """A part of FROM in one line; a comma, which the parser calls CROSS JOIN, is a comma."""
    is_comma = isinstance(part, exp.Join) and part.kind == "CROSS" and not is_written(part)
    line = quoted(part.this if is_comma else part)
    return f", {line}" if is_comma else line


def steps_of(block: Block) -> tuple[Step, ...]:
    """The steps of a block; none where it cannot be run by itself, or twice with one outcome."""
    clause = block.select.args.get("from_")
    if clause is None or block.correlated or is_volatile(block.select):
        return ()
    if block.select.args.get("laterals") or any(s.lateral for s in block.sources):
        return ()
    joins = block.select.args.get("joins") or []
    where = block.select.args.get("where")
    pending = list(conjuncts(where.this if where else None))
    ends = _Ends(block)
    found: list[Step] = []
    seen: tuple[Source, ...] = ()
    done: tuple[exp.Expr, ...] = ()
    for number, part in enumerate((clause, *joins)):
        nodes = {id(node) for node in part.walk()}
        added = tuple(s for s in block.sources if id(s.node) in nodes)
        seen = (*seen, *added)
        is_last = number == len(joins)
        settled = tuple(c for c in pending if is_last or ends.are_among(c, seen))
        pending = [c for c in pending if not any(c is s for s in settled)]
        found.append(
            Step(
                node=part.this,
                join=part if isinstance(part, exp.Join) else None,
                added=added,
                sources=seen,
                conditions=settled,
                before=done,
            )
        )
        done = (*done, *settled)
    return tuple(found)


def read_step(
    block: Block,
    query: Query,
    number: int,
    columns: list[exp.Expr],
    conditions: tuple[exp.Expr, ...],
) -> exp.Select:
    """`columns` of FROM up to the step of that number, under the given conditions of WHERE."""
    select = bare(block.select, columns)
    select.set("joins", (select.args.get("joins") or [])[:number] or None)
    select.set("where", None)
    if conditions:
        parts = [exp.Paren(this=c.copy()) for c in conditions]
        select.set("where", exp.Where(this=exp.and_(*parts, copy=False)))
    with_definitions(select, query)
    return select


class _Ends:
    """Which sources of a block a condition speaks of, its subqueries included."""

    def __init__(self, block: Block) -> None:
        self._homes: Mapping[int, int] = homes_of(block)
        self._literals = {id(column) for column in block.literals}
        self._own = {id(source) for source in block.sources}

    def are_among(self, condition: exp.Expr, sources: tuple[Source, ...]) -> bool:
        """Whether it speaks of these sources alone; not where a column is not understood."""
        seen = {id(source) for source in sources}
        homes = list(self._of(condition))
        return None not in homes and all(h in seen for h in homes if h in self._own)

    def _of(self, condition: exp.Expr) -> Iterator[int | None]:
        for column in condition.find_all(exp.Column):
            if id(column) not in self._literals:
                yield self._homes.get(id(column))
