"""A query that the database rejects, since it was written for another one.

It is read as other dialects would and put into the database's own; the first text that the
database itself takes (`EXPLAIN`, which runs nothing) is what was meant, most likely. It is
suggested, and run in the query's place where the user asked for that: no two dialects mean quite
the same, so it is never more than suggested (`Safety`).
"""

from dataclasses import replace

from sqlglot import exp

from modularsql.guard import findings as say
from modularsql.guard.session import Session
from modularsql.guard.state import State
from modularsql.records import Failure, FailureKind, Repair, Safety
from modularsql.rows import Rows
from modularsql.sql.foreign import NAMES, Reading, readings
from modularsql.sql.parse import Unparsed
from modularsql.sql.statement import Statement, read_statement

TRANSPILE = "transpile"

# Characters. To read and write a text in all the dialects takes some 0.2 ms for each of them.
_LONGEST = 10_000


def translate(state: State) -> State:
    """The stage: say for which database a query was written, and run it in ours where asked to."""
    statement, failure = state.statement, state.failure
    if failure is None or not isinstance(statement, Statement) or not _is_rejected(state):
        return state
    if state.settings.transpile == "off" or len(statement.text) > _LONGEST:
        return state
    reading = _meant(statement.text, state)
    if reading is None or _is_taken(statement.text, state.session):
        return state  # a query that is understood failed on what stands in the data
    repair = Repair(name=TRANSPILE, safety=Safety.SUGGESTED, sql=reading.sql)
    done = _run(reading, state) if state.settings.transpile == "run" else None
    names = NAMES[reading.dialect], NAMES.get(_dialect(state), _dialect(state))
    finding = say.other_dialect(*names, reading.because, was_run=done is not None)
    finding = replace(finding, repairs=(repair,))
    if done is None:
        return state.note(finding)
    findings = tuple(f for f in done.findings if f.rule not in say.REJECTIONS)
    return done._replace(findings=findings).note(finding)


def _is_rejected(state: State) -> bool:
    """Whether the database does not understand it: its words, or functions it does not know."""
    assert state.failure is not None
    assert isinstance(state.statement, Statement)
    tree = state.statement.tree
    if state.failure.kind == FailureKind.REFUSED:
        return isinstance(tree, Unparsed) or tree.find(exp.Anonymous) is not None
    return state.failure.kind == FailureKind.ERROR


def _meant(text: str, state: State) -> Reading | None:
    """The first reading that the database takes.

    It is looked for as long as probes may take, or to the time limit where it is to be run.
    """
    session = state.session
    is_probe = state.settings.transpile != "run"
    end = session.clock() + (session.left_for_probes() if is_probe else session.left())
    found = readings(text, _dialect(state), in_time=lambda: session.clock() < end)
    return next((reading for reading in found if _is_taken(reading.sql, session)), None)


def _is_taken(sql: str, session: Session) -> bool:
    return isinstance(session.run(f"EXPLAIN {sql}", session.params), Rows)


def _run(reading: Reading, state: State) -> State | None:
    """The state with the translated query in place of the one given; None where it gives none."""
    session = state.session
    statement = read_statement(reading.sql, _dialect(state), state.settings.max_parse_chars)
    session.own = None  # what it takes is the time of the query, not what the error took
    outcome = session.run(reading.sql, session.params)
    if isinstance(outcome, Failure) or not isinstance(statement, Statement):
        return None
    return state._replace(
        statement=statement,
        rows=outcome,
        failure=None,
        probe=None,
        final_sql=reading.sql,
        applied=(*state.applied, TRANSPILE),
    )


def _dialect(state: State) -> str:
    return state.session.engine.dialect
