"""COUNT of one table's rows, taken after a join that repeats them."""

from collections.abc import Iterator

from modularsql.multiplicity.aggregates import COUNTS
from modularsql.multiplicity.inflation import Wording, fan_out
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.records import Severity

# Pairs may be what was asked for (appearances of singers), so it is no error.
WORDING = Wording(
    rule="fan_out_count",
    severity=Severity.WARNING,
    verb="counts",
    compare="Compare it with the number of different rows of {entity}.",
)


@detector
def fan_out_count(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A COUNT of a column counts a row once for every row that a join finds for it."""
    yield from fan_out(block, analysis, COUNTS, WORDING)
