"""DISTINCT or GROUP BY on a name melts different things that are called the same."""

from collections.abc import Iterator
from functools import partial

from sqlglot import exp

from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.grain import multiplied, present, returned
from modularsql.multiplicity.measure import groups_of
from modularsql.multiplicity.model import Block, Source
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.labels import name_of
from modularsql.multiplicity.rules.facts.probes import differing, identity
from modularsql.multiplicity.rules.facts.uses import Use, use_of
from modularsql.multiplicity.words import names
from modularsql.records import Evidence, Severity


@detector
def entity_merge(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """Rows are made different, or grouped, by a name that two things may share."""
    by, clause = _merged_by(block)
    if not by:
        return
    for source in block.sources:
        label = _label(source, by)
        if label is None or _is_settled(block, source, by):
            continue
        # Where nothing repeats the named rows, their different names may be all that is asked.
        if clause in ("DISTINCT", "GROUP BY") and multiplied(block, (source,)) is None:
            continue
        yield Issue(
            rule="entity_merge",
            severity=Severity.INFO,
            measured=Severity.WARNING,
            message=(
                f"{clause} goes by {names((source,), block)}.{label}, which nothing declares "
                f"unique: two rows of {names((source,), block)} with the same {label} become one. "
                f"Compare the number of different {label} with the rows of "
                f"{names((source,), block)}."
            ),
            node=block.select,
            block=block,
            probe=partial(_two_of_a_name, block, source, clause),
            rewrites=("remove_distinct",) if clause == "DISTINCT" else (),
        )


def _two_of_a_name(block: Block, source: Source, clause: str) -> exp.Select | None:
    key = identity(source)
    shown = [output.expression for output in block.outputs]
    by = groups_of(block) if clause == "GROUP BY" else shown
    return differing(block, by, [key] if key is not None else [])


def _merged_by(block: Block) -> tuple[int, str]:
    """The attributes by which rows are one, and what makes them so; 0 where nothing does."""
    use = use_of(block.select)
    around = block.select.parent
    if isinstance(around, exp.Intersect | exp.Except) and not block.is_aggregate:
        return returned(block), around.key.upper()
    if use in (Use.SET, Use.SCALAR, Use.UNION):
        return 0, ""
    if block.group:
        return block.group, "GROUP BY"
    return (returned(block), "DISTINCT") if block.is_distinct else (0, "")


def _label(source: Source, by: int) -> str | None:
    """The name of an entity among the attributes: only where the entity has a key to go by."""
    if source.table is None or not source.table.keys:
        return None
    return name_of(source, by)


def _is_settled(block: Block, source: Source, by: int) -> bool:
    known = block.rows.closure(by, not_null=present(block, (source,)))
    if not source.relation.ids & ~known:
        return True
    # A child's own name beside its parent's key says enough of the child.
    key = union(source.columns.get(c.casefold(), 0) for k in _keys(source) for c in k)
    return bool(key & by)


def _keys(source: Source) -> list[tuple[str, ...]]:
    """Its declared keys: what is unique today is not what its rows are known by."""
    keys = source.table.keys if source.table else ()
    return [key.columns for key in keys if key.evidence != Evidence.OBSERVED]
