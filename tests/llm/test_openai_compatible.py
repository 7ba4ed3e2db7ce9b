"""The client of OpenAI-compatible servers, against a real HTTP server on this machine."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from modularsql.errors import InputError, ModelError, RefusedError, SetupError
from modularsql.llm.openai_compatible import OpenAICompatible, Server
from modularsql.llm.wrappers import Limited
from modularsql.records import Cost

from .conftest import Answer, Body, FakeServer, completion, failure, request, seconds


def test_a_reply_comes_with_the_tokens_the_server_counted(server: FakeServer) -> None:
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 5},
    }
    server.answers = [completion("four", usage=usage)]
    reply = server.model().chat(request("2+2?", max_tokens=5, seed=1))
    assert reply.texts == ("four",)
    assert reply.cost == Cost(llm_calls=1, prompt_tokens=7, completion_tokens=3, cached_tokens=5)
    body = server.bodies[0]
    assert body["messages"] == [{"role": "user", "content": "2+2?"}]
    assert (body["model"], body["max_tokens"], body["seed"]) == ("m", 5, 1)
    assert body["temperature"] == 0.0
    assert "n" not in body
    assert "response_format" not in body


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": -5, "completion_tokens": "9"}, [], None])
def test_nonsense_about_tokens_is_no_charge(server: FakeServer, usage: object) -> None:
    body = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    server.answers = [Answer(body=json.dumps(body))]
    assert server.model().chat(request()).cost == Cost(llm_calls=1)


@pytest.mark.parametrize(
    "bad",
    [
        failure(408),
        failure(409),
        failure(429),
        failure(500),
        failure(503),
        Answer(body=""),
        Answer(body="<html>gateway</html>"),
        Answer(body='{"choices": [{"message": {"con'),
        Answer(body='{"choices": []}'),
        Answer(body='{"choices": [{"message": {"content": 5}}]}'),
        Answer(body='{"choices": [{"mess', declared=500),
        Answer(hang_up=True),
    ],
    ids="408 409 429 500 503 nothing html half no-choice number cut-off hang-up".split(),
)
def test_what_may_pass_is_tried_again(
    server: FakeServer, no_pause: list[float], bad: Answer
) -> None:
    server.answers = [bad, completion("ok")]
    reply = server.model().chat(request())
    assert reply.texts == ("ok",)
    assert reply.cost.llm_calls == 1
    assert reply.cost.prompt_tokens == 100
    assert len(server.bodies) == 2
    assert len(no_pause) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, RefusedError), (413, RefusedError), (422, RefusedError),
     (401, SetupError), (403, SetupError), (404, SetupError)],
)  # fmt: skip
def test_what_will_not_pass_is_not_tried_again(
    server: FakeServer, no_pause: list[float], status: int, kind: type[Exception]
) -> None:
    server.answers = [failure(status)]
    with pytest.raises(kind) as caught:
        server.model().chat(request())
    assert str(status) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.bodies) == 1
    assert no_pause == []


@pytest.mark.parametrize("bad", [failure(500), Answer(body="{"), Answer(hang_up=True)])
def test_in_the_end_it_gives_up_in_one_line(
    server: FakeServer, no_pause: list[float], bad: Answer
) -> None:
    server.answers = [bad]
    with pytest.raises(ModelError) as caught:
        server.model(attempts=3).chat(request())
    assert "\n" not in str(caught.value)
    assert len(server.bodies) == 3


@pytest.mark.parametrize("body", ['{"error": "the model is loading"}', "the model is loading <p>"])
def test_what_came_in_place_of_a_completion_is_quoted(server: FakeServer, body: str) -> None:
    server.answers = [Answer(body=body)]
    with pytest.raises(ModelError, match=r"no chat completion: .*the model is loading") as caught:
        server.model(attempts=1).chat(request())
    assert "base_url" in caught.value.hint


def test_pauses_grow(server: FakeServer, no_pause: list[float]) -> None:
    server.answers = [failure(500)]
    with pytest.raises(ModelError):
        server.model(attempts=6, seconds=100).chat(request())
    assert [round(p / 0.75) >= 0 for p in no_pause] == [True] * 5
    for pause, full in zip(no_pause, (0.5, 1, 2, 4, 8), strict=True):
        assert 0.75 * full <= pause <= full


def test_retry_after_is_honoured(server: FakeServer, no_pause: list[float]) -> None:
    server.answers = [failure(429, headers={"retry-after": "3.5"}), completion("ok")]
    server.model().chat(request())
    assert no_pause == [3.5]


def test_retry_after_as_a_date_is_honoured(server: FakeServer, no_pause: list[float]) -> None:
    import email.utils
    import time

    date = email.utils.formatdate(time.time() + 5, usegmt=True)
    server.answers = [failure(503, headers={"retry-after": date}), completion("ok")]
    server.model().chat(request())
    assert 2 < no_pause[0] <= 5


def test_a_wait_beyond_the_deadline_is_not_waited(
    server: FakeServer, no_pause: list[float]
) -> None:
    server.answers = [failure(429, headers={"retry-after": "3600"})]
    with pytest.raises(ModelError, match="429"):
        server.model().chat(request())
    assert (len(server.bodies), no_pause) == (1, [])


@pytest.mark.parametrize(
    "slow", [Answer(wait=30), completion("a long reply", drip=0.05)], ids=["hangs", "trickles"]
)
def test_the_deadline_holds(server: FakeServer, slow: Answer) -> None:
    server.answers = [slow]
    model = server.model(seconds=0.6)

    def ask() -> None:
        with pytest.raises(ModelError, match="no answer in time"):
            model.chat(request())

    assert seconds(ask) < 3


def test_a_reply_without_end_is_cut_off(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modularsql.llm.openai_compatible._LARGEST_BODY", 10_000)
    server.answers = [completion("x" * 20_000)]
    with pytest.raises(ModelError, match="more than"):
        server.model().chat(request())
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("part", "words", "more"),
    [
        ("response_format", "response_format is not supported", {"schema": {"type": "object"}}),
        ("seed", "Unknown parameter: 'seed'", {"seed": 3}),
        ("temperature", "Unsupported value: 'temperature' does not support 0.0", {}),
        ("n", "Unsupported parameter 'n'", {"n": 2}),
        ("max_tokens", "Unsupported parameter: 'max_tokens' is not supported", {}),
    ],
)
def test_a_part_that_a_server_refuses_is_left_out_from_then_on(
    server: FakeServer, part: str, words: str, more: Body
) -> None:
    server.answers = lambda b: failure(400, words) if part in b else completion("ok")
    model = server.model()
    assert set(model.chat(request(**more)).texts) == {"ok"}
    sent = len(server.bodies)
    assert set(model.chat(request(**more)).texts) == {"ok"}
    refused = [part in body for body in server.bodies]
    assert refused == [True] + [False] * (len(refused) - 1)
    assert len(refused) == 2 * sent - 1
    if part == "max_tokens":
        assert server.bodies[-1]["max_completion_tokens"] == 1024


def test_a_schema_is_sent_as_the_protocol_has_it(server: FakeServer) -> None:
    server.model().chat(request(schema={"type": "object"}))
    form = server.bodies[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"] == {"type": "object"}


def test_the_key_is_sent_and_never_said(server: FakeServer) -> None:
    key = "sk-very-secret-0123456789"
    server.answers = [failure(400, f"bad request with {key}")]
    model = server.model(key=key)
    with pytest.raises(ModelError) as caught:
        model.chat(request())
    assert server.keys == [f"Bearer {key}"]
    assert key not in str(caught.value)
    server.answers = [failure(401, f"Incorrect API key provided: {key[:8]}***{key[-4:]}")]
    with pytest.raises(SetupError) as refused:
        model.chat(request())
    assert key[:8] not in str(refused.value)
    assert key not in repr(model.__dict__)


def test_no_server_there() -> None:
    model = OpenAICompatible("m", Server(url="http://127.0.0.1:9/v1", seconds=0.3))
    with pytest.raises(ModelError, match="cannot be used"):
        model.chat(request())


def test_no_test_can_call_a_model_beyond_this_machine() -> None:
    with pytest.raises(SetupError, match="beyond this machine"):
        OpenAICompatible("m", Server(key="x"))
    with pytest.raises(SetupError, match="beyond this machine"):
        OpenAICompatible("m", Server(url="http://127.0.0.1.example.org/v1"))
    with pytest.raises(SetupError, match="no model may be called"):
        OpenAICompatible("m", Server(url="http://localhost:1/v1", calls="none"))


@pytest.mark.parametrize(
    "url", ["", "localhost:1/v1", "file:///etc/passwd", "http://[", "https://"]
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="no URL"):
        OpenAICompatible("m", Server(url=url))


@pytest.mark.slow
def test_calls_at_the_same_time_are_bounded_and_nearly_as_fast_as_can_be(
    server: FakeServer,
) -> None:
    server.answers = [completion("ok", wait=0.2)]
    model = Limited(server.model(seconds=30), 8)
    model.chat(request())
    ideal = 64 / 8 * 0.2
    with ThreadPoolExecutor(64) as threads:
        taken = seconds(lambda: list(threads.map(model.chat, [request()] * 64)))
    assert server.most_at_once == 8
    assert taken < 1.3 * ideal
    assert threading.active_count() < 200
