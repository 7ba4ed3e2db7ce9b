"""Dates that are text, compared with what they never equal: a number, or another form of date."""

import re
from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case, base_column
from modularsql.sql.dialects import dialect_of

_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_PARTS = (exp.TimeToStr, exp.Substring)
_OTHER_FORM = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{4}|\d{4}[/.]\d{1,2}[/.]\d{1,2}")
_ISO = "____-__-__%"


def time(case: Case) -> str | None:
    """`STRFTIME(...) = 2010` wants text; `day > '31/12/2023'` the form that the column has."""
    # Where types are hints, text and numbers are compared by type before value.
    if case.tree is None or not dialect_of(case.catalog.dialect).affinities:
        return None
    for one, other in _pairs(case.tree):
        if isinstance(one.unnest(), _PARTS) and _is_number(other.unnest()):
            return (
                f"{text(one)} is text, and text never equals the number {text(other)}. "
                "Write the number in quotation marks, or CAST the date's part to INTEGER."
            )
    return _other_form(case)


def _pairs(tree: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """What is compared with what, each way round; BETWEEN and IN too."""
    for node in tree.find_all(*_COMPARED):
        yield node.this, node.expression
        yield node.expression, node.this
    for between in tree.find_all(exp.Between):
        yield between.this, between.args["low"]
        yield between.this, between.args["high"]
    for within in tree.find_all(exp.In):
        for item in within.expressions:
            yield within.this, item


def _is_number(node: exp.Expr) -> bool:
    if isinstance(node, exp.Neg):
        node = node.this
    return isinstance(node, exp.Literal) and not node.is_string


def _other_form(case: Case) -> str | None:
    """A date that is written unlike the ISO dates of its column."""
    for block in case.blocks():
        for one, other in _pairs(block.select):
            value, found = other.unnest(), base_column(block, one)
            if found is None or not value.is_string or not _OTHER_FORM.fullmatch(value.name):
                continue
            table, column = found
            name = exp.column(column.name, quoted=True)
            select = exp.select("1").from_(exp.table_(table.name, quoted=True))
            if case.any_row(select.where(exp.Like(this=name, expression=_literal(_ISO)))):
                return (
                    f"{text(one)} holds dates as YYYY-MM-DD, {text(value)} is written otherwise: "
                    "as text the two compare wrongly. Write the date as the column does."
                )
    return None


def _literal(value: str) -> exp.Literal:
    return exp.Literal.string(value)
