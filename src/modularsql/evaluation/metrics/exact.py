"""Execution accuracy: is the prediction's result gold's, as a set, a multiset, a sequence?

Set-EX and Multiset-EX after the ModularSQL paper, section 2.2; the sorted variant after its
appendix G; the order after Spider's evaluator, but read from the parsed query and with ties.
"""

from modularsql.evaluation.metrics.base import Metric, Score, as_score
from modularsql.evaluation.pair import Pair
from modularsql.rows.columns import Undecided, column_mapping


def _sorted_as_text(pair: Pair) -> Score:
    """`sorted(rows, key=str)` equal on both sides (appendix G); ties in the text may be missed."""
    if pair.truncated:
        return as_score(pair.same_bag)
    if len(pair.gold.rows) != len(pair.pred.rows):
        return 0.0
    return float(sorted(pair.gold.rows, key=str) == sorted(pair.pred.rows, key=str))


def _permuted(pair: Pair) -> Score:
    if pair.same_bag:
        return 1.0
    if pair.same_number is False:
        return 0.0
    if pair.truncated:
        return None
    gold, pred = pair.gold_rows, pair.pred_rows
    if len(gold[0]) != len(pred[0]):
        return 0.0
    found = column_mapping(gold, pred)
    return None if isinstance(found, Undecided) else float(found is not None)


FAMILY = (
    Metric(
        name="set_ex",
        title="Set-EX",
        definition="The same rows occur, however often and in whatever order (BIRD's EX).",
        score=lambda pair: as_score(pair.same_set),
    ),
    Metric(
        name="multiset_ex",
        title="Multiset-EX",
        definition="The same rows occur, each equally often, in whatever order.",
        score=lambda pair: as_score(pair.same_bag),
    ),
    Metric(
        name="multiset_sorted_ex",
        title="Multiset-EX (sorted)",
        definition="Multiset-EX by comparing the rows sorted as text (the paper's appendix G).",
        score=_sorted_as_text,
    ),
    Metric(
        name="ordered_ex",
        title="Ordered EX",
        definition=(
            "Multiset-EX, and in gold's order where gold's outermost query has ORDER BY; rows "
            "that are equal on its keys may swap."
        ),
        score=lambda pair: as_score(pair.same_order),
    ),
    Metric(
        name="columns_ex",
        title="Multiset-EX, any column order",
        definition="Multiset-EX after some reordering of the prediction's columns.",
        score=_permuted,
    ),
)
