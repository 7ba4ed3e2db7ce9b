"""A column beside an aggregate that is not grouped by: its value is some row's."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.aggregates import within
from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.measure import groups_of
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.probes import differing
from modularsql.multiplicity.rules.facts.suspicion import assumed
from modularsql.multiplicity.words import text
from modularsql.records import Severity
from modularsql.sql.aggregates import is_aggregate
from modularsql.sql.dialects import dialect_of


@detector
def bare_column(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A column that the group does not settle is taken from an arbitrary row of the group."""
    if not block.is_aggregate or any("groups" in reason for reason in block.unknown):
        return
    extremes = sum(a.kind in ("min", "max") for a in block.aggregates)
    reads = dialect_of(analysis.catalog.dialect)
    if extremes == 1 and reads.bare_follows_extreme:
        return
    settled = block.rows.closure(within(block))
    if all(output.attribute & settled for output in block.outputs):
        return
    settled = assumed(block, analysis).closure(within(block) | _in_brackets(block))
    refused = reads.bare_columns in ("refused", "of_key")
    # What such a database takes, it takes for an aggregate: also one that somebody added to it.
    passed = (*_PUTS_TOGETHER, exp.Anonymous) if refused else _PUTS_TOGETHER
    bare = [
        column
        for output in block.outputs
        if not output.attribute & settled
        for column in _bare(output.expression, passed)
        if _is_unsettled(column, settled, block)
    ]
    if bare:
        yield _issue(block, bare, refused)


def _in_brackets(block: Block) -> int:
    """The columns of GROUP BY (x)."""
    group = block.select.args.get("group")
    found = [block.columns.get(id(e.unnest())) for e in (group.expressions if group else ())]
    return union(home[2] for home in found if home is not None)


def _is_unsettled(column: exp.Column, settled: int, block: Block) -> bool:
    home = block.columns.get(id(column))
    return home is not None and not home[2] & settled and home[0] in block.sources


def _issue(block: Block, bare: list[exp.Column], refused: bool) -> Issue:
    group = block.select.args.get("group")
    by = ", ".join(text(part) for part in group.expressions) if group else ""
    where = f"the rows with the same {by}" if by else "all rows"
    called = list(dict.fromkeys(column.name for column in bare))
    first, verb = called[0], "are" if len(called) > 1 else "is"
    who = "this database refuses" if refused else "other databases refuse"
    return Issue(
        rule="bare_column",
        severity=Severity.WARNING,
        message=(
            f"{', '.join(called[:_MOST])} {verb} taken from an arbitrary one of {where}, being "
            f"neither grouped by nor inside an aggregate; {who} this. Compare "
            f"MIN({first}) with MAX({first})."
        ),
        # A column that a star stands for has no place of its own in the text.
        node=bare[0] if bare[0].parent is not None else block.select,
        block=block,
        probe=lambda: differing(block, groups_of(block), bare),
        rewrites=("top_of_group", "group_bare_columns"),
    )


_MOST = 3


_PUTS_TOGETHER = (exp.Query, exp.Window, exp.Filter, exp.WithinGroup, exp.IgnoreNulls)


def _bare(expression: exp.Expr, passed: tuple[type[exp.Expr], ...]) -> Iterator[exp.Column]:
    """Columns outside aggregates, windows and subqueries."""
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Column):
            yield node
        elif not isinstance(node, passed) and not is_aggregate(node):
            stack.extend(reversed(list(node.iter_expressions())))
