"""The call graph of a question: what waits for what, and that nothing waits without need."""

from threading import Barrier
from typing import Any

from modularsql import Guard, Settings
from modularsql.llm.script import ScriptedModel
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.run import ask
from modularsql.pipeline.trace import Trace
from modularsql.pipeline.waiting import longest
from modularsql.ports import ChatReply, ChatRequest

from .conftest import Pipeline, by_stage

FEW = "SELECT name FROM customer WHERE town = 'Kiel'"
MANY = "SELECT * FROM customer"
WRONG = "SELECT nome FROM customer"
OTHER_WRONG = "SELECT nom FROM customer"


def waits(trace: Trace) -> dict[str, list[set[str]]]:
    """For each kind of call the kinds of those that it waited for, call by call."""
    calls = trace.calls()
    found: dict[str, list[set[str]]] = {}
    for call in calls:
        found.setdefault(call.stage, []).append({calls[at].stage for at in call.after})
    return found


def test_the_longest_way_through_a_graph() -> None:
    graph = [(), (), (0, 1), (2,), (2,), (3, 4)]
    assert longest(graph, lambda call: 1.0) == 4
    assert longest(graph, lambda call: 5.0 if call == 1 else 1.0) == 8
    assert longest([], lambda call: 1.0) == 0


def test_stages_wait_for_each_other_and_what_stands_side_by_side_does_not(
    pipeline: Pipeline,
) -> None:
    said = {"": FEW, "generation.icl": "SELECT name FROM customer", "selection": "A"}
    asked = pipeline("Who lives in Kiel?", said, settings=Settings(confidence=0.9))
    found = waits(asked.trace)
    linking, generation = {"linking.direct", "linking.reversed"}, {
        "generation.skeleton", "generation.icl", "generation.divide",
    }  # fmt: skip
    assert [found[name] for name in linking] == [[set()], [set()]]
    assert all(found[name] == [linking] for name in generation)
    assert found["selection"] == [generation, generation], "both turns of the judge at once"
    assert asked.trace.critical_path(lambda call: 1.0) == 3


def test_revisions_of_a_candidate_follow_each_other_and_those_of_others_do_not_wait(
    pipeline: Pipeline,
) -> None:
    def said(request: ChatRequest) -> str:
        if request.stage.startswith("revision"):
            return MANY if WRONG in request.messages[-1].text else FEW
        return WRONG if request.stage == "generation.icl" else MANY

    trace = pipeline("Who lives in Kiel?", said).trace
    found = waits(trace)
    assert sorted(name for name in found if name.startswith("revision")) == [
        "revision.select", "revision.syntax",
    ]  # fmt: skip
    assert all("revision" not in name for name in found["revision.syntax"][0])
    waited = [names for names in found["revision.select"] if "revision.syntax" in names]
    assert waited == [{"revision.syntax"}], "one of two, and for nothing else"
    assert len(found["revision.select"]) == 2
    assert trace.critical_path(lambda call: 1.0) == 4


class Meeting(ScriptedModel):
    """Replies only when as many calls of a stage as expected are there at the same time."""

    def __init__(self, said: Any, **expected: int) -> None:
        super().__init__(said)
        self._rooms = {stage: Barrier(count) for stage, count in expected.items()}

    def chat(self, request: ChatRequest) -> ChatReply:
        self._rooms[request.stage.partition(".")[0]].wait(20)
        return super().chat(request)


def test_calls_that_wait_for_the_same_are_made_at_the_same_time(shop: Any) -> None:
    said = by_stage(
        {
            "": FEW,
            "generation.icl": WRONG,
            "generation.divide": OTHER_WRONG,
            "revision": MANY,
            "selection": "A",
        }
    )
    settings = Settings(confidence=0.9)
    deps = Deps(
        model=Meeting(said, linking=2, generation=3, revision=2, selection=2),
        engine=shop,
        guard=Guard(shop, "grain", settings),
        catalog=shop.catalog(),
        settings=settings,
        without=frozenset({"revision.select"}),
    )
    asked = ask("Who lives in Kiel?", deps)
    assert asked.failure is None
    assert asked.trace.critical_path(lambda call: 1.0) == 4
