"""BIRD's soft F1 as published (mini-dev evaluator).

Both results without repeated rows, in the order they came; the i-th rows are compared. A value
counts as matched when it occurs anywhere in the other row, so (7, 7) matches (7, 8) in full, and
the same rows in another order may score 0 (cases E26, E27). `soft_f1` in `partial.py` is the same
idea with rows and values matched one to one.
"""

from itertools import zip_longest

from modularsql.evaluation.metrics.base import Metric, Score
from modularsql.evaluation.pair import Pair
from modularsql.rows import Row


def _score(pair: Pair) -> Score:
    if pair.truncated:
        return None
    gold, pred = list(dict.fromkeys(pair.gold_rows)), list(dict.fromkeys(pair.pred_rows))
    if not gold and not pred:
        return 1.0
    matched = only_pred = only_gold = 0.0
    for gold_row, pred_row in zip_longest(gold, pred):
        if gold_row is None:
            only_pred += 1
        elif pred_row is None:
            only_gold += 1
        else:
            hits, misses, lacks = _compared(gold_row, pred_row)
            matched, only_pred, only_gold = matched + hits, only_pred + misses, only_gold + lacks
    if not matched:
        return 0.0
    precision = matched / (matched + only_pred)
    recall = matched / (matched + only_gold)
    return 2 * precision * recall / (precision + recall)


def _compared(gold: Row, pred: Row) -> tuple[float, float, float]:
    """Values of the prediction that gold has, that it lacks, and of gold's that are missing.

    All as shares of gold's number of columns.
    """
    hits = sum(value in gold for value in pred)
    lacks = sum(value not in pred for value in gold)
    return hits / len(gold), (len(pred) - hits) / len(gold), lacks / len(gold)


FAMILY = (
    Metric(
        name="soft_f1_bird",
        title="Soft F1 (BIRD)",
        definition=(
            "BIRD's soft F1 as published: distinct rows compared by position, values matched by "
            "membership."
        ),
        score=_score,
    ),
)
