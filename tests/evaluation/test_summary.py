"""Fractions of a run and their intervals."""

import random

import pytest

from modularsql.evaluation.statistics import wilson
from modularsql.rows.assign import best_total


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 7), (771, 972), (0, 972), (972, 972)])
def test_wilsons_interval_is_scipys(k: int, n: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    wanted = stats.binomtest(k, n).proportion_ci(0.95, method="wilson")
    found = wilson(k, n)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_there_is_no_interval_without_tries() -> None:
    assert wilson(0, 0) is None


@pytest.mark.parametrize("seed", range(40))
def test_small_assignments_are_scipys(seed: int) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    numpy = pytest.importorskip("numpy")
    generator = random.Random(seed)
    height, width = generator.randint(1, 12), generator.randint(1, 8)
    weights = [[generator.randint(0, 3) for _ in range(width)] for _ in range(height)]
    matrix = numpy.array(weights)
    rows, columns = optimize.linear_sum_assignment(matrix, maximize=True)
    assert best_total(weights) == matrix[rows, columns].sum()
