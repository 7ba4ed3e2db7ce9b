"""Gold that a right prediction may fail: what a gold query's text, rows and findings give away.

A smell is no error. It says that the answer depends on something that a question does not (how
often a join repeats a row, which of two tied rows came first, today's date), or that there is
nothing to compare with. Scores are shown with and without such questions.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from sqlglot import exp

from modularsql.evaluation.shape import Shape, read_shape
from modularsql.evaluation.ties import is_cut_at_a_tie, key_columns
from modularsql.guard.findings import NULL_SORTS_FIRST
from modularsql.records import Failure, FailureKind, Finding, Severity
from modularsql.rows import Rows
from modularsql.sql.outermost import is_cut, outermost
from modularsql.sql.parse import Unparsed, parse_text


class Smell(StrEnum):
    """What may be wrong with a gold query; NULL_FIRST_CUT is looked for in predictions as well."""

    ERROR = "error"
    TIMEOUT = "timeout"
    EMPTY = "empty"
    FAN_OUT = "fan_out"
    CUT_AT_TIE = "cut_at_tie"
    NULL_FIRST_CUT = "null_first_cut"
    ROW_ORDER = "row_order"
    TODAY = "today"
    RANDOM = "random"
    NUMERIC_TEXT = "numeric_text"


TITLES: Mapping[Smell, str] = {
    Smell.ERROR: "does not run",
    Smell.TIMEOUT: "ran into the time limit",
    Smell.EMPTY: "returns nothing, or nothing but NULL",
    Smell.FAN_OUT: "a join repeats what it counts, sums or lists",
    Smell.CUT_AT_TIE: "LIMIT cuts through rows that tie on the ORDER BY keys",
    Smell.NULL_FIRST_CUT: "LIMIT keeps rows with NULL as their ORDER BY key, which sorts first",
    Smell.ROW_ORDER: "LIMIT without ORDER BY, or a value from an arbitrary row",
    Smell.TODAY: "depends on today's date",
    Smell.RANDOM: "draws at random",
    Smell.NUMERIC_TEXT: "orders numbers that are stored as text",
}
"""What each smell says of a gold query."""

FAN_OUT_RULES = frozenset(
    {"fan_out_sum", "fan_out_count", "fan_out_avg", "fan_out_list", "fan_out_rows", "chasm"}
)
ARBITRARY_RULES = frozenset({"bare_column"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A gold query and what its run and the guard's analysis gave.

    `keyed` is the result of `keyed_query(sql, …)` (ties.py), where it was run.
    """

    sql: str
    dialect: str
    outcome: Rows | Failure
    findings: Collection[Finding] = ()
    keyed: Rows | None = None


def smells(gold: Gold) -> tuple[Smell, ...]:
    """The smells of one gold query, in the order of `Smell`."""
    found = {*_of_text(gold), *_of_findings(gold.findings), *_of_outcome(gold)}
    return tuple(smell for smell in Smell if smell in found)


def _of_text(gold: Gold) -> Iterator[Smell]:
    tree = parse_text(gold.sql, gold.dialect)
    if isinstance(tree, Unparsed):
        return
    if any(_is_today(node, gold.dialect) for node in tree.walk()):
        yield Smell.TODAY
    if any(_is_random(node) for node in tree.walk()):
        yield Smell.RANDOM
    inner = (node for node in tree.find_all(exp.Select) if node is not outermost(tree))
    if any(is_cut(block) and not block.args.get("order") for block in inner):
        yield Smell.ROW_ORDER


_NOW = (
    exp.CurrentDate,
    exp.CurrentDatetime,
    exp.CurrentTime,
    exp.CurrentTimestamp,
    exp.Localtime,
    exp.Localtimestamp,
)
_NOW_BY_NAME = frozenset(
    """
    clock_timestamp get_current_timestamp now statement_timestamp sysdate timeofday
    transaction_timestamp utc_date utc_time utc_timestamp
    """.split()
)
_NOW_WITHOUT_TIME: Mapping[str, frozenset[str]] = {
    "sqlite": frozenset({"date", "time", "datetime", "julianday", "unixepoch"}),
    "mysql": frozenset({"unix_timestamp"}),
}
"""Functions that mean now where they are given no time, by dialect."""
_RANDOM = frozenset(
    "gen_random_uuid random random_bytes random_normal randomblob uuid uuid_short".split()
)


def _called(node: exp.Expr) -> str:
    """The name by which a function is called, folded; empty for what is none."""
    if isinstance(node, exp.Anonymous):
        return str(node.name).casefold()
    return node.sql_name().casefold() if isinstance(node, exp.Func) else ""


def _is_today(node: exp.Expr, dialect: str) -> bool:
    if isinstance(node, _NOW) or _called(node) in _NOW_BY_NAME:
        return True
    if _called(node) in _NOW_WITHOUT_TIME.get(dialect, ()):
        return not any(True for _ in node.iter_expressions())
    return (
        isinstance(node, exp.Literal)
        and node.is_string
        and node.this.strip().casefold() == "now"
        and node.find_ancestor(exp.Func) is not None
    )


def _is_random(node: exp.Expr) -> bool:
    return isinstance(node, exp.Rand | exp.Uuid | exp.TableSample) or _called(node) in _RANDOM


def _of_findings(findings: Collection[Finding]) -> Iterator[Smell]:
    loud = {finding.rule for finding in findings if finding.severity != Severity.INFO}
    if loud & FAN_OUT_RULES:
        yield Smell.FAN_OUT
    if loud & ARBITRARY_RULES:
        yield Smell.ROW_ORDER
    if NULL_SORTS_FIRST in loud:
        yield Smell.NULL_FIRST_CUT


def _of_outcome(gold: Gold) -> Iterator[Smell]:
    rows = gold.outcome
    if isinstance(rows, Failure):
        yield Smell.TIMEOUT if rows.kind == FailureKind.TIMEOUT else Smell.ERROR
        return
    if all(cell is None for row in rows.rows for cell in row):
        yield Smell.EMPTY
    shape = read_shape(gold.sql, gold.dialect, rows.columns)
    if shape is None:
        return
    if shape.cut and not shape.ordered and len(rows.rows) == shape.limit:
        yield Smell.ROW_ORDER
    if any(_is_numeric_text(row[at]) for at in shape.extremes for row in rows.rows):
        yield Smell.NUMERIC_TEXT
    if shape.ordered:
        yield from _of_order(rows, shape, gold.keyed)


def _of_order(rows: Rows, shape: Shape, keyed: Rows | None) -> Iterator[Smell]:
    columns = key_columns(rows, shape, keyed)
    if any(_sorts_as_text(column) for column in columns if column is not None):
        yield Smell.NUMERIC_TEXT
    if shape.cut and keyed is not None and is_cut_at_a_tie(rows.rows, shape, keyed):
        yield Smell.CUT_AT_TIE


def _sorts_as_text(values: Sequence[Any]) -> bool:
    """Whether the values are numbers in text, which sorted as numbers stand in another order."""
    there = [value for value in values if value is not None]
    if not all(map(_is_numeric_text, there)):
        return False
    return sorted(there, key=Decimal) != sorted(there)


def _is_numeric_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return Decimal(value).is_finite()
    except InvalidOperation:
        return False
