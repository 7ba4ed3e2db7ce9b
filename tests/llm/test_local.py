"""The real way to a model in a file, with the smallest model that can be had (very weak)."""

import json
from pathlib import Path

import pytest
from tests.conftest import write_database
from tests.pipeline.conftest import SHOP

from modularsql import Settings
from modularsql.errors import InputError, ModelError, SetupError
from modularsql.llm.by_litellm import LiteLLM
from modularsql.llm.connect import connect_model
from modularsql.pipeline.reading import read_query
from modularsql.service.asking import AskRequest, conversation

from .conftest import Answer, Body, FakeServer, completion, failure, request

MODELS = Path(__file__).parents[2] / "models"


def test_what_is_no_model_is_said_before_anything_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the model"):
        connect_model(Settings(model=f"local:{tmp_path / 'none.gguf'}"))
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(InputError, match="no GGUF model"):
        connect_model(Settings(model=f"local:{tmp_path / 'text.gguf'}"))


@pytest.fixture
def model_file() -> Path:
    pytest.importorskip("xllamacpp", reason="the extra local is not installed")
    found = sorted(MODELS.glob("*.gguf"))
    if not found:
        pytest.skip(f"no model file in {MODELS} (docs/models.md says where to get one)")
    return found[0]


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_a_model_in_a_file_answers_and_keeps_to_a_schema(model_file: Path) -> None:
    model = connect_model(Settings(model=f"local:{model_file}", threads=1))
    assert model is not None
    schema = {
        "type": "object",
        "required": ["choice"],
        "additionalProperties": False,
        "properties": {"choice": {"type": "integer"}},
    }
    reply = model.chat(request("Pick a number from 0 to 3.", max_tokens=24, schema=schema))
    assert '"choice"' in reply.texts[0]
    assert reply.cost.prompt_tokens > 5
    assert reply.cost.usd == 0
    with pytest.raises(ModelError, match="context"):
        model.chat(request("x " * 9_000))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_a_question_goes_the_whole_way_with_a_model_in_a_file(
    model_file: Path, tmp_path: Path
) -> None:
    write_database("sqlite", tmp_path / "shop.sqlite", SHOP)
    before = (tmp_path / "shop.sqlite").read_bytes()
    settings = Settings(
        model=f"local:{model_file}", threads=1, samples=1, linking_samples=1,
        without="generation.skeleton,generation.divide", index_dir=str(tmp_path),
    )  # fmt: skip
    request = AskRequest(target=str(tmp_path / "shop.sqlite"), settings=settings)
    with conversation(request) as talk:
        reply = talk.ask("What are the names of all customers?")
    # So small a model may write anything: what counts is that it was asked, read and kept in check.
    calls = [call for stage in reply.trace.stages for call in stage.calls]
    assert {"linking.direct", "linking.reversed", "generation.icl"} <= {c.stage for c in calls}
    assert all(call.cost.prompt_tokens > 50 and call.error is None for call in calls)
    assert reply.answer.cost.usd == 0
    if reply.unanswerable is None:
        assert read_query(reply.answer.sql, "sqlite") is not None
        assert reply.answer.probe is not None
    assert (tmp_path / "shop.sqlite").read_bytes() == before


def test_litellm_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "litellm", None)
    model = LiteLLM("x/y", "http://127.0.0.1:1", Settings())
    with pytest.raises(SetupError, match=r"modularsql\[litellm\]"):
        model.chat(request())


def test_litellm_is_kept_on_this_machine_in_tests() -> None:
    with pytest.raises(SetupError, match="beyond this machine"):
        connect_model(Settings(model="litellm:anthropic/x"))


@pytest.mark.slow
def test_litellm_reaches_a_server(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("litellm", reason="the extra litellm is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    model = LiteLLM("openai/m", server.url, Settings())
    server.answers = [failure(500), completion("ok")]
    assert model.chat(request(seed=1)).texts == ("ok",)
    assert model.chat(request()).cost.prompt_tokens == 100
    server.answers = [failure(401)]
    with pytest.raises(SetupError, match="401"):
        model.chat(request())


@pytest.mark.slow
def test_samples_that_litellm_leaves_out_are_asked_for_singly(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Anthropic's protocol has no `n`."""
    pytest.importorskip("litellm", reason="the extra litellm is not installed")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    server.answers = lambda body: Answer(body=json.dumps(reply_of_anthropic(body, server)))
    model = connect_model(Settings(model="litellm:anthropic/m", base_url=server.url))
    assert model is not None
    reply = model.chat(request(n=3))
    assert sorted(reply.texts) == ["1", "2", "3"]
    assert (reply.cost.llm_calls, reply.cost.prompt_tokens) == (3, 30)
    assert not any("n" in body for body in server.bodies)
    assert capfd.readouterr().out == ""


def reply_of_anthropic(body: Body, server: FakeServer) -> Body:
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": str(len(server.bodies))}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 3},
    }
