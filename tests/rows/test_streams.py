"""Streams: the same for equal bags, in any order and batch, and different for what is close."""

import math
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modularsql.rows import Row
from modularsql.rows import streams as module
from modularsql.rows.streams import same_bag

NAN = math.nan


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([(1, "a")], [(1.0, "a")]),
        ([(Decimal("6.90"),)], [(6.9,)]),
        ([(NAN,), (2,)], [(2.0,), (NAN,)]),
        ([(NAN,), (Decimal(2),)], [(2.0,), (NAN,)]),
        ([(True, -1)], [(1, -1.0)]),
        ([([1, 2],)], [([1.0, 2],)]),
        ([], []),
    ],
)
def test_equal_values_of_other_types_are_equal(one: list[Row], other: list[Row]) -> None:
    assert same_bag(one, other)
    assert same_bag(reversed(one), other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([(-1,)], [(-2,)]),
        ([(-1, "a"), (-2, "b")], [(-2, "a"), (-1, "b")]),
        ([(1,), (4,)], [(2,), (3,)]),
        ([("a", 1), ("b", 4)], [("a", 2), ("b", 3)]),
        ([(1, 2)], [(2, 1)]),
        ([(1,)], [(1,), (1,)]),
        ([(1,), (1,)], [(2,), (2,)]),
        ([(None,)], [("",)]),
        ([(0,)], [("",)]),
        ([("",)], [(b"",)]),
        ([(0.0,)], [(b"",)]),
        ([("1",)], [(1,)]),
        ([(b"a",)], [("a",)]),
        ([("ab", "c")], [("a", "bc")]),
        ([(0,)], []),
    ],
)
def test_what_is_close_is_told_apart(one: list[Row], other: list[Row]) -> None:
    assert not same_bag(one, other)
    assert not same_bag(other, one)


CELLS = st.tuples(st.integers(-3, 3), st.sampled_from(["a", None, 1.5, -1.0, b"a"]))


@given(st.lists(CELLS), st.lists(CELLS), st.integers(1, 4))
def test_streams_side_by_side_are_compared_as_bags(
    one: list[Row], other: list[Row], size: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BATCH", size)
        assert same_bag(iter(one), iter(other)) == (Counter(one) == Counter(other))
        assert same_bag(one, reversed(one))
        assert same_bag([*one, *other], [*other, *one])
        assert not same_bag(one, [*one, (9, "z")])


def test_sums_of_small_numbers_do_not_cancel() -> None:
    for rows in ([(0,), (100,)], [("x", 0), ("y", 100)]):
        for a in range(1, 50):
            (*name, low), (*other, high) = rows
            assert not same_bag(rows, [(*name, low + a), (*other, high - a)])


@pytest.mark.parametrize(("read", "mixed"), [(3, 7), (7, 3), (1, 1), (1000, 10)])
def test_batches_do_not_show(monkeypatch: pytest.MonkeyPatch, read: int, mixed: int) -> None:
    rows = [(at % 7 - 3, str(at)) for at in range(100)]
    monkeypatch.setattr(module, "BATCH", read)
    monkeypatch.setattr(module, "MIXED", mixed)
    assert same_bag(rows, reversed(rows))
    assert not same_bag(rows, reversed([*rows[1:], (-3, "00")]))
    assert not same_bag(rows, reversed(rows[1:]))
