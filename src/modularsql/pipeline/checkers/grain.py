"""Our own analysis: a join that repeats rows or inflates an aggregate, measured on the data."""

from modularsql.guard.grain import look
from modularsql.guard.session import Session
from modularsql.pipeline.checkers.base import Case
from modularsql.records import Severity
from modularsql.rows import Rows

# What only repeats rows is left to the guard, which can repair it without a model.
_FAULTS = frozenset({Severity.ERROR})


def grain(case: Case) -> str | None:
    """The loudest finding, in the words that people read."""
    if case.statement is None or not isinstance(case.outcome, Rows):
        return None
    seen = look(case.statement, Session(engine=case.engine, params=None, limits=case.limits))
    found = [one.finding for one in seen.issues if one.finding.severity in _FAULTS]
    return f"{found[0].rule}: {found[0].message}" if found else None
