"""Fingerprints: equal for equal bags, in any order and batch, and different for what is close."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modularsql.rows import Row
from modularsql.rows import fingerprint as module
from modularsql.rows.fingerprint import fingerprint, same_bag

NAN = float("nan")


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.sampled_from(["a", None, 1.5, -1.0]))),
    st.randoms(use_true_random=False),
)
def test_the_order_of_rows_does_not_matter(rows: list[Row], random: Any) -> None:
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert fingerprint(iter(rows)) == fingerprint(shuffled) == fingerprint(rows, plain=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([(1, "a")], [(1.0, "a")]),
        ([(Decimal("6.90"),)], [(6.9,)]),
        ([(NAN,), (2,)], [(2.0,), (float("nan"),)]),
        ([(True, -1)], [(1, -1.0)]),
        ([([1, 2],)], [([1.0, 2],)]),
        ([], []),
    ],
)
def test_equal_values_of_other_types_are_equal(one: list[Row], other: list[Row]) -> None:
    assert fingerprint(one) == fingerprint(other)


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
    assert fingerprint(one) != fingerprint(other)


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
    prints = {fingerprint([(a,), (100 - a,)]) for a in range(51)}
    assert len(prints) == 51
    pairs = {fingerprint([("x", a), ("y", 100 - a)]) for a in range(101)}
    assert len(pairs) == 101


def test_batches_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(at % 7 - 3, str(at)) for at in range(100)]
    whole = fingerprint(rows)
    monkeypatch.setattr(module, "BATCH", 3)
    assert fingerprint(reversed(rows)) == whole
    assert whole.rows == 100
