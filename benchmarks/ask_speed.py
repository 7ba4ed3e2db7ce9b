"""How long a question takes beside the calls that must wait for each other (`benchmarks.ask`).

The real client asks a server on this machine, whose every answer takes LATENCY. Questions are
spread over Spider dev. The critical path is the longest way through the call graph that the trace
of each question holds, with LATENCY for each call; "in sequence" is LATENCY for each request. The
model is scripted (`benchmarks.noisy`): right, or wrong so often that candidates differ, some are
revised and many votes are judged.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

from benchmarks.corpus import SPIDER, spider_dev
from benchmarks.noisy import Known, NoisyModel
from benchmarks.slow_server import slow_server
from modularsql import Guard, Settings, connect
from modularsql.catalog import Catalog
from modularsql.evaluation.datasets import Question, database_file
from modularsql.llm.connect import connect_model
from modularsql.pipeline.checkers import CHECKERS
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.run import ask
from modularsql.pipeline.trace import Trace
from modularsql.ports import Model
from modularsql.retrieval.lexical import LexicalIndex
from modularsql.service.indexing import IndexRequest, index, index_path

LATENCY = 1.0
_CALLS, _JUDGED = 5, 2  # of linking and generation; of a judge, positions swapped
_HEAD = (
    "| index | model | samples a request | requests | revisions | judged | in a row "
    "| wall / critical path | the same, cores free | in sequence / wall |\n" + "|---" * 10 + "|"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What is asked: with a value index or without, a model that errs or does not, a server that
    gives all samples to one request or one."""

    index: bool
    errs: bool
    samples: bool


WORKLOADS = (
    Workload(index=False, errs=False, samples=True),
    Workload(index=True, errs=False, samples=True),
    Workload(index=True, errs=False, samples=False),
    Workload(index=True, errs=True, samples=True),
    Workload(index=True, errs=True, samples=False),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One question: seconds of wall and CPU time, and what it asked the model."""

    wall: float
    cpu: float
    trace: Trace

    @property
    def path(self) -> float:
        """The seconds of its critical path."""
        return self.trace.critical_path(lambda call: LATENCY)

    @property
    def requests(self) -> int:
        """What the server was asked."""
        return self.trace.cost().llm_calls

    def calls(self, stage: str) -> int:
        """How often a stage asked."""
        return sum(call.stage.startswith(stage) for call in self.trace.calls())


def speed(most: int) -> None:
    """The table, and what conditional calls spare."""
    asked = _questions(most)
    print(f"\n{len(asked)} questions, {LATENCY:g} s for each request:\n\n{_HEAD}")
    with TemporaryDirectory() as folder:
        settings = Settings(timeout=5.0, index_dir=folder)
        for path in sorted(set(asked.values())):
            index(IndexRequest(target=str(path), settings=settings))
        found = {work: list(_timed(work, asked, settings)) for work in WORKLOADS}
    possible = _CALLS + 1 + len([c for c in CHECKERS if not c.profile]) + _JUDGED
    _, *usual = found[Workload(index=True, errs=False, samples=True)]
    made = mean(len(one.trace.calls()) for one in usual)
    first, again, *_ = found[Workload(index=True, errs=False, samples=False)]
    print(
        f"\n- {made:.1f} calls a question in the second line, where checkers that always ask (once "
        f"for the one candidate) and a vote that is always judged would make {possible}\n"
        "- a server that gives one sample a request is found out by the first question of a "
        f"process, which is not counted above: it took {first.wall:.1f} s, asked again "
        f"{again.wall:.1f} s\n"
        "- the paper has 3.49x for its runs on large databases, in parallel against in sequence; a "
        "server that gives all samples to one request has fewer of them to take side by side\n"
        '- "the same, cores free" adds all CPU time of the process to the critical path'
    )


def _questions(most: int) -> dict[Question, Path]:
    """So many questions, spread over the set."""
    able = {
        question: path
        for question in {q.question: q for q in spider_dev().questions}.values()
        if question.gold and (path := database_file(SPIDER / "database", question.db)) is not None
    }
    every = max(1, len(able) // most)
    return dict(list(able.items())[::every][:most])


def _timed(work: Workload, asked: Mapping[Question, Path], settings: Settings) -> Iterator[Timed]:
    """Every question, after the first one, which finds out what the server takes; and its line."""
    known = {
        q.question: Known(gold=str(q.gold), catalog=_catalog(path), errs=work.errs)
        for q, path in asked.items()
    }
    script = partial(NoisyModel, known)
    with slow_server(script, LATENCY, work.samples) as url:
        model = connect_model(replace(settings, model="scripted", base_url=url))
        assert model is not None
        first, *found = _run(work, [next(iter(asked.items())), *asked.items()], model, settings)
    print(f"| {' | '.join(_line(work, found))} |", flush=True)
    yield from (first, *found)


def _line(work: Workload, found: list[Timed]) -> tuple[str, ...]:
    shares = [one.wall / one.path for one in found]
    free = [1 + one.cpu / one.path for one in found]
    return (
        "yes" if work.index else "no",
        "errs" if work.errs else "right",
        "all" if work.samples else "one",
        f"{mean(one.requests for one in found):.1f}",
        f"{mean(one.calls('revision') for one in found):.1f}",
        f"{mean(bool(one.calls('selection')) for one in found):.0%}",
        f"{mean(one.path for one in found) / LATENCY:.1f}",
        f"{median(shares):.2f}x",
        f"{median(free):.2f}x",
        f"{sum(o.requests for o in found) * LATENCY / sum(o.wall for o in found):.2f}x",
    )


def _catalog(path: Path) -> Catalog:
    with closing(connect(path, Settings())) as engine:
        return engine.catalog()


def _run(
    work: Workload, asked: list[tuple[Question, Path]], model: Model, settings: Settings
) -> Iterator[Timed]:
    for question, path in asked:
        with closing(connect(path, settings)) as engine:
            deps = Deps(
                model=model,
                engine=engine,
                guard=Guard(engine, settings=settings),
                catalog=engine.catalog(),
                settings=settings,
                values=LexicalIndex(index_path(str(path), settings)) if work.index else None,
            )
            start, cpu = time.perf_counter(), time.process_time()
            done = ask(question.question, deps)
            yield Timed(
                wall=time.perf_counter() - start, cpu=time.process_time() - cpu, trace=done.trace
            )
