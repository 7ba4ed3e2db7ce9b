"""A list of one table's values, gathered after a join that repeats the table's rows."""

from collections.abc import Iterator

from modularsql.multiplicity.aggregates import LISTS
from modularsql.multiplicity.inflation import Wording, fan_out
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.records import Severity

WORDING = Wording(
    rule="fan_out_list",
    severity=Severity.WARNING,
    verb="lists",
    compare="Compare its length with the number of rows of {entity}.",
)


@detector
def fan_out_list(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """GROUP_CONCAT, STRING_AGG or ARRAY_AGG lists a row once for every row a join finds for it."""
    yield from fan_out(block, analysis, LISTS, WORDING)
