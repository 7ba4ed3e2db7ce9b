"""DISTINCT over rows that are all different already."""

from collections.abc import Iterator

from modularsql.multiplicity.grain import returned
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.words import names
from modularsql.records import Evidence, Severity


@detector
def needless_distinct(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """DISTINCT stands before rows that a key keeps apart."""
    distinct = block.select.args.get("distinct")
    if distinct is None or distinct.args.get("on") or not block.sources:
        return
    evidence = _proof(block)
    # That no two rows are equal today is no reason to do without it.
    if evidence in (None, Evidence.OBSERVED, Evidence.ASSUMED):
        return
    what = "the groups" if block.is_aggregate else f"the rows of {names(block.sources, block)}"
    yield Issue(
        rule="needless_distinct",
        severity=Severity.INFO,
        message=(
            f"DISTINCT changes nothing: {what} come back once each without it. Compare the "
            "number of rows with and without DISTINCT."
        ),
        node=block.select,
        block=block,
        evidence=evidence or Evidence.ENFORCED,
        rewrites=("remove_distinct",),
    )


def _proof(block: Block) -> Evidence | None:
    """The grade by which the rows are different without DISTINCT."""
    if not block.is_aggregate:
        return block.rows.is_key(returned(block))
    if any("groups" in reason for reason in block.unknown):
        return None
    return block.rows.determines(returned(block), block.group or 0)
