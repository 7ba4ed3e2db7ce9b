"""Clusters of results, the shortcut, the judge, and what a revision may change."""

from dataclasses import replace
from typing import Any

import pytest

from modularsql import Settings
from modularsql.pipeline.clusters import clusters
from modularsql.pipeline.generation import pooled
from modularsql.pipeline.revision import is_worse
from modularsql.pipeline.selection import best
from modularsql.pipeline.state import Candidate
from modularsql.ports import ChatRequest
from modularsql.records import Failure, FailureKind
from modularsql.rows import Rows

from .conftest import Pipeline

FAILED = Failure(kind=FailureKind.ERROR, message="no such table")


def rows(*cells: Any) -> Rows:
    return Rows(columns=("x",), types=(None,), rows=[(cell,) for cell in cells])


def candidate(outcome: Any, votes: int = 1, sql: str = "SELECT x FROM t") -> Candidate:
    return Candidate(sql=sql, generators=("icl",), votes=votes, outcome=outcome)


def test_a_multiset_tells_copies_apart_and_a_set_does_not() -> None:
    pool = [candidate(rows(1, 1)), candidate(rows(1))]
    assert len(clusters(pool, "sqlite")) == 2
    assert len(clusters(pool, "sqlite", "set")) == 1


def test_the_share_is_of_all_samples_failed_ones_included() -> None:
    found = clusters([candidate(rows(1), 2), candidate(FAILED, 2)], "sqlite")
    assert [(c.members, c.confidence) for c in found] == [((0,), 0.5)]


def test_order_counts_where_most_of_them_order() -> None:
    ordered = "SELECT x FROM t ORDER BY x"
    pool = [candidate(rows(1, 2), sql=ordered), candidate(rows(2, 1), sql=f"{ordered} DESC")]
    assert len(clusters(pool, "sqlite")) == 2
    plain = [candidate(rows(1, 2)), candidate(rows(2, 1))]
    assert len(clusters(plain, "sqlite")) == 1


def test_nested_values_and_numbers_that_are_equal_fall_together() -> None:
    assert len(clusters([candidate(rows([1])), candidate(rows([1]))], "duckdb")) == 1
    assert len(clusters([candidate(rows(1)), candidate(rows(1.0))], "sqlite")) == 1


def test_samples_of_one_tree_are_one_candidate_with_votes() -> None:
    drafts = [
        ("icl", "select a from t"),
        ("skeleton", "SELECT a\nFROM t -- same"),
        ("icl", "SELECT b FROM t"),
    ]
    pool = pooled(drafts, "sqlite")
    assert [(c.votes, c.generators) for c in pool] == [(2, ("icl", "skeleton")), (1, ("icl",))]
    assert pool[0].sql == "select a from t"


@pytest.mark.parametrize(
    ("after", "before", "worse"),
    [
        (rows(1), FAILED, False),
        (rows(), FAILED, False),
        (FAILED, rows(1), True),
        (FAILED, FAILED, True),
        (rows(), rows(1), True),
        (rows(), rows(), False),
        (rows(1, 2), rows(1), False),
    ],
)
def test_a_revision_must_be_no_worse(after: Any, before: Any, worse: bool) -> None:
    assert (is_worse(after, before) is not None) == worse


RIGHT, OTHER = "SELECT name FROM customer WHERE id = 1", "SELECT name FROM customer WHERE id = 2"


def divided(judge: Any) -> Any:
    """Two generators write one query, the third another; then the judge is asked."""

    def say(request: ChatRequest) -> str:
        if request.stage == "selection":
            return str(judge(request))
        return OTHER if request.stage == "generation.divide" else RIGHT

    return say


def test_most_of_the_samples_need_no_judge(pipeline: Pipeline) -> None:
    asked = pipeline("Who?", divided(lambda request: pytest.fail("asked")))
    assert asked.state.answer is not None
    assert asked.state.answer.final_sql == RIGHT
    assert asked.state.confidence == pytest.approx(2 / 3)


def test_the_judge_decides_where_it_is_open_with_positions_swapped(pipeline: Pipeline) -> None:
    seen = []

    def judge(request: ChatRequest) -> str:
        text = request.messages[-1].text
        seen.append(text.index(RIGHT) < text.index(OTHER))
        return "B" if text.index(RIGHT) < text.index(OTHER) else "A"

    asked = pipeline("Who?", divided(judge), settings=Settings(confidence=0.9))
    assert set(seen) == {True, False}
    assert len(seen) == 3
    scores = [cluster.win_rate for cluster in asked.state.clusters]
    assert scores == [0.0, 1.0]
    assert asked.state.answer is not None
    assert asked.state.answer.final_sql == OTHER


def test_a_judge_that_only_likes_the_first_place_changes_nothing(pipeline: Pipeline) -> None:
    asked = pipeline("Who?", divided(lambda request: "A"), settings=Settings(confidence=0.9))
    assert asked.state.answer is not None
    assert asked.state.answer.final_sql == RIGHT


def test_a_judge_without_an_opinion_leaves_it_to_the_consensus(pipeline: Pipeline) -> None:
    asked = pipeline("Who?", divided(lambda r: "hard to say"), settings=Settings(confidence=0.9))
    assert asked.state.answer is not None
    assert asked.state.answer.final_sql == RIGHT


def test_of_equal_results_the_one_with_the_fewest_findings_speaks_then_the_cheapest() -> None:
    def one(ms: float, findings: int = 0, votes: int = 1) -> Candidate:
        outcome = replace(rows(1), ms=ms)
        return replace(candidate(outcome, votes), findings=findings)

    assert best([0, 1], [one(9), one(4_000, votes=9)]) == 0, "much faster"
    assert best([0, 1], [one(9), one(90, votes=2)]) == 1, "no difference that counts"
    assert best([0, 1], [one(9, findings=1), one(4_000)]) == 1


def test_a_query_that_fails_is_revised_once_and_kept_where_it_runs(pipeline: Pipeline) -> None:
    def say(request: ChatRequest) -> str:
        return (
            RIGHT if request.stage == "revision.syntax" else "SELECT nam FROM customer WHERE id = 1"
        )

    asked = pipeline("Who?", say)
    assert asked.state.answer is not None
    assert asked.state.answer.rows == [("Ann",)]
    (change,) = asked.state.candidates[0].changes
    assert (change.checker, change.kept) == ("syntax", True)
    assert (change.before, change.sql) == ("SELECT nam FROM customer WHERE id = 1", RIGHT)
    assert "no such column: nam" in change.directive


def test_values_stay_out_of_every_prompt_where_asked(pipeline: Pipeline) -> None:
    settings = Settings(confidence=1.0, show_values="no")
    asked = pipeline("Who?", divided(lambda request: "A"), settings=settings)
    sent = [text for s in asked.trace.stages for call in s.calls for text in call.messages]
    assert not any("Ann" in text or "Bob" in text for text in sent)
