"""Candidates that vote on a healthy query whose findings nothing repaired."""

import pytest

from modularsql import Answer, Guard, Settings
from modularsql.llm.script import ScriptedModel
from modularsql.ports import Engine
from modularsql.records import Verdict

SCRIPT = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer(id), total INT);
INSERT INTO customer VALUES (1, 'Ann'), (2, 'Ann'), (3, 'Bob');
INSERT INTO orders VALUES (1, 1, 10), (2, 1, 10), (3, 2, 5), (4, 3, 7);
"""
JOINED = "FROM customer c JOIN orders o ON o.customer = c.id GROUP BY"
MERGED = f"SELECT c.name, SUM(o.total) {JOINED} c.name"  # two people are one row
APART = f"SELECT c.name, SUM(o.total) {JOINED} c.id"
ALSO_APART = f"SELECT c.name, SUM(o.total) {JOINED} c.id, c.name"
BROKEN = "SELECT nam FROM customer"
QUESTION = "What has each customer spent?"


def vote(
    engine: Engine,
    *candidates: str,
    policy: str = "grain",
    fix: bool = True,
    allow: tuple[str, ...] = (),
    **settings: int,
) -> Answer:
    guard = Guard(engine, policy, Settings(**settings))  # type: ignore[arg-type]
    return guard.run(MERGED, question=QUESTION, candidates=candidates, fix=fix, allow=allow)


@pytest.mark.parametrize("policy", ["grain", "findings-repairs"])
def test_what_most_return_takes_the_place_of_a_query_with_findings(
    engine: Engine, policy: str
) -> None:
    answer = vote(engine, MERGED, APART, ALSO_APART, policy=policy)
    assert answer.final_sql == APART
    assert sorted(answer.rows) == [("Ann", 5), ("Ann", 20), ("Bob", 7)]
    assert (answer.verdict, answer.applied) == (Verdict.REPAIR, ("rescue",))
    assert answer.rescue is not None
    assert (answer.rescue.trigger, answer.rescue.by) == ("outvoted", "majority")
    assert "2 of 3 candidates agree" in answer.rescue.reason


def test_unasked_it_is_offered(engine: Engine) -> None:
    answer = vote(engine, APART, ALSO_APART, fix=False)
    assert (answer.final_sql, answer.applied) == (MERGED, ())
    repairs = [repair for finding in answer.findings for repair in finding.repairs]
    assert ("rescue", APART) in [(repair.name, repair.sql) for repair in repairs]


@pytest.mark.parametrize(
    ("candidates", "outcome"),
    [
        ((MERGED, APART), "no_majority"),  # half is not most
        ((BROKEN, BROKEN, APART), "no_majority"),  # what fails agrees with nothing
        ((MERGED, MERGED, APART), "kept"),
    ],
)
def test_without_a_majority_for_another_result_the_query_stays(
    engine: Engine, candidates: tuple[str, ...], outcome: str
) -> None:
    answer = vote(engine, *candidates)
    assert (answer.final_sql, answer.applied) == (MERGED, ())
    assert answer.rescue is not None
    assert answer.rescue.outcome == outcome


def test_a_majority_with_as_many_findings_changes_nothing(engine: Engine) -> None:
    other = MERGED.replace("SUM", "MAX")
    answer = vote(engine, other, other)
    assert answer.final_sql == MERGED
    assert answer.rescue is not None
    assert answer.rescue.outcome == "kept"


def test_an_allowed_finding_calls_for_no_vote(engine: Engine) -> None:
    answer = vote(engine, APART, ALSO_APART, allow=("entity_merge",))
    assert (answer.final_sql, answer.rescue) == (MERGED, None)


def test_what_was_cut_off_is_not_voted_on(engine: Engine) -> None:
    answer = vote(engine, APART, ALSO_APART, max_rows=1)
    assert (answer.final_sql, answer.rescue) == (MERGED, None)


def test_a_judge_is_not_asked(engine: Engine) -> None:
    model = ScriptedModel([])
    guard = Guard(engine, "grain", Settings(), model)
    answer = guard.run(MERGED, question=QUESTION, candidates=[APART, ALSO_APART], fix=True)
    assert (answer.final_sql, model.requests) == (APART, [])
