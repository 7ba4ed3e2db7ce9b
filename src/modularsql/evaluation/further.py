"""Scores that need more than the two results: what to run besides, and the scores with it.

Ties are decided on gold without its LIMIT (ties.py), and some published evaluators change both
queries before they run them (`Metric.prepare`). `run` returns the rows of a query, or None.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from modularsql.evaluation.metrics import Metric, Score, scores
from modularsql.evaluation.pair import Pair
from modularsql.rows import Rows

Run = Callable[[str], Rows | None]


def with_ties(pair: Pair, run: Run) -> Pair:
    """The pair with what decides ties, where ties are open."""
    wanted = pair.wanted_query()
    keyed = None if wanted is None else run(wanted)
    return pair if keyed is None else replace(pair, keyed=keyed)


def all_scores(pair: Pair, metrics: Iterable[Metric], run: Run) -> dict[str, Score]:
    """The score of each metric, those of changed texts on the results of these.

    A changed gold that gives no rows leaves the score undecided, a changed prediction makes it 0.
    Nothing is changed where gold is a result, which nobody can change.
    """
    metrics = tuple(metrics)
    plain = [metric for metric in metrics if not _changes(metric, pair)]
    found = scores(pair, plain)
    for metric in metrics:
        if metric.name not in found:
            found[metric.name] = _prepared(pair, metric, run)
    return {metric.name: found[metric.name] for metric in metrics}


def _changes(metric: Metric, pair: Pair) -> bool:
    prepare = metric.prepare
    return (
        prepare is not None
        and pair.standard is None
        and any(prepare(sql) != sql for sql in (pair.gold_sql, pair.pred_sql))
    )


def _prepared(pair: Pair, metric: Metric, run: Run) -> Score:
    assert metric.prepare is not None
    gold_sql, pred_sql = metric.prepare(pair.gold_sql), metric.prepare(pair.pred_sql)
    gold = pair.gold if gold_sql == pair.gold_sql else run(gold_sql)
    pred = pair.pred if pred_sql == pair.pred_sql else run(pred_sql)
    if gold is None:
        return None
    if pred is None:
        return 0.0
    changed = Pair(gold=gold, pred=pred, gold_sql=gold_sql, pred_sql=pred_sql, dialect=pair.dialect)
    return scores(changed, [metric])[metric.name]
