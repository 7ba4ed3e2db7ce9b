"""The shape that the rules about inflated aggregates share; they differ in data.

Each inflated aggregate has one verdict, so that one fault is one finding. What no condition
connects is the business of `cartesian`.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp

from modularsql.multiplicity.aggregates import (
    AVERAGES,
    COUNTS,
    EXTREMES,
    LISTS,
    SUMS,
    is_distinct,
    is_immune,
    measured,
    within,
)
from modularsql.multiplicity.grain import Multiplied, identities, settles
from modularsql.multiplicity.model import Aggregate, Block
from modularsql.multiplicity.registry import Analysis, Issue
from modularsql.multiplicity.rules.facts.lookups import looks_up, missing_key
from modularsql.multiplicity.rules.facts.suspicion import Suspicion, suspicion
from modularsql.multiplicity.words import does, join_of, names, text
from modularsql.records import Severity

VERBS = {
    **dict.fromkeys(SUMS, "adds"),
    **dict.fromkeys(AVERAGES, "weighs"),
    **dict.fromkeys(COUNTS, "counts"),
    **dict.fromkeys(LISTS, "lists"),
}
"""What an aggregate does with a row, by its kind."""

REWRITES = ("semi_join", "drop_outer_join", "count_distinct", "aggregate_before_join")


class Form(StrEnum):
    """Which rule an inflated aggregate belongs to."""

    FAN_OUT = "fan_out"
    CHASM = "chasm"
    TWO_GRAINS = "two_grains"
    LOOKUP = "lookup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inflated:
    """An aggregate that sees rows of its entity more than once, and by which pattern."""

    aggregate: Aggregate
    suspicion: Suspicion
    form: Form
    beside: Aggregate | None = None

    @property
    def found(self) -> Multiplied:
        """What repeats which rows."""
        return self.suspicion.found


def inflated(
    block: Block, analysis: Analysis, form: Form, kinds: Collection[str] | None = None
) -> Iterator[Inflated]:
    """The block's inflated aggregates of a form, each written one once."""
    if len(block.sources) < 2 or not block.aggregates:
        return
    for one in analysis.once(("inflated", id(block)), lambda: _verdicts(block, analysis)):
        if one.form == form and (kinds is None or one.aggregate.kind in kinds):
            yield one


def _verdicts(block: Block, analysis: Analysis) -> list[Inflated]:
    seen: list[exp.Expr] = []
    found = []
    for aggregate in block.aggregates:
        if aggregate.kind in EXTREMES or is_distinct(aggregate):
            continue
        one = _verdict(block, analysis, aggregate)
        if one is not None and aggregate.node not in seen:
            seen.append(aggregate.node)
            found.append(one)
    return found


def _verdict(block: Block, analysis: Analysis, aggregate: Aggregate) -> Inflated | None:
    one = suspicion(block, analysis, measured(block, aggregate), within(block))
    if one is None or is_immune(block, aggregate, one.found, one.rows):
        return None
    form, beside = Form.FAN_OUT, _calculated_with(block, aggregate, one.found)
    if beside is None and is_chasm(block, one):
        form = Form.CHASM
    elif beside is None and aggregate.kind in COUNTS:
        beside = _counted_beside(block, aggregate, one.found)
    if beside is not None:
        form = Form.TWO_GRAINS
    elif form == Form.FAN_OUT and one.sure and _is_lookup(block, one.found):
        form = Form.LOOKUP
    return Inflated(aggregate=aggregate, suspicion=one, form=form, beside=beside)


def _is_lookup(block: Block, found: Multiplied) -> bool:
    source = found.independent[0]
    if not missing_key(source, block):
        return False
    return any(looks_up(base, source, block) for base in found.entity)


def is_chasm(block: Block, one: Suspicion) -> bool:
    """Whether two tables that hold many rows for the same one multiply each other.

    Either two of them repeat the entity, or the entity and what repeats it are both children of
    a third table.
    """
    found = one.found
    if len(found.independent) > 1:
        return True
    other = found.independent[0]
    ours = settles(block, found.entity, within(block), one.rows)
    theirs = settles(block, (other,), within(block), one.rows)
    if not identities(found.entity) & ~theirs:
        return False
    members = (*found.entity, other)
    return any(
        not source.relation.ids & ~(ours & theirs)
        for source in block.sources
        if source not in members
    )


def _calculated_with(block: Block, aggregate: Aggregate, found: Multiplied) -> Aggregate | None:
    """A DISTINCT aggregate of what repeats this one, in one calculation with it."""
    top = aggregate.node
    while isinstance(top.parent, exp.Binary | exp.Paren | exp.Cast | exp.Func) and top.parent:
        top = top.parent
    if top is aggregate.node:
        return None
    nodes = {id(node) for node in top.walk()}
    for other in block.aggregates:
        if id(other.node) in nodes and is_distinct(other) and _counts(block, other, found):
            return other
    return None


def _counted_beside(block: Block, aggregate: Aggregate, found: Multiplied) -> Aggregate | None:
    """A COUNT(DISTINCT) of what repeats this COUNT, beside it: there the copies were seen."""
    others = (a for a in block.aggregates if a.kind in COUNTS and is_distinct(a))
    return next((a for a in others if _counts(block, a, found)), None)


def _counts(block: Block, other: Aggregate, found: Multiplied) -> bool:
    sources = measured(block, other)
    return bool(sources) and all(source in found.multipliers for source in sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What an issue about an aggregate says: `verb` is in the third person."""

    rule: str
    severity: Severity
    verb: str
    compare: str


def about(block: Block, one: Inflated, wording: Wording) -> Issue:
    """The issue: said softly where no key was declared that could have ruled it out."""
    found, node, sure = one.found, one.aggregate.node, one.suspicion.sure
    entity, others = names(found.entity, block), names(found.independent, block)
    join = join_of(block, found.independent[-1])
    message = (
        f"{text(node)} {does(wording.verb, sure)} a row of {entity} once for each row of "
        f"{others} that matches it{join}{one.suspicion.doubt}. "
        f"{wording.compare.format(entity=entity, others=others)}"
    )
    return Issue(
        rule=wording.rule,
        severity=wording.severity if sure else Severity.INFO,
        measured=wording.severity,
        message=message,
        node=node,
        block=block,
        evidence=one.suspicion.evidence,
        entity=found.entity,
        multipliers=found.independent,
        within=within(block),
        rewrites=REWRITES,
    )


def fan_out(
    block: Block, analysis: Analysis, kinds: Collection[str], wording: Wording
) -> Iterator[Issue]:
    """An issue for each aggregate of these kinds whose measured rows one join repeats."""
    for one in inflated(block, analysis, Form.FAN_OUT, kinds):
        yield about(block, one, wording)
