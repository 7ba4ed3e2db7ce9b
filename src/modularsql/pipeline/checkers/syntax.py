"""The query does not run."""

from modularsql.asking.prompts import clipped
from modularsql.guard.absent import absent
from modularsql.pipeline.checkers.base import Case
from modularsql.records import Failure, FailureKind


def syntax(case: Case) -> str | None:
    """What the database said, where it rejected the query.

    Its message may quote the data; where values are to stay out of prompts, what the query and the
    schema alone say stands in its place.
    """
    if not isinstance(case.outcome, Failure):
        return None
    said = " ".join(case.outcome.message.split()) if case.values else _of_the_schema(case)
    said = clipped(said, 600)
    if case.outcome.kind == FailureKind.TIMEOUT:
        return f"The query was stopped at the time limit ({said}). Write it so that it reads less."
    return f"The database rejects the query: {said}. Mend what it names, and nothing else."


def _of_the_schema(case: Case) -> str:
    """The names that are not there, or else the kind of failure."""
    assert isinstance(case.outcome, Failure)
    if case.query is None or case.statement is None:
        return case.outcome.kind.value
    missing = absent(case.query, case.statement, case.catalog).values()
    return "; ".join(one.message.rstrip(".?") for one in missing) or case.outcome.kind.value
