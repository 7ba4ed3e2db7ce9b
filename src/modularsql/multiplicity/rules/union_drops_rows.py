"""UNION below a SUM or COUNT: equal rows of different things become one."""

from collections.abc import Iterator
from functools import partial

from sqlglot import exp

from modularsql.multiplicity.aggregates import AVERAGES, LISTS, SUMS, is_distinct
from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.model import Aggregate, Block, Query, Source
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.probes import fewer_rows
from modularsql.multiplicity.words import text
from modularsql.records import Severity

_MEASURES = SUMS | AVERAGES | LISTS


@detector
def union_drops_rows(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """An aggregate runs over a UNION whose columns do not tell rows apart."""
    unions = [s for s in block.sources if s.query is not None and _drops(s.query)]
    if not unions:
        return
    for aggregate in block.aggregates:
        source = _over(aggregate, unions, block)
        if source is None or source.query is None:
            continue
        yield Issue(
            rule="union_drops_rows",
            # How many different values there are is a fair question; their sum hardly is.
            severity=Severity.WARNING if aggregate.kind in _MEASURES else Severity.INFO,
            measured=Severity.WARNING,
            message=(
                f"{text(aggregate.node)} runs over a UNION, which drops a row that equals another "
                "in all its columns, and no column of it tells rows apart. Compare the number of "
                "rows with UNION and with UNION ALL."
            ),
            node=aggregate.node,
            block=block,
            probe=partial(_fewer, source.query),
            rewrites=("union_to_union_all",),
        )


def _fewer(query: Query) -> exp.Select | None:
    return fewer_rows(query.node) if isinstance(query.node, exp.Union) else None


def _over(aggregate: Aggregate, unions: list[Source], block: Block) -> Source | None:
    if is_distinct(aggregate) or aggregate.kind not in _MEASURES | {"count"}:
        return None
    if not aggregate.sources:
        return unions[0] if len(block.sources) == 1 else None
    return next((s for s in unions if s in aggregate.sources), None)


def _drops(query: Query) -> bool:
    """Whether it is a UNION and a branch may return equal rows."""
    if not isinstance(query.node, exp.Union) or query.node.args.get("distinct") is False:
        return False
    return any(_repeats(branch) for branch in query.branches)


def _repeats(branch: Query) -> bool:
    if branch.branches and isinstance(branch.node, exp.Union):
        return any(_repeats(inner) for inner in branch.branches)
    block = branch.block
    if block is None or not branch.complete:
        return False
    if block.is_distinct or block.is_aggregate:
        return False
    return branch.relation.is_key(union(attribute for _, attribute in branch.columns)) is None
