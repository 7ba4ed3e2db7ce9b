"""A value is looked up by a part of the key of its table, which may match several rows."""

from collections.abc import Iterator

from modularsql.multiplicity.aggregates import SUMS, is_distinct, measured, within
from modularsql.multiplicity.grain import multiplied, output_entity, returned
from modularsql.multiplicity.inflation import REWRITES, Form, inflated
from modularsql.multiplicity.model import Block, Source
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.links import cut_loose
from modularsql.multiplicity.rules.facts.lookups import looks_up, missing_key
from modularsql.multiplicity.words import join_of, names, text
from modularsql.records import Severity


@detector
def lookup_not_unique(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A table is joined by some columns of its key only, and its rows are used as if by all."""
    if len(block.sources) < 2 or block.is_distinct:
        return
    for one in inflated(block, analysis, Form.LOOKUP):
        source, base = one.found.independent[0], one.found.entity
        yield Issue(
            rule="lookup_not_unique",
            severity=Severity.ERROR if one.aggregate.kind in SUMS else Severity.WARNING,
            message=f"{text(one.aggregate.node)}: {_says(source, base, block)}",
            node=one.aggregate.node,
            block=block,
            evidence=one.suspicion.evidence,
            entity=base,
            multipliers=(source,),
            within=within(block),
            rewrites=REWRITES,
        )
    for source in block.sources[1:]:
        base = _used_beside(source, block, analysis)
        if base:
            yield Issue(
                rule="lookup_not_unique",
                severity=Severity.WARNING,
                message=_says(source, base, block),
                node=source.join or block.select,
                block=block,
                entity=base,
                multipliers=(source,),
                within=within(block) if block.is_aggregate else returned(block),
            )


def _says(source: Source, base: tuple[Source, ...], block: Block) -> str:
    table = names((source,), block)
    missing = ", ".join(missing_key(source, block))
    return (
        f"{table} is looked up without its {missing}{join_of(block, source)}, so a row of "
        f"{names(base, block)} meets a row of {table} for every {missing}. Compare the number of "
        f"rows with and without {table}."
    )


def _used_beside(source: Source, block: Block, analysis: Analysis) -> tuple[Source, ...]:
    """What the rows are looked up for, where both supply a measure or the result together.

    Where only the other does, its copies are a fan-out.
    """
    if not missing_key(source, block):
        return ()
    apart = cut_loose(block, analysis, (source,))
    for base in block.sources:
        if base is source or base in apart or not looks_up(base, source, block):
            continue
        if _together(base, source, block):
            return (base,)
    return ()


def _together(base: Source, source: Source, block: Block) -> bool:
    if block.is_aggregate:
        used = [
            measured(block, aggregate)
            for aggregate in block.aggregates
            if not is_distinct(aggregate) and aggregate.kind not in ("min", "max")
        ]
        both = any(base in sources and source in sources for sources in used)
        return both and multiplied(block, (base,), within(block)) is not None
    shown = output_entity(block)
    both = base in shown and source in shown
    return both and multiplied(block, (base,), returned(block)) is not None
