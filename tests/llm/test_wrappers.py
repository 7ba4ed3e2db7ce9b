"""Wrappers around a model: prices, budget, cache, recording, breaker, meter."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from modularsql.asking.meter import Meter
from modularsql.errors import (
    BudgetError,
    InputError,
    ModelError,
    ModelReplyError,
    RefusedError,
    SetupError,
)
from modularsql.llm.budget import Bounds, Budget
from modularsql.llm.cache import Cache
from modularsql.llm.keys import request_key
from modularsql.llm.prices import FREE, Price, Priced, find_price, read_prices
from modularsql.llm.replay import Player, Recorder
from modularsql.llm.script import ScriptedModel
from modularsql.llm.thinking import Thinking
from modularsql.llm.wrappers import Breaker
from modularsql.ports import ChatReply, ChatRequest
from modularsql.records import Cost

from .conftest import request

PRICE = Price(input=2.0, cached_input=0.5, output=10.0)


def test_money_is_reckoned_from_the_tokens() -> None:
    cost = Cost(llm_calls=1, prompt_tokens=1_000_000, cached_tokens=400_000, completion_tokens=1000)
    assert PRICE.usd(cost) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.01)
    assert PRICE.usd(Cost(prompt_tokens=10, cached_tokens=99)) == pytest.approx(10 * 0.5 / 1e6)


def test_a_reply_says_what_it_cost() -> None:
    reply = Priced(ScriptedModel(["one two"]), PRICE).chat(request("a b c"))
    assert reply.cost.usd == pytest.approx((3 * 2 + 2 * 10) / 1e6)


@pytest.mark.parametrize("name", ["gpt-4o-mini", "openai/gpt-4o-mini", "gpt-4o-mini-2024-07-18"])
def test_a_price_is_found_by_the_ways_a_model_is_named(name: str) -> None:
    prices = read_prices()
    assert find_price(name, prices) == prices["gpt-4o-mini"]


DRAFT = "SELECT name FROM b;"


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (f"<think>First I try\n{DRAFT}\n</think>\n\nSELECT 2", "SELECT 2"),
        (f"\n<Thinking>```sql\n{DRAFT}\n```</Thinking>SELECT 2", "SELECT 2"),
        # The chat template wrote the first tag, the room ended before the last one.
        (f"First I try\n{DRAFT}\n</think>\nSELECT 2", "SELECT 2"),
        (f"<think>First I try {DRAFT}", ""),
        ("SELECT '<think>' FROM b", "SELECT '<think>' FROM b"),
        ("SELECT '<think>x</think>' FROM b", "SELECT '<think>x</think>' FROM b"),
        ("SELECT 2", "SELECT 2"),
    ],
)
def test_a_thought_is_no_reply(reply: str, kept: str) -> None:
    assert Thinking(ScriptedModel([reply]), 0).chat(request("a")).texts == (kept,)


def test_a_thought_gets_room_beside_the_reply() -> None:
    script = ScriptedModel(["SELECT 2"])
    Thinking(script, 8000).chat(request("a"))
    assert script.requests[0].max_tokens == request("a").max_tokens + 8000


@pytest.mark.parametrize(
    ("bounds", "by"),
    [
        (Bounds(calls=1), "the setting budget_calls"),
        (Bounds(tokens=1), "the setting budget_tokens"),
        (Bounds(usd=1e-9), "--budget"),
    ],
)
def test_a_budget_says_what_raises_it(bounds: Bounds, by: str) -> None:
    model = Budget(ScriptedModel([]), bounds, PRICE)
    with pytest.raises(BudgetError) as caught:
        model.chat(replace(request("a"), n=2))
    assert caught.value.hint == f"raise {by}"


def test_an_unknown_model_has_no_price() -> None:
    assert find_price("gpt-4o-mini-audio", read_prices()) is None


def test_a_file_of_prices_adds_and_corrects(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('[models.mine]\ninput = 1\noutput = 2\n[models."gpt-4o"]\ninput=9\noutput=9\n')
    prices = read_prices(path)
    assert prices["mine"] == Price(input=1, cached_input=1, output=2)
    assert prices["gpt-4o"].input == 9
    assert "gpt-5" in prices


@pytest.mark.parametrize(
    "text",
    ["x", "[models.a]\ninput = 1", "[models.a]\ninput = -1\noutput=1", "models = 3",
     "[models.a]\ninput=1\noutput=1\nper_call=1", "[models.a]\ninput='x'\noutput=1"],
)  # fmt: skip
def test_what_is_no_price_table_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(InputError, match="no price table"):
        read_prices(path)


def test_a_call_beyond_the_budget_is_not_made() -> None:
    script = ScriptedModel(lambda _: "x")
    budget = Budget(script, Bounds(calls=2), FREE)
    budget.chat(request())
    budget.chat(request())
    with pytest.raises(BudgetError, match="2 calls"):
        budget.chat(request())
    assert len(script.requests) == 2


def test_a_budget_in_money_counts_what_a_call_can_cost_and_then_what_it_did() -> None:
    most = (16 + len("hello") // 2) * 2 / 1e6 + 1000 * 10 / 1e6
    script = ScriptedModel(lambda _: "x")
    tight = Budget(Priced(script, PRICE), Bounds(usd=most * 0.99), PRICE)
    with pytest.raises(BudgetError, match="US dollars"):
        tight.chat(request(max_tokens=1000))
    assert script.requests == []
    roomy = Budget(Priced(script, PRICE), Bounds(usd=most * 1.01), PRICE)
    for _ in range(8):  # each really costs a thousandth
        roomy.chat(request(max_tokens=1000))
    assert roomy.spent().usd == pytest.approx(8 * (2 + 10) / 1e6)


def test_a_budget_holds_for_calls_at_the_same_time() -> None:
    start = threading.Barrier(8, timeout=10)

    class Slow:
        name = "slow"

        def chat(self, request: ChatRequest) -> ChatReply:
            return ChatReply(texts=("x",), cost=Cost(llm_calls=1))

    budget = Budget(Slow(), Bounds(calls=5), FREE)
    refused: list[BudgetError] = []

    def ask(_: int) -> None:
        start.wait()
        try:
            budget.chat(request())
        except BudgetError as error:
            refused.append(error)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(ask, range(8)))
    assert budget.spent().llm_calls == 5
    assert len(refused) == 3


def test_a_call_that_fails_costs_nothing() -> None:
    budget = Budget(ScriptedModel([ModelError("down"), "x"]), Bounds(calls=1), FREE)
    with pytest.raises(ModelError):
        budget.chat(request())
    assert budget.spent() == Cost()
    assert budget.chat(request()).texts == ("x",)


def test_the_same_request_is_paid_for_once(tmp_path: Path) -> None:
    script = ScriptedModel(["first", "second", "third", "fourth"])
    cache = Cache(script, tmp_path / "replies.sqlite")
    assert cache.chat(request("a", stage="one")).cost.llm_calls == 1
    again = cache.chat(request("a", stage="two"))
    assert (again.texts, again.cost) == (("first",), Cost())
    for other in (request("b"), request("a", temperature=0.5), request("a", seed=1)):
        assert cache.chat(other).texts != ("first",)
    cache.close()
    reopened = Cache(ScriptedModel([]), tmp_path / "replies.sqlite")
    assert reopened.chat(request("a")).texts == ("first",)
    reopened.close()


def test_a_model_does_not_answer_for_another_one(tmp_path: Path) -> None:
    Cache(ScriptedModel(["from a"], name="a"), tmp_path / "r").chat(request())
    b = Cache(ScriptedModel(["from b"], name="b"), tmp_path / "r")
    assert b.chat(request()).texts == ("from b",)


def test_a_damaged_entry_is_asked_for_anew(tmp_path: Path) -> None:
    cache = Cache(ScriptedModel(["new"]), tmp_path / "r")
    key = request_key(cache.name, request())
    with cache._file:
        cache._file.execute("INSERT INTO replies VALUES (?, ?)", (key, '{"texts": 3'))
    assert cache.chat(request()).texts == ("new",)


def test_what_is_no_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, and long enough to be told from one" * 40)
    with pytest.raises(InputError, match="cannot keep replies"):
        Cache(ScriptedModel([]), tmp_path / "notes.txt")


def test_a_recording_is_played_back_by_the_request(tmp_path: Path) -> None:
    recorder = Recorder(Priced(ScriptedModel(["a", "b"]), PRICE), tmp_path / "r.jsonl")
    said = [recorder.chat(request(text, schema={"type": "object"})) for text in ("x", "y")]
    player = Player(tmp_path / "r.jsonl")
    again = [player.chat(request(text, schema={"type": "object"})) for text in ("x", "y")]
    assert again == said
    with pytest.raises(ModelError, match="no reply to this request"):
        player.chat(request("z"))


@pytest.mark.parametrize(
    "text", ["{}", "x", '{"key": "a", "reply": {"texts": [], "cost": {}}}', "5"]
)
def test_what_is_no_recording_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.jsonl").write_text(text)
    with pytest.raises(InputError, match="no recording"):
        Player(tmp_path / "r.jsonl")


def test_after_failures_in_a_row_nobody_waits_for_the_next() -> None:
    now = [0.0]
    script = ScriptedModel([ModelError("down")] * 3 + ["back"])
    breaker = Breaker(script, most=3, pause=30, clock=lambda: now[0])
    for _ in range(3):
        with pytest.raises(ModelError, match=r"^down"):
            breaker.chat(request())
    with pytest.raises(ModelError, match=r"left alone for 30 s after 3 failures in a row.*down"):
        breaker.chat(request())
    assert len(script.requests) == 3
    now[0] = 31
    assert breaker.chat(request()).texts == ("back",)


def test_while_one_call_tries_whether_it_is_back_the_others_do_not() -> None:
    now = [0.0]
    breaker: Breaker

    class Nested:
        name = "nested"

        def chat(self, asked: ChatRequest) -> ChatReply:
            if now[0]:
                with pytest.raises(ModelError, match="left alone"):
                    breaker.chat(request())
            raise ModelError("down")

    breaker = Breaker(Nested(), most=1, pause=30, clock=lambda: now[0])
    with pytest.raises(ModelError, match=r"^down"):
        breaker.chat(request())
    now[0] = 31
    with pytest.raises(ModelError, match=r"^down"):
        breaker.chat(request())


def test_what_an_operator_has_to_mend_is_not_tried_again() -> None:
    script = ScriptedModel([SetupError("no such model", "name another", "model_name"), "x"])
    breaker = Breaker(script)
    for _ in range(3):
        with pytest.raises(SetupError, match="no such model"):
            breaker.chat(request())
    assert len(script.requests) == 1


def test_a_refused_call_and_a_strange_reply_are_no_failures_of_the_model() -> None:
    script = ScriptedModel([ModelReplyError("odd"), BudgetError("no"), RefusedError("no"), "x"])
    breaker = Breaker(script, most=1)
    for _ in range(3):
        with pytest.raises(ModelError):
            breaker.chat(request())
    assert breaker.chat(request()).texts == ("x",)


def test_a_meter_counts_by_stage_also_what_came_to_nothing() -> None:
    meter = Meter(Priced(ScriptedModel(["a", "b b", ModelError("down")]), PRICE))
    meter.chat(request(stage="judge"))
    meter.chat(request(stage="again"))
    with pytest.raises(ModelError):
        meter.chat(request(stage="again"))
    stages = meter.stages()
    assert stages["judge"].cost.completion_tokens == 1
    assert stages["again"].cost.completion_tokens == 2
    assert meter.cost().llm_calls == 2
    assert meter.cost().usd == pytest.approx((2 * 2 + 3 * 10) / 1e6)
    assert json.dumps([stage.seconds >= 0 for stage in stages.values()]) == "[true, true]"
