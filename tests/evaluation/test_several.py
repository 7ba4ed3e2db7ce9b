"""Several golds of a question, several databases: right by one gold, on every database."""

from dataclasses import replace

import pytest
from tests.evaluation.runs import outcome, verdict

from modularsql.evaluation.log import Record
from modularsql.evaluation.several import combined


def record(bag: float | None = 0.0, gold: str = "ok", **more: float | None) -> Record:
    scores = {"set_ex": bag, "multiset_ex": bag, **more}
    found = verdict(0, gold=gold).record
    return replace(found, scores=scores, cause=f"{gold} {bag}")


@pytest.mark.parametrize(
    ("golds", "score"),
    [
        ([0.0, 1.0], 1.0),
        ([0.0, 0.0], 0.0),
        ([0.0, None], None),
        ([1.0, None], 1.0),
        ([0.2, 0.6], 0.6),
    ],
)
def test_of_several_golds_the_nearest_counts(
    golds: list[float | None], score: float | None
) -> None:
    assert combined([[record(one) for one in golds]]).scores["multiset_ex"] == score


@pytest.mark.parametrize(
    ("databases", "score"),
    [
        ([1.0, 1.0], 1.0),
        ([1.0, 0.0], 0.0),
        ([1.0, None], None),
        ([None, 0.0], 0.0),
        ([0.6, 0.2], 0.2),
    ],
)
def test_of_several_databases_the_worst_counts(
    databases: list[float | None], score: float | None
) -> None:
    assert combined([[record(one)] for one in databases]).scores["multiset_ex"] == score


@pytest.mark.parametrize(
    ("databases", "score"),
    [
        ([1.0, 0.5], 0.75),
        ([1.25, 1.25, 0.5], 1.0),
        ([1.0, 0.0], 0.0),
        ([1.0, None], None),
        ([None, 0.0], 0.0),
        ([0.5], 0.5),
    ],
)
def test_what_a_right_answer_earns_by_its_time_is_the_mean_over_databases(
    databases: list[float | None], score: float | None
) -> None:
    found = combined([[record(1.0, r_ves=one, r_ves_bird=one)] for one in databases])
    assert (found.scores["r_ves"], found.scores["r_ves_bird"]) == (score, score)
    assert found.scores["multiset_ex"] == 1.0
    assert "r_ves" not in combined([[record(1.0)], [record(1.0)]]).scores


def test_each_metric_is_taken_by_itself() -> None:
    found = combined([[record(0.0, soft_f1=0.9), record(1.0, soft_f1=0.5)]])
    assert found.scores == {"set_ex": 1.0, "multiset_ex": 1.0, "soft_f1": 0.9}


def test_what_is_shown_is_the_nearest_gold_on_the_first_database_against_it() -> None:
    right, near, far = (record(bag, near=near) for bag, near in ((1.0, 1.0), (0.0, 0.5), (0.0, 0)))
    assert combined([[far, near]]) is not near
    assert combined([[far, near]]).scores["near"] == 0.5
    assert combined([[far, right], [near, far], [far]]).cause == far.cause
    assert combined([[right], [right]]).cause == right.cause


def test_gold_that_cannot_run_says_nothing_where_another_can() -> None:
    broken = record(None, gold="error")
    assert combined([[broken, record(0.0)]]).scores["set_ex"] == 0.0
    assert combined([[broken], [record(1.0)]]).scores["set_ex"] == 1.0
    assert combined([[broken], [broken]]).gold.status == "error"
    slow = record(None, gold="timeout")
    assert combined([[slow], [record(1.0)]]).gold.status == "timeout"
    assert combined([[slow], [record(1.0)]]).scores["set_ex"] is None


def test_the_guard_is_right_where_it_is_right_on_every_database() -> None:
    def guarded(*bags: float) -> list[Record]:
        return [replace(record(), guarded=(outcome("paper", "x", bag=bag),)) for bag in bags]

    (found,) = combined([[one] for one in guarded(1.0, 0.0)]).guarded
    assert (found.policy, found.multiset_ex) == ("paper", 0.0)
    (found,) = combined([guarded(1.0, 0.0)]).guarded
    assert found.multiset_ex == 1.0


def test_a_repair_on_one_database_is_one_and_a_guard_lost_on_one_is_lost() -> None:
    one, other = (
        replace(record(1.0), guarded=(outcome("paper", *names, bag=1.0),)) for names in ((), "x")
    )
    assert combined([[one], [other]]).guarded[0].applied == ("x",)
    assert combined([[one], [record(1.0)]]).guarded == ()


@pytest.mark.parametrize("first", ["ok", "timeout"])
def test_a_question_counts_by_the_gold_that_ran_whatever_the_order(first: str) -> None:
    golds = [record(0.0), record(None, gold="timeout")]
    found = combined([golds if first == "ok" else golds[::-1]])
    assert (found.gold.status, found.scores["set_ex"]) == ("ok", None)
