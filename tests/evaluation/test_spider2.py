"""Spider 2.0's relaxed match, as published and by rows."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.evaluation.pairs import pair, result

from modularsql.evaluation.metrics import METRICS
from modularsql.evaluation.metrics import spider2 as module
from modularsql.evaluation.metrics.spider2 import relaxed, relaxed_by_rows

Table = Sequence[tuple[Any, ...]]


@pytest.mark.parametrize(
    ("gold", "pred", "published", "by_rows"),
    [
        ([("a", 1)], [("a", 1)], True, True),
        ([("a", 1)], [(7, 1.005, "a")], True, True),  # further columns, any order, within 0.01
        ([("a", 1)], [("a", 1.02)], False, False),
        ([("a", 1), ("b", 2)], [("a", 2), ("b", 1)], True, False),  # E05: rows taken apart
        ([(10.0,), (9.5,)], [(9.999,), (9.5,)], False, True),  # E06: sorted as text
        ([(1, 1)], [(1, 2)], True, False),  # one column stands for two
        ([(None,)], [(None,)], True, True),
        ([("1",)], [(1,)], False, False),
        ([(1,), (1,)], [(1,)], False, False),
        ([(1, 2)], [(2,)], False, False),
    ],
)
def test_the_relaxed_match(gold: Table, pred: Table, published: bool, by_rows: bool) -> None:
    assert relaxed(gold, pred, ordered=False) is published
    assert relaxed_by_rows(gold, pred) is by_rows


def test_only_the_columns_that_count_are_looked_for() -> None:
    assert relaxed([("a", 1)], [(1,)], ordered=False, columns=[1])
    assert relaxed_by_rows([("a", 1)], [(1,)], columns=[1])
    assert not relaxed([("a", 1)], [(1,)], ordered=False, columns=[0])


def test_order_counts_as_published_where_gold_is_ordered() -> None:
    gold, pred = result((1,), (2,)), result((2,), (1,))
    score = METRICS["spider2_ex"].score
    assert score(pair(gold, pred, "SELECT x FROM t ORDER BY x")) == 0
    assert score(pair(gold, pred, "SELECT x FROM (SELECT x FROM t ORDER BY x)")) == 1
    assert METRICS["spider2_rows_ex"].score(pair(gold, pred, "SELECT x FROM t ORDER BY x")) == 1


def test_too_many_choices_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 8)
    gold = [(0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 0)]
    pred = [(1, 0, 0), (0, 1, 1), (1, 1, 1), (0, 0, 0)]
    assert relaxed_by_rows(gold, pred) is None
