"""The last stage: the guard over the chosen query, with the pool it came from."""

from dataclasses import replace

from modularsql.pipeline.deps import Deps
from modularsql.pipeline.state import State


def guard(state: State, deps: Deps) -> State:
    """The guarded answer; none where no candidate was written."""
    if state.chosen is None:
        return state
    sql = state.candidates[state.chosen].sql
    fix = deps.has("guard")
    answer = deps.guard.run(sql, question=state.question, fix=fix)
    said = f"verdict {answer.verdict.value}"
    if answer.applied:
        said += f"; applied: {', '.join(answer.applied)}"
    return replace(state, answer=answer, decisions=(said,))
