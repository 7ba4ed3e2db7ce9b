"""Fractions of a run and their intervals."""

import pytest

from modularsql.evaluation.statistics import wilson


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 7), (771, 972), (0, 972), (972, 972)])
def test_wilsons_interval_is_scipys(k: int, n: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    wanted = stats.binomtest(k, n).proportion_ci(0.95, method="wilson")
    found = wilson(k, n)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_there_is_no_interval_without_tries() -> None:
    assert wilson(0, 0) is None
