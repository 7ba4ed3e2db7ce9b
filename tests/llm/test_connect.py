"""From settings to a model: what is missing is said before anything is sent."""

from pathlib import Path

import pytest

from modularsql import Settings
from modularsql.config import api_key
from modularsql.errors import BudgetError, InputError, SetupError
from modularsql.llm.connect import connect_model
from modularsql.ports import Model

from .conftest import FakeServer, completion, request


def connected(**settings: object) -> Model:
    model = connect_model(Settings(**settings))  # type: ignore[arg-type]
    assert model is not None
    return model


def test_without_a_model_there_is_none() -> None:
    assert connect_model(Settings()) is None


def test_a_server_url_needs_no_key(server: FakeServer) -> None:
    assert connected(model="m", base_url=server.url).chat(request()).texts == ("ok",)


def test_openai_itself_does() -> None:
    with pytest.raises(SetupError, match=r"needs a key.*set OPENAI_API_KEY"):
        connect_model(Settings(model="gpt-4o-mini"))


def test_the_key_comes_from_the_variable_that_is_named(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai")
    monkeypatch.setenv("MY_KEY", "secret")
    connected(model="m", base_url=server.url).chat(request())
    connected(model="m", base_url=server.url, api_key_variable="MY_KEY").chat(request())
    assert server.keys == ["Bearer none", "Bearer secret"]


def test_a_key_in_the_place_of_its_name_is_not_repeated() -> None:
    with pytest.raises(InputError) as caught:
        api_key("sk-abc", "http://localhost/v1", {})
    assert "sk-abc" not in str(caught.value)


def test_a_budget_in_dollars_needs_a_price(server: FakeServer) -> None:
    # On this machine a model costs nothing, so that the budget is never reached.
    assert connected(model="m", base_url=server.url, budget_usd=0.01).chat(request()).texts
    with pytest.raises(SetupError, match="no price is known for m"):
        connect_model(Settings(model="m", base_url="http://10.0.0.1/v1", budget_usd=1, calls="any"))


def test_prices_and_budget_reach_the_model(server: FakeServer, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("[models.m]\ninput = 1000\noutput = 1000")
    server.answers = [completion("ok")]
    model = connected(model="m", base_url=server.url, prices=str(prices), budget_usd=2.0)
    assert model.chat(request()).cost.usd == pytest.approx(0.11)
    with pytest.raises(BudgetError):
        model.chat(request(max_tokens=2_000))
    assert len(server.bodies) == 1


def test_cache_and_record_reach_the_model(server: FakeServer, tmp_path: Path) -> None:
    model = connected(
        model="m",
        base_url=server.url,
        reply_cache=str(tmp_path / "replies.sqlite"),
        record=str(tmp_path / "replies.jsonl"),
    )
    assert [model.chat(request()).cost.llm_calls for _ in range(2)] == [1, 0]
    assert len(server.bodies) == 1
    played = connected(model=f"replay:{tmp_path / 'replies.jsonl'}")
    assert played.chat(request()).texts == ("ok",)


@pytest.mark.parametrize("model", ["replay:", "replay:/no/such/file"])
def test_a_recording_that_is_not_there(model: str) -> None:
    with pytest.raises(InputError):
        connect_model(Settings(model=model))
