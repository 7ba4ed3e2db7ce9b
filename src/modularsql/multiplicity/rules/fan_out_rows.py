"""Output rows repeat because a join fans out every table that supplies them."""

from collections.abc import Iterator

from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.grain import multiplied, output_entity
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.words import names, rows_of
from modularsql.records import Severity


@detector
def fan_out_rows(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A join repeats the rows that the query returns, and nothing it returns tells them apart."""
    if block.is_aggregate or block.is_distinct or len(block.sources) < 2:
        return
    if block.rows.is_key(union(output.attribute for output in block.outputs)):
        return
    found = multiplied(block, output_entity(block))
    if found is None:
        return
    yield Issue(
        rule="fan_out_rows",
        severity=Severity.WARNING,
        message=(
            f"{rows_of(found.entity)} can come back once for each matching row of "
            f"{names(found.independent)}, which the result does not show."
        ),
        node=block.select,
        block=block,
        entity=found.entity,
        multipliers=found.independent,
        rewrites=("semi_join", "inject_distinct"),
    )
