"""One calculation mixes an aggregate that a join repeats with a DISTINCT one that it does not."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.aggregates import measured, within
from modularsql.multiplicity.inflation import REWRITES, VERBS, Form, Inflated, inflated
from modularsql.multiplicity.model import Aggregate, Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.words import does, names, text
from modularsql.records import Severity


@detector
def two_grains_in_one_select(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A calculation sets an aggregate over repeated rows against a DISTINCT one of other rows."""
    for one in inflated(block, analysis, Form.TWO_GRAINS):
        other = one.beside
        if other is None:
            continue
        sure = one.suspicion.sure
        verb = does(VERBS.get(one.aggregate.kind, "sees"), sure)
        severity = Severity.ERROR if _in_one_calculation(one, other) else Severity.WARNING
        entity = names(one.found.entity, block)
        yield Issue(
            rule="two_grains_in_one_select",
            severity=severity if sure else Severity.INFO,
            measured=severity,
            message=(
                f"{text(one.aggregate.node)} {verb} a row of {entity} once for "
                f"each matching row of {names(one.found.independent, block)}, while "
                f"{text(other.node)} beside it counts each row of "
                f"{names(measured(block, other), block)} once{one.suspicion.doubt}. "
                "Compute each from its own table "
                "and compare."
            ),
            node=one.aggregate.node,
            block=block,
            evidence=one.suspicion.evidence,
            entity=one.found.entity,
            multipliers=one.found.independent,
            within=within(block),
            rewrites=REWRITES,
        )


def _in_one_calculation(one: Inflated, other: Aggregate) -> bool:
    top = one.aggregate.node
    while top.parent is not None and not isinstance(top.parent, exp.Select | exp.Alias):
        top = top.parent
    return any(node is other.node for node in top.walk())
