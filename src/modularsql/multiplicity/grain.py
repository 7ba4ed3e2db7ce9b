"""Which rows a join repeats, and which join does it."""

from dataclasses import dataclass, replace

from sqlglot import exp

from modularsql.catalog import Table
from modularsql.multiplicity.algebra import Relation, union
from modularsql.multiplicity.columns import conjuncts
from modularsql.multiplicity.model import Block, JoinKind, Query, Source
from modularsql.multiplicity.names import suppliers
from modularsql.records import Evidence

_GRADES = tuple(Evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiplied:
    """Rows of `entity` may come back more than once: for each row of the `multipliers`.

    `independent` are multipliers of which none settles another.
    """

    entity: tuple[Source, ...]
    multipliers: tuple[Source, ...]
    independent: tuple[Source, ...]

    def without(self, apart: tuple[Source, ...]) -> "Multiplied | None":
        """The same but for some multipliers; None where no other is left."""
        left = tuple(s for s in self.independent if s not in apart)
        if not left:
            return None
        multipliers = tuple(s for s in self.multipliers if s not in apart)
        return replace(self, multipliers=multipliers, independent=left)


def identities(sources: tuple[Source, ...] | list[Source]) -> int:
    """The identity attributes of some sources together."""
    return union(source.relation.ids for source in sources)


def multiplied(
    block: Block, entity: tuple[Source, ...], within: int = 0, rows: Relation | None = None
) -> Multiplied | None:
    """What repeats the rows of an entity among rows that agree on `within`; None if nothing can.

    A row that an outer join padded with NULLs is no row of the entity. `rows` are the block's
    rows, where more is assumed of them than is known.
    """
    if not entity:
        return None
    rows = rows or block.rows
    reach = settles(block, entity, within, rows)
    if not rows.ids & ~reach:
        return None
    multipliers = tuple(
        s for s in block.sources if s.kind != JoinKind.SEMI and s.relation.ids & ~reach
    )
    if not multipliers:
        return None
    settled = {
        id(s): settles(block, (*entity, s), within, rows) if len(multipliers) > 1 else reach
        for s in multipliers
    }
    return Multiplied(
        entity=entity,
        multipliers=multipliers,
        independent=_independent(reach, multipliers, settled),
    )


def _independent(
    reach: int, multipliers: tuple[Source, ...], settled: dict[int, int]
) -> tuple[Source, ...]:
    """The fewest multipliers that settle all others: those that no other one settles."""
    found: list[Source] = []
    # A child settles its parents, so those that settle most come first.
    for source in sorted(
        multipliers, key=lambda s: -sum(not o.relation.ids & ~settled[id(s)] for o in multipliers)
    ):
        if source.relation.ids & ~reach:
            found.append(source)
            reach |= settled[id(source)]
    return tuple(s for s in multipliers if s in found)


def settles(
    block: Block, sources: tuple[Source, ...], within: int = 0, rows: Relation | None = None
) -> int:
    """All attributes that one row of each of the sources determines, where these rows are there."""
    start = identities(sources) | within | _missing(block)
    return (rows or block.rows).closure(start, not_null=present(block, sources))


def _missing(block: Block) -> int:
    """Identities of sources that are padded in all rows: `LEFT JOIN … WHERE key IS NULL`."""
    where = block.select.args.get("where")
    if where is None or not any(s.kind == JoinKind.LEFT for s in block.sources):
        return 0
    found = 0
    for part in conjuncts(where.this):
        if not isinstance(part, exp.Is) or not isinstance(part.expression, exp.Null):
            continue
        home = block.columns.get(id(part.this.unnest()))
        if home is not None and home[0].kind == JoinKind.LEFT:
            source, _, attribute = home
            if attribute & (source.relation.not_null | source.predicate.not_null):
                found |= source.relation.ids
    return found


def present(block: Block, sources: tuple[Source, ...]) -> int:
    """Columns that hold no NULL where a row of each source is there and not padded.

    Such a row has met the condition of its outer join, so its partners are there as well.
    """
    if not any(source.optional for source in block.sources):
        return union(source.relation.not_null for source in sources)
    sure, known, pending = 0, set[int](), list(sources)
    while pending:
        source = pending.pop()
        if id(source) in known:
            continue
        known.add(id(source))
        sure |= source.relation.not_null | _met(block, source)
        pending += [s for s in block.sources if union(s.columns.values()) & sure]
    return sure


def _met(block: Block, source: Source) -> int:
    """What the conditions reject NULLs of that a row of the source must have met to be there."""
    met = source.predicate.not_null if source.kind in (JoinKind.LEFT, JoinKind.INNER) else 0
    if source.optional and source.kind != JoinKind.FULL:
        after = block.sources[block.sources.index(source) + 1 :]
        met |= union(s.predicate.not_null for s in after if s.kind == JoinKind.RIGHT)
    return met


def grounds(block: Block, multipliers: tuple[Source, ...]) -> Evidence:
    """What the suspicion that some sources repeat rows rests on.

    ASSUMED where a source has no declared key or foreign key at all: then nothing could have
    shown that it repeats no rows, and only the data can tell.
    """
    grades = [_ground(source, block) for source in multipliers]
    return _GRADES[max((_GRADES.index(grade) for grade in grades), default=0)]


def _ground(source: Source, block: Block) -> Evidence:
    if source.view is not None:
        return _of_query(source.view)
    if source.table is not None:
        return _declared(source.table, block)
    if source.query is None:
        return Evidence.ASSUMED
    return _of_query(source.query)


def _declared(table: Table, block: Block) -> Evidence:
    joined = [s.table for s in block.sources if s.table is not None]
    grades = [key.evidence for key in table.keys]
    grades += [fk.evidence for fk in table.foreign_keys if any(map(fk.refers_to, joined))]
    return min(grades, key=_GRADES.index, default=Evidence.ASSUMED)


def _of_query(query: Query) -> Evidence:
    own = query.relation.is_key(union(attribute for _, attribute in query.columns))
    if own is not None:
        return own
    if query.block is None:
        return Evidence.ASSUMED  # UNION ALL: its branches may hold the same keys or never do
    return grounds(query.block, tuple(query.block.sources))


def uniqueness(block: Block, attributes: int) -> Evidence | None:
    """The grade by which no two of the block's rows agree on the attributes."""
    return block.rows.is_key(attributes)


def output_entity(block: Block) -> tuple[Source, ...]:
    """The sources that supply the block's output columns, in the order of FROM.

    None where a column that nobody knows may come from others as well.
    """
    for output in block.outputs:
        if set(suppliers(output.expression, block)) - set(output.sources):
            return ()
    used = {id(source) for output in block.outputs for source in output.sources}
    return tuple(source for source in block.sources if id(source) in used)


def returned(block: Block) -> int:
    """The attributes of the output columns."""
    return union(output.attribute for output in block.outputs)


def filter_only(block: Block) -> tuple[Source, ...]:
    """Sources that only decide which rows stay: named in ON and WHERE, nowhere else."""
    named: set[int] = set()
    for clause in ("expressions", "group", "having", "order", "distinct", "qualify", "windows"):
        value = block.select.args.get(clause)
        for part in value if isinstance(value, list) else [value] if value else []:
            named |= {id(source) for source in suppliers(part, block)}
            for column in part.find_all(exp.Column):
                found = block.columns.get(id(column))
                if found is not None:
                    named.add(id(found[0]))
    for output in block.outputs:
        named |= {id(source) for source in output.sources}
    return tuple(source for source in block.sources if id(source) not in named)
