"""Which rows a join repeats, and which join does it."""

from dataclasses import dataclass

from sqlglot import exp

from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.model import Block, JoinKind, Source
from modularsql.records import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiplied:
    """Rows of `entity` may come back more than once: for each row of the `multipliers`.

    `independent` are multipliers of which none settles another: two or more are a chasm.
    """

    entity: tuple[Source, ...]
    multipliers: tuple[Source, ...]
    independent: tuple[Source, ...]


def identities(sources: tuple[Source, ...] | list[Source]) -> int:
    """The identity attributes of some sources together."""
    return union(source.relation.ids for source in sources)


def multiplied(block: Block, entity: tuple[Source, ...], within: int = 0) -> Multiplied | None:
    """What repeats the rows of an entity among rows that agree on `within`; None if nothing can.

    A row that an outer join padded with NULLs is no row of the entity, so its columns that
    cannot be NULL in their own table count as not NULL here.
    """
    if not entity:
        return None
    present = union(source.relation.not_null for source in entity)
    start = identities(entity) | within
    reach = block.rows.closure(start, not_null=present)
    if not block.rows.ids & ~reach:
        return None
    multipliers = tuple(
        s for s in block.sources if s.kind != JoinKind.SEMI and s.relation.ids & ~reach
    )
    if not multipliers:
        return None
    return Multiplied(
        entity=entity,
        multipliers=multipliers,
        independent=_independent(block, start, multipliers, present),
    )


def _independent(
    block: Block, start: int, multipliers: tuple[Source, ...], present: int
) -> tuple[Source, ...]:
    """The fewest multipliers that settle all others: those that no other one settles."""
    found: list[Source] = []
    reach = block.rows.closure(start, not_null=present)
    # From the end: a child settles its parents, and stands after them more often than not.
    for source in sorted(multipliers, key=lambda s: -_settles(block, start, s, multipliers)):
        if source.relation.ids & ~reach:
            found.append(source)
            reach |= block.rows.closure(reach | source.relation.ids, not_null=present)
    return tuple(s for s in multipliers if s in found)


def _settles(block: Block, start: int, source: Source, others: tuple[Source, ...]) -> int:
    reach = block.rows.closure(start | source.relation.ids)
    return sum(1 for other in others if not other.relation.ids & ~reach)


def uniqueness(block: Block, attributes: int) -> Evidence | None:
    """The grade by which no two of the block's rows agree on the attributes."""
    return block.rows.is_key(attributes)


def output_entity(block: Block) -> tuple[Source, ...]:
    """The sources that supply the block's output columns, in the order of FROM."""
    used = {id(source) for output in block.outputs for source in output.sources}
    return tuple(source for source in block.sources if id(source) in used)


def filter_only(block: Block) -> tuple[Source, ...]:
    """Sources that only decide which rows stay: named in ON and WHERE, nowhere else."""
    named: set[int] = set()
    for clause in ("expressions", "group", "having", "order", "distinct", "qualify", "windows"):
        value = block.select.args.get(clause)
        for part in value if isinstance(value, list) else [value] if value else []:
            for column in part.find_all(exp.Column):
                found = block.columns.get(id(column))
                if found is not None:
                    named.add(id(found[0]))
    for output in block.outputs:
        named |= {id(source) for source in output.sources}
    return tuple(source for source in block.sources if id(source) not in named)
