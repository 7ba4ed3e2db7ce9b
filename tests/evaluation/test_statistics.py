"""Intervals and tests against values known from elsewhere."""

from fractions import Fraction
from math import comb, sqrt

import pytest

from modularsql.evaluation import statistics
from modularsql.evaluation.metrics.base import over_databases, over_golds
from modularsql.evaluation.metrics.pools import Pool, pool
from modularsql.evaluation.metrics.ves import Timing, r_ves, r_ves_bird
from modularsql.evaluation.statistics import compare_paired, wilson


@pytest.mark.parametrize(("k", "n"), [(81, 100), (0, 10), (10, 10), (1, 972)])
def test_wilson_s_interval_is_the_textbook_s(k: int, n: int) -> None:
    found = wilson(k, n)
    assert found is not None
    z, p = 1.959963984540054, k / n
    middle, reach = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    expected = [(middle - reach) / (1 + z * z / n), (middle + reach) / (1 + z * z / n)]
    assert [found.low, found.high] == pytest.approx(expected, abs=1e-9)
    assert wilson(0, 0) is None


def test_mcnemar_s_test_is_exact() -> None:
    a = [1.0] * 50 + [0.0] * 12 + [1.0] * 4
    b = [1.0] * 50 + [1.0] * 12 + [0.0] * 4
    found = compare_paired(a, b)
    assert found is not None
    assert (found.n, found.gained, found.lost) == (66, 12, 4)
    assert found.difference == pytest.approx(8 / 66)
    tail = sum(Fraction(comb(16, k), 2**16) for k in range(5))
    assert found.p == pytest.approx(float(2 * tail))
    assert found.clustered is None
    assert found.interval is not None
    assert 0 <= found.interval.low < 8 / 66 < found.interval.high


def test_equal_systems_differ_by_nothing() -> None:
    found = compare_paired([1, 0, 1], [1, 0, 1])
    assert found is not None
    assert (found.p, found.difference, found.gained, found.lost) == (1, 0, 0, 0)


def test_clusters_widen_the_interval_when_their_questions_go_together() -> None:
    a = [0.0] * 200
    b = [1.0 if at // 20 in (0, 1, 2, 3) else 0.0 for at in range(200)]
    found = compare_paired(a, b, [at // 20 for at in range(200)])
    assert found is not None
    assert found.interval is not None
    assert found.clustered is not None
    alone = found.interval.high - found.interval.low
    together = found.clustered.high - found.clustered.low
    assert together > 3 * alone
    one = compare_paired(a, b, ["db"] * 200)
    assert one is not None
    assert one.clustered is None


def test_the_intervals_are_the_same_each_time() -> None:
    a, b = [0.0, 1.0, 0.0] * 30, [1.0, 1.0, 0.0] * 30
    assert compare_paired(a, b) == compare_paired(a, b)


def test_different_numbers_of_questions_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="zip"):
        compare_paired([1, 0], [1])
    with pytest.raises(ValueError, match="zip"):
        compare_paired([1, 0], [1, 0], ["a"])


def test_without_scipy_nothing_is_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "find_spec", lambda _name: None)
    assert not statistics.available()
    assert compare_paired([1], [0]) is None


def test_several_databases_and_golds() -> None:
    assert over_databases([1, 1, 0.0]) == 0
    assert over_databases([1, None, 0.0]) == 0
    assert over_databases([1, None]) is None
    assert over_databases([1, 0.5]) == 0.5
    assert over_golds([0.0, None, 1]) == 1
    assert over_golds([0.0, None]) is None
    assert over_golds([0.0, 0.25]) == 0.25
    assert over_golds([1.0, 1.1]) == over_golds([1.1, None]) == 1.1  # R-VES goes beyond 1
    assert over_golds([]) is over_databases([]) is None


def test_a_pool_is_as_good_as_its_best_candidate() -> None:
    assert pool([0.0, 1.0, None, 1.0]) == Pool(upper=1, mean=0.5, first=0)
    assert pool([]) is None


@pytest.mark.parametrize(
    ("gold", "pred", "reward"),
    [(2, 1, 1.25), (1.5, 1, 1), (1, 1, 1), (0.9, 1, 0.75), (0.4, 1, 0.5), (0.1, 1, 0.25)],
)
def test_r_ves_rewards_by_the_ratio_of_times(gold: float, pred: float, reward: float) -> None:
    shaky = Timing(gold=[gold, gold, gold * 1.01], pred=[pred] * 3)
    assert r_ves(True, shaky) == pytest.approx(reward**0.5)
    assert r_ves_bird(True, shaky) == pytest.approx(reward**0.5)
    assert r_ves(False, shaky) == r_ves_bird(False, shaky) == 0


def test_r_ves_as_published_gives_nothing_for_times_that_never_vary() -> None:
    steady = Timing(gold=[1, 1, 1], pred=[1, 1, 1])
    assert r_ves_bird(True, steady) == 0
    assert r_ves(True, steady) == 1


def test_one_slow_run_does_not_move_the_corrected_r_ves() -> None:
    timing = Timing(gold=[1.0] * 9, pred=[1.0] * 8 + [1000.0])
    assert r_ves(True, timing) == 1
