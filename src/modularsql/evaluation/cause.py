"""Why two results differ, as one word: the first of these questions that is answered with yes.

Same rows but another order; the same rows but another number of copies; the same values in other
columns, or more or fewer of them; nearly the same numbers; the same values in other types; a part
of the other; nothing in common.
"""

from enum import StrEnum

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
    if pair.truncated and pair.same_bag is None:
        return Cause.TRUNCATED
    if pair.same_set:
        return _copies(pair)
    if not pair.pred_rows:
        return Cause.EMPTY
    if not pair.gold_rows:
        return Cause.NOT_EMPTY
    return _columns(pair) or _part(pair)


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
    if pair.truncated or len(gold) != len(pred):
        return None
    wider, narrower = len(pred[0]) - len(gold[0]), len(gold[0]) - len(pred[0])
    first, second = (pred, gold) if narrower > 0 else (gold, pred)
    if isinstance(column_mapping(first, second), Undecided | None):
        return None
    if wider > 0:
        return Cause.EXTRA_COLUMNS
    return Cause.MISSING_COLUMNS if narrower > 0 else Cause.COLUMNS_PERMUTED


def _part(pair: Pair) -> Cause:
    gold, pred = pair.gold_bag, pair.pred_bag
    if pred <= gold:
        return Cause.SUBSET
    if gold <= pred:
        return Cause.SUPERSET
    return Cause.DIFFERENT if gold.keys() & pred.keys() else Cause.DISJOINT
