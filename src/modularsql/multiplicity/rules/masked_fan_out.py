"""DISTINCT, GROUP BY or UNION takes back the copies that a join has made."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.grain import output_entity
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.suspicion import suspicion
from modularsql.multiplicity.rules.facts.uses import Use, use_of
from modularsql.multiplicity.words import does, join_of, names
from modularsql.records import Severity


@detector
def masked_fan_out(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A join repeats rows, and DISTINCT, GROUP BY or UNION takes the copies away again."""
    if len(block.sources) < 2 or block.aggregates:
        return
    mask = _mask(block)
    one = suspicion(block, analysis, output_entity(block)) if mask else None
    if mask is None or one is None:
        return
    found, verb = one.found, does("repeats", one.sure)
    entity, others = names(found.entity, block), names(found.independent, block)
    yield Issue(
        rule="masked_fan_out",
        severity=Severity.INFO,
        message=(
            f"The join to {others}{join_of(block, found.independent[-1])} {verb} rows of "
            f"{entity}, and {mask} takes the copies away again{one.doubt}; an aggregate added "
            f"here would count them. Compare with EXISTS on {others}."
        ),
        node=block.select,
        block=block,
        evidence=one.evidence,
        entity=found.entity,
        multipliers=found.independent,
        rewrites=("semi_join", "drop_outer_join"),
    )


def _mask(block: Block) -> str | None:
    if block.is_distinct:
        return "DISTINCT"
    if block.group is not None:
        return "GROUP BY"
    # INTERSECT and EXCEPT ask for sets; only beside UNION is there a form that keeps copies.
    union = use_of(block.select) == Use.UNION and isinstance(block.select.parent, exp.Union)
    return "UNION" if union else None
