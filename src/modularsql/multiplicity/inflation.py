"""The shape that the rules about inflated aggregates share; they differ in data."""

from collections.abc import Collection, Iterator

from modularsql.multiplicity.aggregates import repeats, within
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.words import names
from modularsql.records import Severity

REWRITES = ("semi_join", "count_distinct", "aggregate_before_join")


def inflated(
    rule: str, block: Block, kinds: Collection[str], severity: Severity, words: str
) -> Iterator[Issue]:
    """An issue for each aggregate of these kinds whose measured rows a join repeats.

    Two independent multipliers are a chasm, which has its own rule.
    """
    for aggregate in block.aggregates:
        if aggregate.kind not in kinds:
            continue
        found = repeats(block, aggregate)
        if found is None or len(found.independent) > 1:
            continue
        what = words.format(what=aggregate.node.sql(), entity=names(found.entity))
        yield Issue(
            rule=rule,
            severity=severity,
            message=f"{what} each row of {names(found.independent)} that belongs to it.",
            node=aggregate.node,
            block=block,
            entity=found.entity,
            multipliers=found.independent,
            within=within(block),
            rewrites=REWRITES,
        )
