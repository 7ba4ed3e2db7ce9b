"""Spider's execution match, after the test-suite evaluator (Zhong et al., 2020), as published.

The same rows equally often after some reordering of the columns; in the same order where the
words "order by" stand anywhere in gold. Two empty results are equal whatever their columns. By
default that evaluator takes every DISTINCT out of both queries first, by word. Over several
databases of one question a prediction must be right on each (`over_databases`).

Departs from it in two things: its search over column orders may take factorial time, ours ends
undecided; and IS [NOT] DISTINCT FROM, which it breaks, keeps its word.
"""

from collections.abc import Sequence
from functools import lru_cache

from modularsql.evaluation.metrics.base import Metric, Score
from modularsql.evaluation.pair import Pair
from modularsql.rows import Row
from modularsql.rows.columns import Undecided, column_mapping

_DETACHED = (("> =", ">="), ("< =", "<="), ("! =", "!="))


def as_run(sql: str) -> str:
    """The text that is run: operators that a tokenizer has torn apart are joined."""
    for torn, whole in _DETACHED:
        sql = sql.replace(torn, whole)
    return sql


@lru_cache(maxsize=4096)
def without_distinct(sql: str) -> str:
    """The text that is run by default: without the word DISTINCT, also inside aggregates.

    Literals, names, comments and the comparison IS [NOT] DISTINCT FROM keep it; text that cannot
    be split into words stays as it is (case E16).
    """
    sql = as_run(sql)
    if "distinct" not in sql.lower():
        return sql  # and no parser is needed, which takes longer to import than most runs take
    from modularsql.sql.parse import Unparsed, tokenize

    tokens = tokenize(sql, "sqlite")
    if isinstance(tokens, Unparsed):
        return sql
    words = [sql[token.start : token.end + 1].upper() for token in tokens]
    for at in reversed(range(len(tokens))):
        compares = words[at + 1 : at + 2] == ["FROM"] and words[at - 1] in ("IS", "NOT")
        if words[at] == "DISTINCT" and not compares:
            sql = sql[: tokens[at].start] + sql[tokens[at].end + 1 :]
    return sql


def _score(pair: Pair) -> Score:
    gold, pred = pair.gold_rows, pair.pred_rows
    ordered = "order by" in pair.gold_sql.lower()
    if pair.same_number is False:
        return 0.0
    if pair.truncated:
        return 1.0 if pair.same_bag and not ordered else None
    if not gold and not pred:
        return 1.0
    if len(gold[0]) != len(pred[0]):
        return 0.0
    if not _alike(gold, pred, ordered=ordered):
        return 0.0
    found = column_mapping(gold, pred, ordered=ordered)
    return None if isinstance(found, Undecided) else float(found is not None)


def _alike(gold: Sequence[Row], pred: Sequence[Row], *, ordered: bool) -> bool:
    """The published quick test: rows with their values sorted as text are the same.

    It is meant to follow from equality, but 1 and 1.0 may be sorted to different places.
    """
    golds, preds = [_sorted(row) for row in gold], [_sorted(row) for row in pred]
    return golds == preds if ordered else set(golds) == set(preds)


def _sorted(row: Row) -> Row:
    return tuple(sorted(row, key=lambda value: str(value) + str(type(value))))


FAMILY = (
    Metric(
        name="spider_ex",
        title="Spider EX",
        definition=(
            "Spider's test-suite match with DISTINCT kept: multiset after some column order, in "
            'sequence where "order by" stands in gold.'
        ),
        score=_score,
        prepare=as_run,
    ),
    Metric(
        name="spider_ex_no_distinct",
        title="Spider EX without DISTINCT",
        definition=(
            "The same after every DISTINCT is taken out of both queries (its default). Where gold "
            "is a published result (CSV) nobody can: results are compared as they stand, as "
            "`spider_ex` does."
        ),
        score=_score,
        prepare=without_distinct,
    ),
)
