"""UNION ALL of branches that return the same rows."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.columns import conjuncts, is_volatile
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.words import text
from modularsql.records import Severity


@detector
def union_all_repeats_rows(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A branch of a UNION ALL returns only rows that an earlier branch returns too."""
    around = block.select.parent
    if not isinstance(around, exp.Union) or around.args.get("distinct") is not False:
        return
    if around.expression is not block.select or is_volatile(block.select):
        return
    for earlier in _before(around):
        if _contains(earlier, block.select) or _contains(block.select, earlier):
            yield Issue(
                rule="union_all_repeats_rows",
                severity=Severity.INFO,
                message=(
                    f"UNION ALL returns rows twice: {text(block.select)} reads rows that another "
                    "branch returns as well. Compare the number of rows with UNION."
                ),
                node=block.select,
                block=block,
                rewrites=("union_all_to_union",),
            )
            return


def _before(around: exp.Union) -> Iterator[exp.Select]:
    node = around.this
    while isinstance(node, exp.Union) and node.args.get("distinct") is False:
        if isinstance(node.expression, exp.Select):
            yield node.expression
        node = node.this
    if isinstance(node, exp.Select):
        yield node


def _contains(more: exp.Select, fewer: exp.Select) -> bool:
    """Whether one reads the same as the other, without some of its conditions."""
    if any(select.args.get("limit") or select.args.get("offset") for select in (more, fewer)):
        return False
    grouped = more.args.get("group") or any(more.find_all(exp.AggFunc))
    conditions = [
        list(conjuncts(s.args["where"].this if s.args.get("where") else None))
        for s in (more, fewer)
    ]
    if grouped and conditions[0] != conditions[1]:
        return False
    if not all(condition in conditions[1] for condition in conditions[0]):
        return False
    bare = [select.copy() for select in (more, fewer)]
    for select in bare:
        for clause in ("where", "order"):
            select.set(clause, None)
    return bool(bare[0] == bare[1])
