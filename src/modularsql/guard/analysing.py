"""Looking beneath the rows, under policy `grain`: which joins repeat whose rows.

A query that was rejected is looked at as well: its names may say what is wrong with it.
"""

from dataclasses import replace

from modularsql.guard import findings as say
from modularsql.guard.absent import explained
from modularsql.guard.grain import Seen, look, static
from modularsql.guard.state import State
from modularsql.records import Failure, FailureKind, Severity
from modularsql.sql.statement import Statement


def analysed(state: State) -> State:
    """The stage: look beneath the rows, and say what was seen."""
    statement = state.statement
    if not isinstance(statement, Statement):
        return state
    if state.failure and not _timed_out(state):
        return _rejected(state, statement, state.failure)
    if state.rows is not None:
        seen = look(statement, state.session)
    else:
        seen = static(statement, state.session.catalog(statement.tree))
    unknown = tuple(f"not known: {what}" for what in seen.unknown)
    state = state._replace(seen=seen, notes=(*state.notes, *unknown))
    state = state.note(*(one.finding for one in seen.issues))
    state = _without_symptoms(state, seen)
    repeated = any(one.borne_out and one.issue.multipliers for one in seen.issues)
    if seen.query is None or repeated:
        return state
    # No join repeats these rows: they are equal rows of different things.
    softened = tuple(
        replace(
            finding,
            severity=Severity.INFO,
            message=finding.message + " No join repeats rows here: equal values are no fault.",
        )
        if finding.rule == say.DUPLICATE_ROWS
        else finding
        for finding in state.findings
    )
    return state._replace(findings=softened)


def _rejected(state: State, statement: Statement, failure: Failure) -> State:
    """What the database has against a name, in more words than its own."""
    if failure.kind != FailureKind.ERROR:
        return state
    catalog = state.session.catalog(statement.tree)
    query = static(statement, catalog).query
    if query is None:
        return state
    findings = tuple(
        explained(finding, failure, query, statement, catalog)
        if finding.rule == say.REJECTED
        else finding
        for finding in state.findings
    )
    return state._replace(findings=findings)


def _without_symptoms(state: State, seen: Seen) -> State:
    """Who allowed every cause of the repeated rows has allowed those rows."""
    causes = [
        one.finding
        for one in seen.issues
        if one.borne_out and one.issue.multipliers and not one.issue.block.is_aggregate
    ]
    if not causes or any(cause in state.findings for cause in causes):
        return state
    symptoms = (say.DUPLICATE_ROWS, say.ROW_EXPLOSION)
    return state._replace(findings=tuple(f for f in state.findings if f.rule not in symptoms))


def _timed_out(state: State) -> bool:
    return state.failure is not None and state.failure.kind == FailureKind.TIMEOUT
