"""A model in one process, asked from others."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import pytest

from modularsql.errors import ModelError, SetupError
from modularsql.llm.desk import DeskModel, ModelDesk
from modularsql.llm.script import ScriptedModel
from modularsql.ports import ChatRequest

from .conftest import request


def echo(asked: ChatRequest) -> str:
    return asked.messages[0].text.upper()


def test_another_process_gets_replies_of_the_model_here() -> None:
    script = ScriptedModel(echo)
    with ModelDesk(script) as desk:
        context = multiprocessing.get_context("spawn")
        with context.Pool(1) as pool:
            replies = [pool.apply(desk.door().chat, (request(text),)) for text in "ab"]
    assert [reply.texts for reply in replies] == [("A",), ("B",)]
    assert len(script.requests) == 2


def test_threads_ask_at_the_same_time_and_errors_come_through() -> None:
    def fails(asked: ChatRequest) -> str | Exception:
        text = asked.messages[0].text
        return SetupError("no key", "set one", "model_key") if text == "bad" else text

    with ModelDesk(ScriptedModel(fails)) as desk:
        door = desk.door()
        with ThreadPoolExecutor(8) as threads:
            texts = [str(i) for i in range(40)]
            assert list(threads.map(lambda t: door.chat(request(t)).texts[0], texts)) == texts
        with pytest.raises(SetupError, match="no key") as caught:
            door.chat(request("bad"))
        assert caught.value.kind == "model_key"


def test_a_mistake_of_ours_costs_one_reply() -> None:
    class Broken:
        name = "broken"

        def chat(self, request: ChatRequest) -> object:
            raise ZeroDivisionError("oops")

    with ModelDesk(Broken()) as desk, pytest.raises(ModelError, match="ZeroDivisionError"):  # type: ignore[arg-type]
        desk.door().chat(request())


def test_when_the_desk_is_closed_the_model_is_gone() -> None:
    with ModelDesk(ScriptedModel(echo)) as desk:
        door = desk.door()
        assert door.chat(request("a")).texts == ("A",)
    fresh = DeskModel(*door.__getstate__())
    with pytest.raises(ModelError, match="gone"):
        fresh.chat(request("b"))
