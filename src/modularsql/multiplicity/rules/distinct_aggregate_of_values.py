"""SUM(DISTINCT x) and AVG(DISTINCT x): equal values of different rows count once."""

from collections.abc import Iterator
from functools import partial

from sqlglot import exp

from modularsql.multiplicity.aggregates import (
    AVERAGES,
    SUMS,
    arguments,
    is_distinct,
    is_key_of_entity,
)
from modularsql.multiplicity.measure import groups_of
from modularsql.multiplicity.model import Aggregate, Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.probes import differing, identity
from modularsql.multiplicity.words import names, text
from modularsql.records import Severity


@detector
def distinct_aggregate_of_values(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """DISTINCT inside SUM or AVG drops a row whose value another row has too."""
    for aggregate in block.aggregates:
        if aggregate.kind not in SUMS | AVERAGES or not is_distinct(aggregate):
            continue
        if not aggregate.sources or is_key_of_entity(block, aggregate):
            continue
        entity = names(aggregate.sources, block)
        yield Issue(
            rule="distinct_aggregate_of_values",
            severity=Severity.WARNING,
            measured=Severity.ERROR,
            message=(
                f"{text(aggregate.node)} counts equal values of different rows of {entity} once. "
                f"Compare it with the same over {entity} without the joins and without DISTINCT."
            ),
            node=aggregate.node,
            block=block,
            probe=partial(_equal_values, block, aggregate),
            rewrites=("aggregate_before_join",),
        )


def _equal_values(block: Block, aggregate: Aggregate) -> exp.Select | None:
    """Two rows of the measured table with one value, in one group."""
    if len(aggregate.sources) != 1 or (key := identity(aggregate.sources[0])) is None:
        return None
    return differing(block, [*groups_of(block), *arguments(aggregate)], [key])
