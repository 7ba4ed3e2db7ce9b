"""SUM of one table's column, taken after a join that repeats the table's rows."""

from collections.abc import Iterator

from modularsql.multiplicity.aggregates import SUMS
from modularsql.multiplicity.inflation import inflated
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.records import Severity


@detector
def fan_out_sum(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A SUM adds a row's value once for every row that a join finds for it."""
    yield from inflated(
        "fan_out_sum", block, SUMS, Severity.ERROR, "{what} adds each row of {entity} once for"
    )
