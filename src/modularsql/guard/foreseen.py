"""What the database expects of a query that did not run, or not to its end: an explosion of rows.

An estimate (`EXPLAIN`) runs nothing. It errs, so what is said of it is an info, and no more than
that: rows that some step gives, far more than the largest table read has. A query that ran needs
none of it: its rows are counted.
"""

from dataclasses import replace

from sqlglot import exp

from modularsql.guard import findings as say
from modularsql.guard.probe import SKIPPED, base_tables
from modularsql.guard.session import Session
from modularsql.guard.state import State
from modularsql.records import FailureKind, Finding
from modularsql.sql.outermost import select_place
from modularsql.sql.parse import Unparsed
from modularsql.sql.plans import Plan
from modularsql.sql.statement import Statement

_AT_LEAST, _SHARE = 1.0, 0.1
"""Seconds for plans after the time limit has run out, or a share of it: they run nothing."""


def foresee(state: State) -> State:
    """The stage: say how many rows are expected of a query that was stopped, or was not to run."""
    statement = state.statement
    if not isinstance(statement, Statement) or isinstance(statement.tree, Unparsed):
        return state
    stopped = state.failure is not None and state.failure.kind == FailureKind.TIMEOUT
    uncounted = state.probe is not None and SKIPPED in state.probe.states
    if (not stopped and not uncounted and state.execute) or state.found(say.ROW_EXPLOSION):
        return state
    ends = state.session.clock() + max(_AT_LEAST, _SHARE * state.session.limits.seconds)
    plan = state.session.foreseen(statement.text, ends, state.session.params)
    if plan is None:
        return state
    if stopped:
        state = state._replace(findings=tuple(_with(f, plan) for f in state.findings))
    largest = _largest(statement, state.session, ends)
    settings = state.settings
    if plan.most < settings.explosion_min_rows or largest is None or _stops_early(statement):
        return state
    if plan.most < max(1.0, largest) * settings.explosion_factor:
        return state
    place = statement.place(select_place(statement))
    return state.note(say.explosion_ahead(plan.most, largest, place))


def _stops_early(statement: Statement) -> bool:
    """Whether a LIMIT takes the first rows that come, so that not all are made."""
    if isinstance(statement.tree, Unparsed):
        return False
    limits = statement.tree.find_all(exp.Limit, exp.Fetch)
    return any(limit.parent is not None and not limit.parent.args.get("order") for limit in limits)


def _with(finding: Finding, plan: Plan) -> Finding:
    """The time-out with what was expected of the query."""
    if finding.rule != say.TIMEOUT:
        return finding
    facts = {"expected_rows": round(plan.rows), "expected_most": round(plan.most)}
    words = f" The database expects about {say.roughly(max(plan.rows, plan.most))} rows"
    if plan.most > plan.rows:
        words += f" on the way to the {say.roughly(plan.rows)} that come back"
    return replace(finding, message=f"{finding.message}{words}.", measured=facts)


def _largest(statement: Statement, session: Session, ends: float) -> float | None:
    """Rows of the largest table that is joined, as the database expects them."""
    tables = base_tables(statement, session.catalog(statement.tree))
    if not tables:
        return None
    found = []
    for table in tables:
        source = exp.table_(table.name, db=table.schema or None, quoted=True)
        every = exp.select("1").from_(source).sql(dialect=session.engine.dialect)
        plan = session.foreseen(every, ends)
        if plan is None:
            return None
        found.append(plan.rows)
    return max(found)
