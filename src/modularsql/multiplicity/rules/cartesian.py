"""Tables that no condition connects: every row of one meets every row of the other."""

from collections.abc import Iterator

from modularsql.multiplicity.aggregates import EXTREMES, is_distinct, measured, within
from modularsql.multiplicity.grain import identities, multiplied, output_entity, returned
from modularsql.multiplicity.model import Aggregate, Block, Source
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.links import Loose, Why, loose
from modularsql.multiplicity.rules.facts.uses import Use, use_of
from modularsql.multiplicity.words import names, text
from modularsql.records import Severity

_SAYS = {
    Why.NONE: "No condition connects {apart} with {others}, so every row of one meets every row "
    "of the other.",
    Why.ONE_SIDED: "The condition {node} does not compare {apart} with {others}, so every row of "
    "one meets every row of the other.",
    Why.CROSS: "The cross join of {apart} with {others} repeats rows that the result counts or "
    "shows only once.",
    Why.EITHER: "Where {node} holds, no condition connects {apart} with {others}, so every row "
    "of one meets every row of the other; parentheses around the OR may be missing.",
    Why.PART: "{apart} is joined with {others} on a part of the columns that belong together, so "
    "rows meet that do not belong together.",
}
_COMPARE = " Compare the number of rows with those of {bigger} alone."


@detector
def cartesian(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """Two tables are read together, and no condition says which of their rows belong together."""
    if len(block.sources) < 2:
        return
    for one in loose(block, analysis):
        severity = _severity(one, block)
        if severity is not None:
            yield _issue(one, severity, block)


def _severity(one: Loose, block: Block) -> Severity | None:
    if use_of(block.select) == Use.SET and not block.is_aggregate:
        return Severity.WARNING if one.why != Why.CROSS else None
    hidden = _is_hidden(one, block)
    if one.why == Why.CROSS:
        return Severity.WARNING if hidden else None
    if one.why in (Why.PART, Why.EITHER):
        return Severity.WARNING
    return Severity.ERROR if hidden else Severity.WARNING


def _is_hidden(one: Loose, block: Block) -> bool:
    """Whether the result repeats or counts rows for the pairs without showing both sides."""
    if block.is_aggregate:
        return any(_is_swollen(aggregate, one, block) for aggregate in block.aggregates)
    found = multiplied(block, output_entity(block), returned(block))
    return found is not None and any(s in (*one.apart, *one.others) for s in found.multipliers)


def _is_swollen(aggregate: Aggregate, one: Loose, block: Block) -> bool:
    if is_distinct(aggregate) or aggregate.kind in EXTREMES:
        return False
    entity = measured(block, aggregate)
    if not entity:
        return aggregate.kind == "count"
    found = multiplied(block, entity, within(block))
    return found is not None and any(s in (*one.apart, *one.others) for s in found.multipliers)


def _issue(one: Loose, severity: Severity, block: Block) -> Issue:
    entity, others = _sides(one, block)
    says = _SAYS[one.why] + _COMPARE
    condition = one.node.args.get("on") or one.node
    return Issue(
        rule="cartesian",
        severity=severity,
        message=says.format(
            apart=names(one.apart, block),
            others=names(one.others, block),
            node=text(condition),
            bigger=names(entity or one.others, block),
        ),
        node=one.node,
        block=block,
        entity=entity,
        multipliers=others or one.apart,
        within=within(block),
        rewrites=("correct_alias", "add_join_predicate"),
    )


def _sides(one: Loose, block: Block) -> tuple[tuple[Source, ...], tuple[Source, ...]]:
    """Which side the result is about, where it is about one of them only."""
    used = output_entity(block)
    if not used:
        used = tuple(s for a in block.aggregates for s in a.sources)
    ids = identities(used)
    if ids and not any(s in one.apart for s in used):
        return tuple(s for s in one.others if s in used), one.apart
    if ids and not any(s in one.others for s in used):
        return tuple(s for s in one.apart if s in used), one.others
    return (), ()
