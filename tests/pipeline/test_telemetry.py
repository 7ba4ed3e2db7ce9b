"""Spans of a question: what they say, and what they keep to themselves."""

from typing import Any

import pytest

from modularsql.engines.telemetry import TracedEngine
from modularsql.errors import ModelError
from modularsql.llm.script import ScriptedModel
from modularsql.llm.telemetry import TracedModel, span
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.run import ask
from modularsql.ports import ChatRequest, Message
from modularsql.records import Limits

SQL = "SELECT name FROM customer WHERE town = 'Bonn'"


def run(shop: Any, content: bool) -> None:
    from modularsql import Guard, Settings

    engine = TracedEngine(shop, content=content)
    model = TracedModel(ScriptedModel(lambda request: SQL, name="m"), content=content)
    deps = Deps(
        model=model,
        engine=engine,
        guard=Guard(engine),
        catalog=engine.catalog(),
        settings=Settings(),
    )
    with span("ask"):
        assert ask("Who lives in Bonn?", deps).state.answer is not None


def test_calls_and_queries_are_spans_of_their_question(shop: Any, spans: Any) -> None:
    run(shop, content=False)
    found = spans.get_finished_spans()
    (whole,) = [one for one in found if one.name == "ask"]
    assert all(one.context.trace_id == whole.context.trace_id for one in found)
    calls = [one.attributes for one in found if one.name == "chat m"]
    assert len(calls) == 5  # two linkers, three generators
    assert {call["gen_ai.request.model"] for call in calls} == {"m"}
    assert all(call["gen_ai.usage.input_tokens"] > 10 for call in calls)
    queries = [one.attributes for one in found if one.name == "query sqlite"]
    assert {query["db.system.name"] for query in queries} == {"sqlite"}
    assert any(query.get("db.response.returned_rows") == 2 for query in queries)


@pytest.mark.parametrize("content", [False, True])
def test_texts_are_in_only_where_they_are_asked_for(shop: Any, spans: Any, content: bool) -> None:
    run(shop, content)
    said = [str(dict(one.attributes)) for one in spans.get_finished_spans()]
    assert any("Bonn" in text for text in said) == content


def test_failures_are_named_by_their_kind(shop: Any, spans: Any) -> None:
    TracedEngine(shop).execute("SELECT nope", limits=Limits())
    model = TracedModel(ScriptedModel([ModelError("no", "", "model")]))
    with pytest.raises(ModelError):
        model.chat(ChatRequest(messages=(Message(role="user", text="x"),)))
    query, call = (one.attributes for one in spans.get_finished_spans())
    assert query["error.type"] == "error"
    assert call["error.type"] == "model"
