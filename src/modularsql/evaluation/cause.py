"""Why two results differ, as one word: the first of these questions that is answered with yes.

Same rows but another order; the same rows but another number of copies; one result is empty;
another choice among rows that tie at gold's LIMIT; the same values in other columns, or more or
fewer of them; nearly the same numbers; the same values in other types; a part of the other;
nothing in common.
"""

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


def _columns(pair: Pair) -> Cause | None:
    gold, pred = pair.gold_rows, pair.pred_rows
    if len(gold) != len(pred):
        return None
    wider, narrower = len(pred[0]) - len(gold[0]), len(gold[0]) - len(pred[0])
    first, second = (pred, gold) if narrower > 0 else (gold, pred)
    if isinstance(column_mapping(first, second), Undecided | None):
        return None
    if wider > 0:
        return Cause.EXTRA_COLUMNS
    return Cause.MISSING_COLUMNS if narrower > 0 else Cause.COLUMNS_PERMUTED


def _values(pair: Pair) -> Cause | None:
    """Nearly the same values in the same columns."""
    gold, pred = pair.gold_rows, pair.pred_rows
    if len(gold) != len(pred) or len(gold[0]) != len(pred[0]):
        return None
    if equal_but_for_rounding(gold, pred):
        return Cause.ROUNDING
    return Cause.TYPE if equal_but_for_types(gold, pred) else None


def _part(pair: Pair) -> Cause:
    gold, pred = pair.gold_bag, pair.pred_bag
    if pred <= gold:
        return Cause.SUBSET
    if gold <= pred:
        return Cause.SUPERSET
    return Cause.DIFFERENT if gold.keys() & pred.keys() else Cause.DISJOINT
