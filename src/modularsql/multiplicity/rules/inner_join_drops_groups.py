"""Counting children for each parent by an inner join: parents without any are missing."""

from collections.abc import Iterator
from functools import partial

from sqlglot import exp

from modularsql.multiplicity.aggregates import COUNTS, SUMS, measured, within
from modularsql.multiplicity.grain import multiplied
from modularsql.multiplicity.model import Block, JoinKind, Source
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.probes import without_partner
from modularsql.multiplicity.words import join_of, names
from modularsql.records import Severity


@detector
def inner_join_drops_groups(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A count for each row of a table leaves out the rows that have nothing to count."""
    if not block.group or len(block.sources) != 2 or _picks(block):
        return
    if not block.aggregates or any(a.kind not in COUNTS | SUMS for a in block.aggregates):
        return
    parent, child = _pair(block)
    if parent is None or child is None:
        return
    if any(parent in measured(block, aggregate) for aggregate in block.aggregates):
        return
    one, other = names((parent,), block), names((child,), block)
    yield Issue(
        rule="inner_join_drops_groups",
        severity=Severity.INFO,
        message=(
            f"Rows of {one} without a match in {other}{join_of(block, block.sources[1])} are left "
            f"out of the result instead of showing 0. Compare the number of groups with the rows "
            f"of {one}."
        ),
        node=block.select,
        block=block,
        probe=partial(without_partner, block, parent, child),
        told=f" Here {{lost:,}} of {{parents:,}} rows of {_braced(one)} are left out.",
        rewrites=("keep_groups",),
    )


def _braced(name: str) -> str:
    """A name that stays what it is under `format`."""
    return name.replace("{", "{{").replace("}", "}}")


def _picks(block: Block) -> bool:
    """Whether only some groups are wanted, so that one with nothing to count is no loss."""
    clauses = ("having", "limit", "where", "qualify", "distinct")
    return any(block.select.args.get(clause) for clause in clauses)


def _pair(block: Block) -> tuple[Source | None, Source | None]:
    """The table that each group is one row of, and the table inner joined to count."""
    fixed = block.rows.closure(within(block))
    first, second = block.sources
    plain = second.kind == JoinKind.INNER
    for parent, child in ((first, second), (second, first)):
        settled = parent.table is not None and not parent.relation.ids & ~fixed
        if plain and settled and multiplied(block, (parent,), within(block)):
            return (parent, child) if _groups_by(block, parent) else (None, None)
    return None, None


def _groups_by(block: Block, parent: Source) -> bool:
    """Whether the groups or the outputs name the parent's own columns, not only the child's."""
    group = block.select.args.get("group")
    parts = [*(group.expressions if group else ()), *(o.expression for o in block.outputs)]
    homes = (block.columns.get(id(c)) for part in parts for c in part.find_all(exp.Column))
    return any(home is not None and home[0] is parent for home in homes)
