"""An average over one table's column, taken after a join that repeats the table's rows."""

from collections.abc import Iterator

from modularsql.multiplicity.aggregates import AVERAGES
from modularsql.multiplicity.inflation import Wording, fan_out
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.records import Severity

# A weighted average may be what was asked for (the age of players over their matches).
WORDING = Wording(
    rule="fan_out_avg",
    severity=Severity.WARNING,
    verb="weighs",
    compare="Compare it with the average over {entity} alone.",
)


@detector
def fan_out_avg(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """An AVG weighs a row by the number of rows that a join finds for it."""
    yield from fan_out(block, analysis, AVERAGES, WORDING)
