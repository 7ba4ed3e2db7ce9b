"""COUNT counts what is not NULL, so a CASE with ELSE 0, or a condition, counts every row."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.aggregates import COUNTS, arguments, is_distinct
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.words import text
from modularsql.records import Severity


@detector
def count_of_case_else(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """COUNT of a CASE whose ELSE is a value, or of a condition, counts rows that do not meet it."""
    for aggregate in block.aggregates:
        if aggregate.kind not in COUNTS or len(parts := arguments(aggregate)) != 1:
            continue
        argument = parts[0].unnest()
        distinct = is_distinct(aggregate)
        otherwise = _otherwise(argument, distinct)
        if otherwise is None and (distinct or not _is_condition(argument)):
            continue
        yield Issue(
            rule="count_of_case_else",
            severity=Severity.WARNING if distinct else Severity.ERROR,
            message=_message(aggregate.node, otherwise, distinct),
            node=aggregate.node,
            block=block,
            rewrites=("drop_else_zero",) if otherwise is not None else (),
        )


def _message(node: exp.Expr, otherwise: exp.Expr | None, distinct: bool) -> str:
    if otherwise is None:
        return (
            f"{text(node)} counts every row for which the condition is true or false, since COUNT "
            "only leaves out NULL. Compare it with COUNT(*) under the same condition in WHERE."
        )
    if distinct:
        return (
            f"{text(node)} counts the {text(otherwise)} of its ELSE as one more value. Compare it "
            "with the same without ELSE."
        )
    return (
        f"{text(node)} counts every row, since the {text(otherwise)} of its ELSE is not NULL. "
        "Compare it with the same without ELSE."
    )


def _otherwise(argument: exp.Expr, distinct: bool) -> exp.Expr | None:
    """The constant that rows get which meet no condition; with DISTINCT only beside columns."""
    if isinstance(argument, exp.Case):
        otherwise = argument.args.get("default")
        chosen = [branch.args.get("true") for branch in argument.args.get("ifs") or ()]
    elif isinstance(argument, exp.If):
        otherwise, chosen = argument.args.get("false"), [argument.args.get("true")]
    else:
        return None
    if not isinstance(otherwise, exp.Literal | exp.Boolean | exp.Neg):
        return None
    columns = any(isinstance(c, exp.Expr) and c.find(exp.Column) for c in chosen)
    return otherwise if columns or not distinct else None


def _is_condition(argument: exp.Expr) -> bool:
    """Whether it is a plain condition; `x = 1 OR NULL` is the idiom that does count."""
    if not isinstance(argument, exp.Predicate | exp.And | exp.Or | exp.Not):
        return False
    # What is in it may be NULL on purpose.
    if argument.find(exp.Null, exp.Case, exp.If, exp.Nullif) is not None:
        return isinstance(argument, exp.Is)
    return argument.find(exp.Column) is not None
