"""Why two results differ, as one word: the first of these questions that is answered with yes.

Same rows but another order; the same rows but another number of copies; one result is empty;
another choice among rows that tie at gold's LIMIT; the same values in other columns, or more or
fewer of them; nearly the same numbers; the same values in other types; a part of the other;
nothing in common.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from modularsql.evaluation.near import equal_but_for_rounding, equal_but_for_types
from modularsql.evaluation.pair import Pair
from modularsql.rows.columns import Undecided, column_mapping


class Cause(StrEnum):
    """What sets a prediction's result apart from gold's."""

    EQUAL = "equal"
    ORDER = "order"
    MISSING_DISTINCT = "missing_distinct"
    EXTRA_DISTINCT = "extra_distinct"
    FAN_OUT = "fan_out"
    MULTIPLICITY = "multiplicity"
    LIMIT_TIES = "limit_ties"
    COLUMNS_PERMUTED = "columns_permuted"
    EXTRA_COLUMNS = "extra_columns"
    MISSING_COLUMNS = "missing_columns"
    ROUNDING = "rounding"
    TYPE = "type"
    EMPTY = "empty"
    NOT_EMPTY = "not_empty"
    SUBSET = "subset"
    SUPERSET = "superset"
    DISJOINT = "disjoint"
    DIFFERENT = "different"
    TRUNCATED = "truncated"
    ERROR = "error"
    TIMEOUT = "timeout"


WORDS: Mapping[Cause, str] = {
    Cause.EQUAL: "the same rows, in gold's order where it has one",
    Cause.ORDER: "the same rows in an order that gold's ORDER BY does not allow",
    Cause.MISSING_DISTINCT: "rows repeat that gold makes distinct or groups",
    Cause.EXTRA_DISTINCT: "rows come once that gold repeats",
    Cause.FAN_OUT: "a join repeats rows",
    Cause.MULTIPLICITY: "the same rows, other numbers of copies",
    Cause.LIMIT_TIES: "another choice of the rows that tie where gold's LIMIT cuts",
    Cause.COLUMNS_PERMUTED: "the same rows once the columns are reordered",
    Cause.EXTRA_COLUMNS: "the same rows and further columns",
    Cause.MISSING_COLUMNS: "the same rows, but columns are missing",
    Cause.ROUNDING: "numbers differ by rounding only",
    Cause.TYPE: "the same values as other types",
    Cause.EMPTY: "the prediction returns nothing",
    Cause.NOT_EMPTY: "gold returns nothing, the prediction does",
    Cause.SUBSET: "rows of gold are missing",
    Cause.SUPERSET: "all rows of gold and further ones",
    Cause.DIFFERENT: "some rows are gold's",
    Cause.DISJOINT: "no row is gold's",
    Cause.TRUNCATED: "a cap has cut a result, what is left does not show them equal",
    Cause.ERROR: "the prediction does not run",
    Cause.TIMEOUT: "the prediction ran into the time limit",
}
"""What each cause says of the prediction."""


BY_COLUMNS = frozenset({Cause.COLUMNS_PERMUTED, Cause.EXTRA_COLUMNS, Cause.MISSING_COLUMNS})
"""Causes that a `column_map` tells more of."""


def cause(pair: Pair) -> Cause:
    """The cause of the difference between the two results; `error` and `timeout` have none."""
    if pair.same_order:
        return Cause.EQUAL
    if pair.same_bag:
        return Cause.EQUAL if pair.same_order is None else Cause.ORDER
    if pair.truncated:
        return Cause.TRUNCATED
    if pair.same_set:
        return _copies(pair)
    if not pair.pred_rows:
        return Cause.EMPTY
    if not pair.gold_rows:
        return Cause.NOT_EMPTY
    if pair.tied:
        return Cause.LIMIT_TIES
    return _columns(pair) or _values(pair) or _part(pair)


def _copies(pair: Pair) -> Cause:
    """The same rows occur, but not equally often."""
    gold, pred = pair.gold_bag, pair.pred_bag
    if gold <= pred:
        return _too_many(pair)
    if pred <= gold and len(pred) == len(pair.pred_rows):
        shape = pair.pred_shape
        return Cause.EXTRA_DISTINCT if shape and shape.unrepeated else Cause.MULTIPLICITY
    return Cause.MULTIPLICITY


def _too_many(pair: Pair) -> Cause:
    gold, pred = pair.gold_shape, pair.pred_shape
    if gold is None or pred is None:
        return Cause.MULTIPLICITY
    if gold.unrepeated and not pred.unrepeated:
        return Cause.MISSING_DISTINCT
    return Cause.FAN_OUT if pred.joined else Cause.MULTIPLICITY


ColumnMap = tuple[int | None, ...]
"""For each column of gold the place (0-based) of the prediction's that stands for it, if any."""


def column_map(pair: Pair) -> ColumnMap | None:
    """Which columns make the rows equal, where some of the wider result's do."""
    gold, pred = pair.gold_rows, pair.pred_rows
    if not gold or len(gold) != len(pred):
        return None
    if len(gold[0]) <= len(pred[0]):
        found = column_mapping(gold, pred)
        return None if isinstance(found, Undecided) else found
    found = column_mapping(pred, gold)
    if isinstance(found, Undecided | None):
        return None
    return tuple(found.index(at) if at in found else None for at in range(len(gold[0])))


def columns_said(columns: Sequence[int | None]) -> str:
    """A column map in words, counted from 1."""
    places = ", ".join("none" if place is None else str(place + 1) for place in columns)
    return f"gold's columns are the prediction's {places}"


def _columns(pair: Pair) -> Cause | None:
    if pair.fact(column_map) is None:
        return None
    gold, pred = len(pair.gold_rows[0]), len(pair.pred_rows[0])
    if gold == pred:
        return Cause.COLUMNS_PERMUTED
    return Cause.EXTRA_COLUMNS if pred > gold else Cause.MISSING_COLUMNS


def _values(pair: Pair) -> Cause | None:
    """Nearly the same values in the same columns."""
    gold, pred = pair.gold_rows, pair.pred_rows
    if len(gold) != len(pred) or len(gold[0]) != len(pred[0]):
        return None
    if equal_but_for_rounding(pair):
        return Cause.ROUNDING
    return Cause.TYPE if equal_but_for_types(gold, pred) else None


def _part(pair: Pair) -> Cause:
    gold, pred = pair.gold_bag, pair.pred_bag
    if pred <= gold:
        return Cause.SUBSET
    if gold <= pred:
        return Cause.SUPERSET
    return Cause.DIFFERENT if gold.keys() & pred.keys() else Cause.DISJOINT
