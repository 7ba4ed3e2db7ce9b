"""A LEFT JOIN keeps rows without a match, and a later condition throws them out again."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.columns import conjuncts
from modularsql.multiplicity.model import Block, JoinKind, Source
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.words import names, text
from modularsql.records import Severity


@detector
def outer_join_undone(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """WHERE, or a later inner join, rejects the rows that a LEFT JOIN was written to keep."""
    for number, source in enumerate(block.sources):
        if source.kind != JoinKind.LEFT:
            continue
        later = _later_join(block, source, number)
        node = (_where(block, source) or later) if source.undone else later
        if node is None:
            continue
        asked = _asks_for_a_match(node)
        table = names((source,), block)
        yield Issue(
            rule="outer_join_undone",
            severity=Severity.INFO if asked else Severity.WARNING,
            message=(
                f"LEFT JOIN {table} keeps rows without a match in {table}, but {text(node)} drops "
                "them again, as an inner join would. Compare the number of rows with this "
                "condition inside the ON."
            ),
            node=node,
            block=block,
            rewrites=("move_filter_to_on",),
        )


def _where(block: Block, source: Source) -> exp.Expr | None:
    """The condition of WHERE that a padded row does not meet."""
    where = block.select.args.get("where")
    found = [
        part
        for part in conjuncts(where.this if where else None)
        if _names(part, block, source) and not isinstance(part, exp.Is)
    ]
    # Where one of several is no question for a match, that one is the surprise.
    return next((p for p in found if not _asks_for_a_match(p)), found[0] if found else None)


def _names(part: exp.Expr, block: Block, source: Source) -> bool:
    homes = (block.columns.get(id(column)) for column in part.find_all(exp.Column))
    return any(home is not None and home[0] is source for home in homes)


def _later_join(block: Block, source: Source, number: int) -> exp.Expr | None:
    """An inner join that compares the optional side's columns."""
    own = union(source.columns.values())
    for later in block.sources[number + 1 :]:
        inner = later.kind == JoinKind.INNER and later.join is not None
        if inner and later.predicate.not_null & own and later.join is not None:
            on: exp.Expr | None = later.join.args.get("on")
            return on or later.join
    return None


def _asks_for_a_match(node: exp.Expr) -> bool:
    """`x IS NOT NULL` says that only rows with a match are wanted."""
    inner = node.this if isinstance(node, exp.Not) else None
    inner = inner.this if isinstance(inner, exp.Paren) else inner
    return isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null)
