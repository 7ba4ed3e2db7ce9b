"""The pipeline: one question in, a guarded answer out. `STAGES` is the data flow.

The runner, not the stage, times, counts calls and catches: a stage that fails for want of a model
ends the question with what is known, and the trace says so.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace

from modularsql.errors import ModelError, ModularSqlError, SetupError
from modularsql.pipeline.answer import guard
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.generation import generate
from modularsql.pipeline.linking import link_schema
from modularsql.pipeline.revision import revise
from modularsql.pipeline.selection import select
from modularsql.pipeline.state import State
from modularsql.pipeline.trace import Listening, StageTrace, Trace, seen
from modularsql.pipeline.values import find_values

Stage = Callable[[State, Deps], State]

STAGES: tuple[tuple[str, Stage], ...] = (
    ("values", find_values),
    ("linking", link_schema),
    ("generation", generate),
    ("revision", revise),
    ("selection", select),
    ("guard", guard),
)
"""The paper's stages S3 to S7 and the guard, each under the name its trace has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of a question: the last state, its trace, and what ended it early."""

    state: State
    trace: Trace
    failure: ModularSqlError | None = None


def ask(question: str, deps: Deps, hint: str = "") -> Asked:
    """Take one question through the stages. Never raises for what a model or a query does."""
    return copy_context().run(_through, State(question=question, hint=hint), deps)


def _through(state: State, deps: Deps) -> Asked:
    ears = Listening(deps.model)
    done: list[StageTrace] = []
    failure: ModularSqlError | None = None
    with ThreadPoolExecutor(max_workers=deps.settings.ask_workers) as pool:
        for name, stage in STAGES:
            start = time.perf_counter()
            before = replace(state, decisions=())
            try:
                state = stage(before, replace(deps, model=ears, pool=pool))
            except (ModelError, SetupError) as error:
                failure = error
                state = replace(before, decisions=(f"ended here: {error}",))
            ms = (time.perf_counter() - start) * 1000
            done.append(
                StageTrace(
                    stage=name,
                    ms=round(ms, 3),
                    decisions=state.decisions,
                    calls=ears.new(),
                    output=seen(name, state),
                )
            )
            if failure or state.unanswerable:
                break
    trace = Trace(question=state.question, hint=state.hint, stages=tuple(done))
    return Asked(state=state, trace=trace, failure=failure)
