"""One question from end to end, with a model that says what the test wants."""

from modularsql import Settings
from modularsql.errors import ModelError
from modularsql.ports import ChatRequest
from modularsql.records import Verdict

from .conftest import Pipeline

SQL = "SELECT name FROM customer WHERE town = 'Bonn'"


def test_a_question_becomes_a_guarded_answer(pipeline: Pipeline) -> None:
    asked = pipeline("Who lives in Bonn?", {"linking.direct": '{"customer": ["name"]}', "": SQL})
    assert asked.state.answer is not None
    assert asked.state.answer.rows == [("Ann",), ("Cem",)]
    assert asked.state.confidence == 1.0
    assert [stage.stage for stage in asked.trace.stages] == [
        "values", "linking", "generation", "revision", "selection", "guard",
    ]  # fmt: skip
    assert asked.state.linked.columns == {"customer": ("id", "name", "town")}


def test_a_chosen_query_is_repaired_by_the_guard(pipeline: Pipeline) -> None:
    inflated = "SELECT SUM(p.total) FROM purchase p JOIN line l ON l.purchase_id = p.id"
    asked = pipeline("What is the total of all purchases?", {"": inflated})
    assert asked.state.answer is not None
    assert asked.state.answer.verdict == Verdict.REPAIR
    assert asked.state.answer.rows == [(54,)]


def test_prose_is_never_run_and_is_a_result_of_its_own(pipeline: Pipeline) -> None:
    asked = pipeline("What is love?", {"": "NOT ANSWERABLE: the shop sells lamps."})
    assert asked.state.answer is None
    assert asked.state.unanswerable == "the shop sells lamps."
    asked = pipeline("What is love?", {"": "I think you should ask somebody else."})
    assert asked.state.unanswerable == "no reply held a query"
    assert asked.state.instead == "the first reply begins: I think you should ask somebody else."
    assert asked.state.instead in asked.trace.stages[-1].decisions


def test_replies_that_are_empty_say_what_may_have_taken_their_room(pipeline: Pipeline) -> None:
    asked = pipeline("Who?", {"": ""})
    assert "raise thinking_tokens" in asked.state.instead


def test_a_model_that_fails_ends_the_question_and_says_so(pipeline: Pipeline) -> None:
    asked = pipeline("Who?", lambda request: ModelError("no reply", "", "model"))
    assert asked.state.answer is None
    assert asked.failure is not None
    assert "no reply" in asked.failure.message


def test_a_write_that_the_model_wants_changes_nothing(pipeline: Pipeline) -> None:
    asked = pipeline("Drop everything", {"": "DROP TABLE customer"})
    assert asked.state.answer is None
    assert asked.state.unanswerable == "no reply held a query"


def test_sampling_stops_when_the_vote_is_decided(pipeline: Pipeline) -> None:
    asked = pipeline("Who lives in Bonn?", {"": SQL}, settings=Settings(adaptive="on"))
    generation = next(stage for stage in asked.trace.stages if stage.stage == "generation")
    # 12 samples at most, 8 votes are 0.6 of them: three rounds of three.
    assert len(generation.calls) == 9
    told = "the vote was decided: 3 samples were not taken, which saved about 36 tokens of replies"
    assert told in generation.decisions
    assert asked.state.confidence == 1.0


def test_sampling_goes_on_while_the_vote_is_open(pipeline: Pipeline) -> None:
    count = iter(range(1000))

    def differently(request: ChatRequest) -> str:
        return f"SELECT {next(count)} FROM customer WHERE id = 1"

    asked = pipeline("Who?", differently, settings=Settings(adaptive="on"))
    generation = next(stage for stage in asked.trace.stages if stage.stage == "generation")
    assert len(generation.calls) == 12


def test_the_guard_may_choose_another_of_the_pool(pipeline: Pipeline) -> None:
    empty, full = "SELECT name FROM customer WHERE town = 'bonn'", SQL

    def say(request: ChatRequest) -> str:
        if request.stage == "generation.divide":
            return full
        if request.stage.startswith("rescue"):
            return '{"index": 1, "reason": "it finds the town"}'
        return empty

    asked = pipeline("Who lives in Bonn?", say, without=frozenset({"revision"}))
    assert asked.state.answer is not None
    assert asked.state.answer.rescue is not None
    assert asked.state.answer.rescue.trigger == "empty_result"
    guard = asked.trace.stages[-1]
    assert guard.calls != ()
    assert any(said.startswith("rescue of empty_result") for said in guard.decisions)
