"""COUNT(*) after a LEFT JOIN: a row without a match counts as one."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.aggregates import COUNTS, is_distinct, measured, within
from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.grain import grounds, settles
from modularsql.multiplicity.model import Aggregate, Block, JoinKind, Source
from modularsql.multiplicity.names import suppliers
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.probes import any_row, identity
from modularsql.multiplicity.words import names, text
from modularsql.records import Evidence, Severity


@detector
def count_star_of_outer_join(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A group without a match in the joined table counts 1 instead of 0."""
    if block.group is None:
        return
    for number, child in enumerate(block.sources):
        if child.kind != JoinKind.LEFT or not child.optional or not _counted(block, number):
            continue
        for aggregate in block.aggregates:
            if _counts_padded(block, aggregate, child) and not _at_least(aggregate.node):
                yield _issue(block, aggregate, child)
                break


def _counted(block: Block, number: int) -> bool:
    """Whether a row before the join may meet several of the child, so that these are counted."""
    child, before = block.sources[number], tuple(block.sources[:number])
    if union(child.columns.values()) & within(block):
        return False
    return bool(child.relation.ids & ~settles(block, before, within(block)))


def _counts_padded(block: Block, aggregate: Aggregate, child: Source) -> bool:
    """COUNT(*), COUNT(1), or COUNT of a column of what the group is one row of.

    Whose FILTER asks about the joined table decides itself what becomes of a padded row.
    """
    if aggregate.kind not in COUNTS or is_distinct(aggregate):
        return False
    around = aggregate.node.parent
    if isinstance(around, exp.Filter) and child in suppliers(around.expression, block):
        return False
    if isinstance(aggregate.argument, exp.Case | exp.If | exp.Predicate):
        return False
    used = measured(block, aggregate)
    settled = block.rows.closure(within(block))
    return not any(s is child or s.relation.ids & ~settled for s in used)


def _at_least(node: exp.Expr) -> bool:
    """Whether it only stands in `HAVING COUNT(*) > 1`, where a group without a match is out."""
    having = node.find_ancestor(exp.Having, exp.Select)
    if not isinstance(having, exp.Having) or not isinstance(node.parent, exp.GT | exp.GTE):
        return False
    bound = node.parent.expression
    least = 1 if isinstance(node.parent, exp.GT) else 2
    return isinstance(bound, exp.Literal) and bound.is_int and int(bound.this) >= least


def _issue(block: Block, aggregate: Aggregate, child: Source) -> Issue:
    evidence = grounds(block, (child,))
    sure = evidence != Evidence.ASSUMED
    table = names((child,), block)
    return Issue(
        rule="count_star_of_outer_join",
        severity=Severity.WARNING if sure else Severity.INFO,
        measured=Severity.WARNING,
        message=(
            f"{text(aggregate.node)} is 1, not 0, where {table} has no matching row: LEFT JOIN "
            f"keeps such a row and it is counted. Compare it with COUNT of a column of {table} "
            "that is never NULL."
        ),
        node=aggregate.node,
        block=block,
        evidence=evidence,
        probe=lambda: _padded(block, child),
        rewrites=("count_child_key",),
    )


def _padded(block: Block, child: Source) -> exp.Select | None:
    key = identity(child)
    return any_row(block, key.is_(exp.null())) if key is not None else None
