"""The query does not run."""

from modularsql.asking.prompts import clipped
from modularsql.pipeline.checkers.base import Case
from modularsql.records import Failure, FailureKind


def syntax(case: Case) -> str | None:
    """What the database said, where it rejected the query."""
    if not isinstance(case.outcome, Failure):
        return None
    said = clipped(" ".join(case.outcome.message.split()), 600)
    if case.outcome.kind == FailureKind.TIMEOUT:
        return f"The query was stopped at the time limit ({said}). Write it so that it reads less."
    return f"The database rejects the query: {said}. Mend what it names, and nothing else."
