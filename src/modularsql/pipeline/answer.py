"""The last stage: the guard over the chosen query, with the pool it came from."""

from dataclasses import replace

from modularsql.guard.run import Guard
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.state import State


def guard(state: State, deps: Deps) -> State:
    """The guarded answer; none where no candidate was written.

    The guard asks through the stage's own model, so that the trace holds its calls as well.
    """
    if state.chosen is None:
        return state
    door = Guard(deps.engine, deps.guard.policy, deps.settings, deps.model)
    answer = door.run(
        state.candidates[state.chosen].sql,
        question=state.question,
        hint=state.hint,
        candidates=[candidate.sql for candidate in state.candidates],
        fix=deps.has("guard"),
    )
    said = [f"verdict {answer.verdict.value}"]
    if answer.rescue is not None:
        said.append(f"rescue of {answer.rescue.trigger}: {answer.rescue.outcome}")
    if answer.applied:
        said.append(f"applied: {', '.join(answer.applied)}")
    return replace(state, answer=answer, decisions=tuple(said))
