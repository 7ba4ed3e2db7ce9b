"""SUM of one table's column, taken after a join that repeats the table's rows."""

from collections.abc import Iterator

from modularsql.multiplicity.aggregates import SUMS
from modularsql.multiplicity.inflation import Wording, fan_out
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.records import Severity

WORDING = Wording(
    rule="fan_out_sum",
    severity=Severity.ERROR,
    verb="adds",
    compare="Compare it with the sum over {entity} alone.",
)


@detector
def fan_out_sum(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A SUM adds a row's value once for every row that a join finds for it."""
    yield from fan_out(block, analysis, SUMS, WORDING)
