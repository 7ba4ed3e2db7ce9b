"""What is run: each distinct pair once, statements that are shared in one process."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from modularsql.evaluation.batch import Asked, Batch, Unit, smaller
from modularsql.evaluation.datasets import Dataset, Question
from modularsql.evaluation.gold import GoldFile
from modularsql.evaluation.plan import Plan, make_plan, without


def dataset(*golds: tuple[str, str | None]) -> Dataset:
    questions = tuple(
        Question(id=f"q{at}", db=db, question=f"question {at}", hint="", gold=gold, difficulty=None)
        for at, (db, gold) in enumerate(golds)
    )
    return Dataset(kind="jsonl", path=Path("set.jsonl"), questions=questions)


DATABASES: Mapping[str, Sequence[str]] = {
    "a": ["a.db"],
    "b": ["b.db"],
    "gone": [],
    "two": ["two.db", "other.db"],
}


def plan_of(
    golds: Sequence[tuple[str, str | None]],
    answers: Mapping[str, Sequence[str | None]],
    *policies: str,
) -> Plan:
    return make_plan(dataset(*golds), answers, DATABASES, policies)


def test_systems_and_questions_that_agree_share_a_pair() -> None:
    golds = [("a", "g"), ("a", "g"), ("b", "g")]
    plan = plan_of(golds, {"one": ["p", "p", "p"], "two": ["p", "q", "p"]})
    assert [place.pairs for place in plan.places] == [((n,),) for n in (0, 0, 1, 0, 2, 1)]
    assert plan.pairs == 3


def test_with_the_guard_a_pair_belongs_to_a_question() -> None:
    plan = plan_of([("a", "g"), ("a", "g")], {"one": ["p", "p"]}, "grain")
    assert [place.pairs for place in plan.places] == [((0,),), ((1,),)]
    assert [batch.policies for batch in plan.batches] == [("grain",)]


def test_statements_that_are_shared_go_to_one_process_and_others_do_not() -> None:
    golds = [("a", "g1"), ("a", "g2"), ("a", "g3"), ("b", "g1")]
    plan = plan_of(golds, {"one": ["g2", "x", "y", "x"]})
    grouped = [
        (batch.database, sorted(str(unit.gold) for unit in batch.units)) for batch in plan.batches
    ]
    assert sorted(grouped) == [("a.db", ["g1", "g2"]), ("a.db", ["g3"]), ("b.db", ["g1"])]
    assert [database for database, _ in grouped] == sorted(database for database, _ in grouped)


def test_missing_answers_and_databases_have_a_status() -> None:
    golds = [("a", "g"), ("a", "g"), ("gone", "g"), ("gone", "g")]
    plan = plan_of(golds, {"one": ["", None, "p", None]})
    assert [(place.pairs, place.status) for place in plan.places] == [
        (((0,),), "no_sql"),
        (((0,),), "no_sql"),
        ((), "no_database"),
        ((), "no_sql"),
    ]
    assert all(asked.sql == "" for batch in plan.batches for u in batch.units for asked in u.asked)


def test_questions_without_an_answer_do_not_hang_together() -> None:
    plan = plan_of([("a", "g1"), ("a", "g2")], {"one": ["", ""]})
    assert len(plan.batches) == 2


def test_what_is_done_is_left_out() -> None:
    plan = plan_of([("a", "g1"), ("a", "g2")], {"one": ["x", "x"], "two": ["y", "x"]})
    assert plan.pairs == 3
    left = [asked.pair for batch in without(plan, [0, 2]) for u in batch.units for asked in u.asked]
    assert left == [1]
    assert without(plan, range(3)) == ()
    assert without(plan, []) == plan.batches


def test_a_lost_batch_ends_in_gold_alone_and_then_in_nothing() -> None:
    asked = tuple(Asked(pair=at, sql=f"p{at}") for at in range(2))
    batch = Batch(database="a", units=(Unit(gold="g", asked=asked),), policies=("grain",))
    parts = smaller(batch, "died")
    assert [part.units[0].asked for part in parts] == [(asked[0],), (asked[1],)]
    (unguarded,) = smaller(parts[0], "died")
    assert (unguarded.policies, unguarded.blame) == ((), None)
    (blamed,) = smaller(unguarded, "timeout")
    assert blamed.blame == "timeout"
    assert smaller(blamed, "died") == []


def test_several_golds_and_databases_make_a_pair_each() -> None:
    asked = dataset(("two", "g"))
    (question,) = asked.questions
    both = replace(asked, questions=(replace(question, more_gold=("h",)),))
    plan = make_plan(both, {"one": ["p"], "two": ["h"]}, DATABASES)
    assert [place.pairs for place in plan.places] == [((0, 1), (2, 3)), ((4, 5), (6, 7))]
    found = [(b.database, u.gold, len(u.asked)) for b in plan.batches for u in b.units]
    assert sorted(found, key=str) == [
        ("other.db", "g", 2),
        ("other.db", "h", 2),
        ("two.db", "g", 2),
        ("two.db", "h", 2),
    ]
    assert len(plan.batches) == 2, "one prediction is the other one's gold"


def test_a_published_result_counts_instead_of_a_query_and_shares_what_is_run() -> None:
    asked = dataset(("a", "g"), ("a", "g2"))
    files = tuple(GoldFile(path=name) for name in ("x.csv", "y.csv"))
    first, second = asked.questions
    both = replace(asked, questions=(replace(first, results=files), second))
    (batch,) = make_plan(both, {"one": ["p", "p"]}, DATABASES).batches
    assert [unit.gold for unit in batch.units] == [*files, "g2"]
