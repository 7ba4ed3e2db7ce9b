"""Laws of comparing results, on random small ones."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import permutations
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.pairs import pair, result

from modularsql.evaluation.metrics import METRICS
from modularsql.evaluation.metrics.tolerant import tolerant_ex
from modularsql.rows import Row, comparable
from modularsql.rows.columns import Undecided, column_mapping
from modularsql.rows.overlap import matched_cells
from modularsql.rows.tolerance import Tolerance, equal_within

CELLS = st.sampled_from(
    [None, 0, 1, True, 1.0, -0.0, 2, 1.5, Decimal("1.50"), float("nan"), "", "1", "a", b"a"]
)
NUMBERS = st.integers(0, 6).map(lambda n: n / 2)


def tables(cells: st.SearchStrategy[Any] = CELLS, columns: int = 2) -> st.SearchStrategy[list[Row]]:
    return st.lists(st.tuples(*[cells] * columns), max_size=5)


def same(one: list[Row], other: list[Row]) -> bool | None:
    return pair(result(*one), result(*other)).same_bag


@given(tables(), st.randoms(use_true_random=False))
def test_a_bag_is_equal_to_itself_in_any_order(rows: list[Row], random: Any) -> None:
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert same(rows, rows) is same(rows, shuffled) is same(shuffled, rows) is True


@given(tables(), tables(), tables())
def test_equality_of_bags_is_symmetric_and_transitive(
    a: list[Row], b: list[Row], c: list[Row]
) -> None:
    assert same(a, b) == same(b, a)
    if same(a, b) and same(b, c):
        assert same(a, c)


@given(tables(), tables())
def test_multiset_follows_from_order_and_set_from_multiset(a: list[Row], b: list[Row]) -> None:
    found = pair(result(*a), result(*b), "SELECT c0, c1 FROM t ORDER BY c0")
    assert not found.same_order or found.same_bag
    assert not found.same_bag or found.same_set
    assert not found.same_bag or METRICS["columns_ex"].score(found) == 1


@given(tables(), tables(), st.integers(0, 3), st.integers(0, 3))
def test_a_cut_result_is_never_decided_against_the_whole_one(
    a: list[Row], b: list[Row], keep_a: int, keep_b: int
) -> None:
    """Whatever is said of what a cap has left must be true of the whole results."""
    whole = pair(result(*a), result(*b))
    cut = pair(
        result(*a[:keep_a], truncated=keep_a < len(a)),
        result(*b[:keep_b], truncated=keep_b < len(b)),
    )
    for fact in ("same_set", "same_bag"):
        assert getattr(cut, fact) in (None, getattr(whole, fact)), fact


SQLS = (
    "SELECT c0, c1 FROM t",
    "SELECT c0, c1 FROM t ORDER BY c0",
    "SELECT * FROM t ORDER BY 1 LIMIT 9",
)


@given(
    tables(),
    st.one_of(tables(), tables(columns=3), st.none()),
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()),
    st.sampled_from(SQLS),
    st.randoms(use_true_random=False),
)
def test_no_metric_decides_cut_results_against_the_whole_ones(
    a: list[Row], b: list[Row] | None, cut: tuple[int, int, bool], sql: str, random: Any
) -> None:
    """Also where both were compared as streams; and swapped columns, and rows in another order."""
    if b is None:
        b = [tuple(random.sample(row, 2)) for row in random.sample(a, len(a))]
    keep_a, keep_b, streamed = cut
    whole = pair(result(*a), result(*b), sql)
    left = replace(
        pair(
            result(*a[:keep_a], truncated=keep_a < len(a)),
            result(*b[:keep_b], truncated=keep_b < len(b)),
            sql,
        ),
        streamed=whole.same_bag if streamed else None,
    )
    for metric in (*METRICS.values(), tolerant_ex(Tolerance(absolute=0.5))):
        assert metric.score(left) in (None, metric.score(whole)), metric.name


@given(tables(NUMBERS), tables(NUMBERS), st.sampled_from([0, 0.5, 1, 1.5]))
def test_a_wider_tolerance_keeps_what_was_equal(
    a: list[Row], b: list[Row], absolute: float
) -> None:
    narrow, wide = Tolerance(absolute=absolute), Tolerance(absolute=absolute + 0.5)
    if equal_within(a, b, [narrow] * 2):
        assert equal_within(a, b, [wide] * 2)
    assert equal_within(a, b, [Tolerance()] * 2) == (Counter(a) == Counter(b))


@given(tables(NUMBERS), tables(NUMBERS), st.sampled_from([0.5, 1.0]))
def test_tolerance_finds_a_matching_where_there_is_one(
    a: list[Row], b: list[Row], absolute: float
) -> None:
    tolerance = Tolerance(absolute=absolute)
    tried = len(a) == len(b) and any(
        all(
            tolerance.allows(g[0], p[0]) and tolerance.allows(g[1], p[1])
            for g, p in zip(a, order, strict=True)
        )
        for order in permutations(b)
    )
    assert equal_within(a, b, [tolerance] * 2) == tried


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        (inf, 1.5, False),
        (-inf, inf, False),
        (inf, Decimal("Infinity"), True),
        (10**400, 1.5, False),
        (10**400, 10**400, True),
        # Two ids that no float tells apart.
        (2**60, 2**60 + 1, False),
        (Decimal(2**60), 2**60 + 1, False),
        (1.5, 1.75, True),
        (Decimal("1.5"), 1.75, True),
        (100, 124, True),
        (100, 134, False),
    ],
)
def test_no_distance_from_infinity_is_small_and_whole_numbers_are_told_apart(
    one: Any, other: Any, near: bool
) -> None:
    tolerance = Tolerance(
        absolute=0.5, relative=0.25 if abs(one) < 2**60 or inf in (one, other) else 0
    )
    assert tolerance.allows(one, other) == tolerance.allows(other, one) == near
    assert equal_within([(one, 1)], [(other, 1)], [tolerance] * 2) == near


@given(tables(st.sampled_from([1, 2, "a"]), 3), tables(st.sampled_from([1, 2, "a"]), 3))
def test_the_column_search_agrees_with_trying_all(a: list[Row], b: list[Row]) -> None:
    if not a or len(a) != len(b):
        return
    for ordered in (False, True):
        tried = [
            order
            for order in permutations(range(3))
            if equal(a, [tuple(row[at] for at in order) for row in b], ordered)
        ]
        found = column_mapping(a, b, ordered=ordered)
        assert found in tried if tried else found is None


@given(tables(columns=3), st.permutations(range(3)), st.randoms(use_true_random=False))
def test_permuted_columns_are_always_found(rows: list[Row], order: list[int], random: Any) -> None:
    other = [tuple(row[at] for at in order) for row in rows]
    random.shuffle(other)
    assert METRICS["columns_ex"].score(pair(result(*rows), result(*other))) == 1


@given(tables(st.sampled_from([1, 2, "a"])), tables(st.sampled_from([1, 2, "a"]), 3))
def test_the_best_matching_of_cells_agrees_with_trying_all(a: list[Row], b: list[Row]) -> None:
    few, many = sorted((a, b), key=len)
    tried = max(
        sum((Counter(g) & Counter(p)).total() for g, p in zip(few, order, strict=False))
        for order in permutations(many)
    )
    assert matched_cells(Counter(a), Counter(b)) == tried


@given(tables(), tables())
def test_scores_lie_between_none_and_all(a: list[Row], b: list[Row]) -> None:
    found = pair(result(*a), result(*b))
    for name, metric in METRICS.items():
        score = metric.score(found)
        assert score is not None, name
        assert 0 <= score <= 1, name
        assert score == 1 or not found.identical, name


def test_a_search_ends_undecided_and_not_in_a_factorial() -> None:
    size = 12
    rows = [tuple((i * i + i * j) % 7 % 2 for j in range(size)) for i in range(200)]
    other = [tuple(reversed(row)) for row in rows]
    assert column_mapping(rows, other, budget=300) == Undecided()
    assert not isinstance(column_mapping(rows, other), Undecided | None)
    alike = [(None,) * 40] * 5
    assert column_mapping(alike, alike, budget=1_000) is not None


def equal(a: list[Row], b: list[Row], ordered: bool) -> bool:
    return a == b if ordered else Counter(comparable(a)) == Counter(comparable(b))
