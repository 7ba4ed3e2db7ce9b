"""Several samples of one request, from servers that give them at once and from others."""

import pytest

from modularsql import Settings
from modularsql.errors import ModelError
from modularsql.llm.connect import connect_model
from modularsql.llm.sampling import Sampled

from .conftest import Body, FakeServer, completion, failure, request, seconds


def test_samples_come_at_once_where_the_server_gives_them(server: FakeServer) -> None:
    server.answers = [completion("a", "b", "c")]
    model = Sampled(server.model())
    assert model.chat(request(n=3)).texts == ("a", "b", "c")
    assert model.chat(request(n=3)).cost.llm_calls == 1
    assert [body["n"] for body in server.bodies] == [3, 3]


def test_they_are_asked_for_singly_where_a_server_ignores_n(server: FakeServer) -> None:
    server.answers = lambda body: completion(f"seed {body['seed']}")
    reply = Sampled(server.model()).chat(request(n=3, seed=7))
    assert reply.texts == ("seed 7", "seed 8", "seed 9")
    assert reply.cost.llm_calls == 3
    assert reply.cost.prompt_tokens == 300


def test_what_is_missing_is_asked_for_singly(server: FakeServer) -> None:
    server.answers = lambda body: completion(*"ab" if "n" in body else "c")
    assert Sampled(server.model()).chat(request(n=4)).texts == ("a", "b", "c", "c")


def test_more_samples_than_asked_for_are_left_out(server: FakeServer) -> None:
    server.answers = [completion("a", "b", "c")]
    assert Sampled(server.model()).chat(request(n=2)).texts == ("a", "b")


@pytest.mark.parametrize("refuses", [True, False])
def test_a_server_that_was_found_out_is_asked_for_all_samples_at_the_same_time(
    server: FakeServer, refuses: bool
) -> None:
    def answer(body: Body) -> object:
        if refuses and "n" in body:
            return failure(400, "Unsupported parameter 'n'")
        return completion("x", wait=0.5)

    server.answers = answer  # type: ignore[assignment]
    model = Sampled(server.model())
    assert seconds(lambda: model.chat(request(n=4))) >= 1.0, "the first reply is waited for"
    server.bodies.clear()
    server.most_at_once = 0
    model.chat(request(n=4))
    assert server.most_at_once == 4
    assert not any("n" in body for body in server.bodies)


def test_calls_at_the_same_time_are_bounded_sample_by_sample(server: FakeServer) -> None:
    server.answers = [completion("x", wait=0.05)]
    model = connect_model(Settings(model="m", base_url=server.url, model_concurrency=3))
    assert model is not None
    assert len(model.chat(request(n=12)).texts) == 12
    assert server.most_at_once == 3


def test_one_sample_that_fails_is_the_failure_of_the_request(
    server: FakeServer, no_pause: list[float]
) -> None:
    server.answers = [completion("x"), completion("x"), failure(500)]
    with pytest.raises(ModelError, match="500"):
        Sampled(server.model(attempts=1)).chat(request(n=3))
