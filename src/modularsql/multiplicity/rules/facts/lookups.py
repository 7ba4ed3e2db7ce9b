"""Tables that are joined by a part of their key, to something that is no parent of theirs."""

from modularsql.catalog import Key, Table
from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.model import Block, JoinKind, Source


def missing_key(source: Source, block: Block) -> list[str]:
    """The columns of a composite key that nothing in the query fixes, where it fixes others.

    None for a child's key: its rows belong to the parent that the joined part refers to.
    """
    if source.table is None or source.kind == JoinKind.SEMI:
        return []
    others = union(
        union(s.columns.values()) | s.relation.ids for s in block.sources if s is not source
    )
    known = block.rows.closure(others)
    if not source.relation.ids & ~known:
        return []
    for key in source.table.keys:
        left = [c for c in key.columns if not source.columns.get(c.casefold(), 0) & known]
        if 0 < len(left) < len(key.columns):
            return [] if _is_child_key(source.table, key, left) else left
    return []


def _is_child_key(table: Table, key: Key, left: list[str]) -> bool:
    joined = {column.casefold() for column in key.columns} - {column.casefold() for column in left}
    return any(joined & {c.casefold() for c in fk.columns} for fk in table.foreign_keys)


def looks_up(base: Source, source: Source, block: Block) -> bool:
    """Whether `base` is compared with a table of which it is no parent."""
    theirs, own = union(base.columns.values()), union(source.columns.values())
    pairs = (*source.predicate.equal, *base.predicate.equal, *block.where.equal)
    compared = any((a | b) & theirs and (a | b) & own for a, b in pairs)
    return compared and bool(base.relation.ids & ~block.rows.closure(source.relation.ids))
