"""SELECT DISTINCT … ORDER BY something else LIMIT n: which rows are cut is a matter of chance."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.grain import returned
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.words import text
from modularsql.records import Severity


@detector
def limit_before_dedup(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """DISTINCT drops copies before LIMIT cuts, by an order that the result does not hold."""
    order = block.select.args.get("order")
    if not block.is_distinct or not block.is_cut or order is None or block.is_aggregate:
        return
    known = block.rows.closure(returned(block))
    for column in order.find_all(exp.Column):
        home = block.columns.get(id(column))
        if home is None or home[2] & known:
            continue
        yield Issue(
            rule="limit_before_dedup",
            severity=Severity.INFO,
            message=(
                f"DISTINCT drops copies before LIMIT cuts, so the result is not that of the first "
                f"rows by {text(column)}, of which a returned row may have several. Compare with "
                "SELECT DISTINCT over a subquery that holds ORDER BY and LIMIT."
            ),
            node=order,
            block=block,
            rewrites=("remove_distinct", "distinct_after_limit"),
        )
        return
