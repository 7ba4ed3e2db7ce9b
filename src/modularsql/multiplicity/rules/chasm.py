"""Two tables that each hold many rows for one row of a third multiply each other."""

from collections.abc import Iterator

from modularsql.multiplicity.aggregates import (
    COUNTS,
    SUMS,
    is_distinct,
    measured,
    within,
)
from modularsql.multiplicity.inflation import VERBS, Form, Inflated, inflated
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.suspicion import assumed, suspicion
from modularsql.multiplicity.words import does, names, text
from modularsql.records import Severity


@detector
def chasm(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """An aggregate runs over every pair of rows of two tables that hang on a third."""
    if len(block.sources) < 3 or not block.aggregates:
        return
    for one in inflated(block, analysis, Form.CHASM):
        sums = one.aggregate.kind in SUMS or one.aggregate.kind in COUNTS
        yield _issue(block, one, Severity.ERROR if sums else Severity.WARNING)
    for one in _counted_pairs(block, analysis):
        yield _issue(block, one, Severity.WARNING)


def _issue(block: Block, one: Inflated, severity: Severity) -> Issue:
    found, node, sure = one.found, one.aggregate.node, one.suspicion.sure
    verb = does(VERBS.get(one.aggregate.kind, "sees"), sure)
    pairs = names((*found.entity, *found.independent), block)
    if len(found.independent) > 1:
        pairs = names(found.independent, block)
    return Issue(
        rule="chasm",
        severity=severity if sure else Severity.INFO,
        measured=severity,
        message=(
            f"{text(node)} {verb} every combination of rows of {pairs}, which multiply each "
            f"other{one.suspicion.doubt}. Compare it with {names(found.entity, block)} joined "
            "alone."
        ),
        node=node,
        block=block,
        evidence=one.suspicion.evidence,
        entity=found.entity,
        multipliers=found.independent,
        within=within(block),
        rewrites=(
            "semi_join",
            "drop_outer_join",
            "count_distinct",
            "split_chasm",
            "aggregate_before_join",
        ),
    )


def _counted_pairs(block: Block, analysis: Analysis) -> Iterator[Inflated]:
    """COUNT(*) for each row of a table that two others repeat: it counts their pairs."""
    if not block.group:
        return
    fixed = block.rows.closure(within(block)) & assumed(block, analysis).closure(within(block))
    parents = tuple(s for s in block.sources if not s.relation.ids & ~fixed)
    for aggregate in block.aggregates:
        if aggregate.kind not in COUNTS or is_distinct(aggregate):
            continue
        counted = measured(block, aggregate)
        if not all(source in parents for source in counted):
            continue
        one = suspicion(block, analysis, parents, within(block))
        if one is not None and len(one.found.independent) > 1:
            yield Inflated(aggregate=aggregate, suspicion=one, form=Form.CHASM)
            return
