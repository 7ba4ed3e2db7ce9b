"""A part of a date, which is text, compared with a number: in SQLite never equal."""

from sqlglot import exp

from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case

_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
# Dialects in which text and numbers are compared by type before value.
_STRICT = frozenset({"sqlite"})


def time(case: Case) -> str | None:
    """`STRFTIME(...) = 2010`: the number has to be text."""
    if case.tree is None or case.catalog.dialect not in _STRICT:
        return None
    for node in case.tree.find_all(*_COMPARED):
        for one, other in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(one.unnest(), exp.TimeToStr) and _is_number(other.unnest()):
                return (
                    f"{text(one)} is text, and text never equals the number {text(other)}. "
                    "Write the number in quotation marks, or CAST the date's part to INTEGER."
                )
    return None


def _is_number(node: exp.Expr) -> bool:
    if isinstance(node, exp.Neg):
        node = node.this
    return isinstance(node, exp.Literal) and not node.is_string
