"""The rescue: another candidate in place of a query that the probe flagged (paper, section 3.3).

A stage of `run.py`. Nothing that a model says or fails to say can do more than pick another
candidate; every way out without a pick leaves the query as it is, and a note says why.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from modularsql.errors import ModelError, SetupError
from modularsql.guard import findings as say
from modularsql.guard.candidates import LOUD, Trial, Tried
from modularsql.guard.choosing import (
    Case,
    Choice,
    agreed_by_most,
    fewest_findings,
    lowest_dup_ratio,
)
from modularsql.guard.counting import exact
from modularsql.guard.grain import Seen
from modularsql.guard.judging import grain_judge, is_usable, judge, regenerate
from modularsql.guard.offers import offered
from modularsql.guard.policy import ChooserName
from modularsql.guard.probe import OUTVOTED, of_rows, trigger_of
from modularsql.guard.state import State
from modularsql.ports import Model
from modularsql.records import Finding, Repair, Rescue, RescueOutcome, Safety
from modularsql.sql.outermost import select_place
from modularsql.sql.statement import Statement, read_statement

RULES: dict[ChooserName, Callable[[Case], Choice]] = {
    "lowest_dup_ratio": lowest_dup_ratio,
    "fewest_findings": fewest_findings,
    "majority": agreed_by_most,
}
JUDGES: dict[ChooserName, Callable[[Case, Model], Choice]] = {
    "judge": judge,
    "grain_judge": grain_judge,
}
_INSTEAD: dict[ChooserName, ChooserName] = {"grain_judge": "fewest_findings"}
"""What decides where a policy's judge has no model to ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """What is to replace the base."""

    tried: Tried
    choice: Choice
    by: str


def rescue(state: State) -> State:
    """Rescue the query as it stands."""
    now = state.now or state.probe
    return _rescued(state, state, trigger_of(now, state.failure))


def rescue_raw(state: State) -> State:
    """Rescue the query as it was probed; the pick replaces what the patches made of it.

    The order of the authors' code for the paper's v1.
    """
    if state.raw is None:
        return state
    return _rescued(state, state.raw, trigger_of(state.raw.probe, state.raw.failure))


def rescue_patched(state: State) -> State:
    """Rescue where the raw query was flagged; the judge sees the patched one (v1 in the text)."""
    if state.raw is None:
        return state
    return _rescued(state, state, trigger_of(state.raw.probe, state.raw.failure))


def outvote(state: State) -> State:
    """Let a majority of the candidates answer findings of a healthy query that nothing repairs.

    No model is asked: it is the findings, not the probe, that speak against the query.
    """
    base = current(state)
    if base is None or base.rows is None or state.rescue is not None or not state.candidates:
        return state
    loud = [finding for finding in state.findings if finding.severity in LOUD]
    offers = (repair for finding in loud for repair in finding.repairs)
    repaired = state.applied or any(offer.safety != Safety.SUGGESTED for offer in offers)
    if not base.healthy or base.rows.truncated or not loud or repaired:
        return state  # of a result that was cut off nobody knows whether another agrees with it
    return _replaced(state, base, OUTVOTED, "majority")


def probe_again(state: State) -> State:
    """Take what the patches made for the query from here on, and probe it."""
    if not state.applied or state.rows is None:
        return state
    sql = state.final_sql
    fresh = read_statement(sql, state.session.engine.dialect, state.settings.max_parse_chars)
    if not isinstance(fresh, Statement):
        return state
    counts = state.session.counts(fresh.text, state.rows)
    probed = of_rows(state.rows, counts, state.policy.tau_inject)
    return state._replace(statement=fresh, counts=exact(counts), now=probed)


def current(state: State) -> Tried | None:
    """The query as it stands, with what is known of it; None where it was not run."""
    if state.probe is None:
        return None
    rows, counts = state.rows, state.counts
    tau = state.policy.tau_inject
    return Tried(
        sql=state.final_sql,
        statement=state.statement if isinstance(state.statement, Statement) else None,
        rows=rows,
        failure=state.failure,
        counts=counts,
        probe=state.probe if rows is None else of_rows(rows, counts, tau),
        seen=state.seen or Seen(),
    )


def _rescued(state: State, shown: State, trigger: str | None) -> State:
    """Rescue what the probe flagged, where the policy has a chooser and it has what it needs.

    `shown` is what a candidate competes with.
    """
    by = state.policy.order.choose
    if trigger is None or by is None or not _is_heard(state, trigger):
        return state
    base = current(shown)
    if base is None:
        return state
    by = _INSTEAD.get(by, by) if state.model is None else by
    if (missing := _missing(by, state)) is not None:
        silent = not state.candidates and state.model is None and state.policy.grain
        return state if silent else _noted(state, f"the rescue was skipped: {missing}")
    return _replaced(state, base, trigger, by)


def _replaced(state: State, base: Tried, trigger: str, by: ChooserName) -> State:
    """Try the candidates, choose one, and take or offer it."""
    trial = _trial(state)
    case = Case(
        base=base,
        pool=trial.all(state.candidates) if by != "regenerate" else (),
        trigger=trigger,
        catalog=state.session.catalog(),
        question=state.asked,
        hint=state.hint,
        values=state.settings.show_values == "yes",
        allowed=state.allowed,
        readings=_readings(state) if by == "grain_judge" else (),
    )
    try:
        pick = _new_query(case, state, trial) if by == "regenerate" else _picked(case, by, state)
    except (ModelError, SetupError) as error:
        pick = Pick(tried=base, choice=Choice(index=None, outcome="no_reply"), by=by)
        state = _noted(state, f"the rescue came to nothing: {error}")
    # Models and previews took time that belongs to them, not to the repairs that follow.
    state = state._replace(session=state.session.resumed(), rescue=_record(case, pick, by))
    return state if pick.choice.outcome != "chosen" else _taken(state, pick)


def _is_heard(state: State, trigger: str) -> bool:
    """Whether the finding behind a trigger was not silenced, nor found to be no fault."""
    if trigger == "exec_error":
        return True
    rule = say.DUPLICATE_ROWS if trigger == "cartesian_explosion" else say.EMPTY
    heard = [finding for finding in state.findings if finding.rule == rule]
    if rule == say.DUPLICATE_ROWS and state.policy.grain:
        return any(finding.severity in LOUD for finding in heard)
    return bool(heard)


def _missing(by: ChooserName, state: State) -> str | None:
    if by != "regenerate" and not state.candidates:
        return f"there are no candidates ({state.candidates_from})"
    if by not in RULES and state.model is None:
        return "there is no model to ask (--model)"
    return None


def _trial(state: State) -> Trial:
    return Trial(
        engine=state.session.engine,
        params=state.session.params,
        limits=state.session.limits,
        policy=state.policy,
        max_parse_chars=state.settings.max_parse_chars,
    )


def _picked(case: Case, by: ChooserName, state: State) -> Pick:
    if by in RULES:
        choice = RULES[by](case)
    else:
        assert state.model is not None
        choice = JUDGES[by](case, state.model)
    if choice.index is None:
        return Pick(tried=case.base, choice=choice, by=by)
    tried = case.pool[choice.index]
    if tried.same() == case.base.same():
        choice = replace(choice, outcome="kept")
    elif tried.rows is None:  # also a judge cannot choose what does not run
        choice = replace(choice, outcome="unusable_pick")
    return Pick(tried=tried, choice=choice, by=by)


def _new_query(case: Case, state: State, trial: Trial) -> Pick:
    assert state.model is not None
    sql = regenerate(case, state.model)
    if sql is None:
        return Pick(tried=case.base, choice=Choice(index=None, outcome="declined"), by="regenerate")
    tried = trial.one(sql, state.session.limits)
    outcome: RescueOutcome = "chosen" if is_usable(tried) else "unusable_pick"
    return Pick(tried=tried, choice=Choice(index=None, outcome=outcome), by="regenerate")


def _readings(state: State) -> tuple[tuple[str, Tried], ...]:
    """What the repairs on offer would return: the other readings of the query."""
    return tuple(
        (
            offer.name,
            Tried(
                sql=offer.sql,
                rows=result.rows,
                counts=result.counts,
                probe=of_rows(result.rows, result.counts, state.policy.tau_inject),
            ),
        )
        for offer in offered(state)
        if (result := offer.result) is not None
    )


def _record(case: Case, pick: Pick, by: str) -> Rescue:
    return Rescue(
        trigger=case.trigger,
        by=by,
        candidates=len(case.pool),
        healthy=sum(tried.healthy for tried in case.pool),
        chosen=pick.choice.index,
        outcome=pick.choice.outcome,
        reason=pick.choice.reason,
    )


def _noted(state: State, words: str) -> State:
    return state._replace(notes=(*state.notes, words))


def _taken(state: State, pick: Pick) -> State:
    """The pick beside the findings that it answers; in place of the query where asked to fix."""
    tried = pick.tried
    assert tried.statement is not None
    sql = tried.statement.with_text(tried.statement.text)
    repair = Repair(name="rescue", safety=Safety.MEASURED, sql=sql)
    answered = tuple(
        replace(finding, repairs=(*finding.repairs, repair))
        if finding.severity in LOUD or finding.rule == say.EMPTY
        else finding
        for finding in state.findings
    )
    state = state._replace(findings=answered)
    if not state.fix:
        return state
    about_rows = (say.TRUNCATED, say.UNPARSED)
    state = state._replace(
        statement=tried.statement,
        rows=tried.rows,
        failure=None,
        counts=tried.counts,
        now=tried.probe,
        seen=tried.seen if state.policy.grain else state.seen,
        final_sql=sql,
        applied=(*state.applied, "rescue"),
        findings=tuple(f for f in state.findings if f.rule not in about_rows),
    )
    return state.note(*_said_of(tried, state))


def _said_of(tried: Tried, state: State) -> list[Finding]:
    """The findings of the query that was picked."""
    assert tried.statement is not None
    assert tried.rows is not None
    place = tried.statement.place(select_place(tried.statement))
    found = [one.finding for one in tried.seen.issues]
    if tried.probe.status == "empty":
        found.append(say.empty(place))
    if tried.probe.status == "duplicates" and tried.counts is not None:
        counts = tried.counts
        found.append(say.duplicates(counts.rows, counts.distinct, state.policy, place))
    if tried.rows.truncated:
        found.append(say.truncated(len(tried.rows.rows), tried.probe.rows, state.session.limits))
    return found
