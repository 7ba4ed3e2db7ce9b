"""Repairs under policy `grain`: rewrites of findings, each run and compared, one at a time.

A rewrite is applied when its check held and nothing speaks for the copies it would drop
(`multiplicity/intent.py`); else it is offered, and the answer says what speaks against it. After
one was applied the statement is looked at again, so that what it settled is not repaired twice.
"""

from dataclasses import replace

from modularsql.guard import findings as say
from modularsql.guard.grain import Seen, look
from modularsql.guard.offers import Offer, offers_of, unrun
from modularsql.guard.patches import Result
from modularsql.guard.probe import is_repetitive
from modularsql.guard.state import State
from modularsql.records import Finding, Repair
from modularsql.sql.statement import Statement, read_statement

_MOST_ROUNDS = 4


def mend(state: State) -> State:
    """The stage: offer what can be repaired, and apply it where asked to fix."""
    statement = state.statement
    if state.rows is None or not isinstance(statement, Statement):
        return state
    if state.counts is None:
        return _uncompared(state, statement)
    now = Result(sql=statement.text, rows=state.rows, counts=state.counts)
    seen = state.seen or Seen()
    for _ in range(_MOST_ROUNDS):
        offers, notes = offers_of(state, statement, now, seen)
        state = state._replace(
            notes=tuple(dict.fromkeys((*state.notes, *notes))),
            signs=tuple(dict.fromkeys((*state.signs, *(d.sign for o in offers for d in o.signs)))),
        )
        chosen = next((offer for offer in offers if not offer.doubts), None)
        for offer in offers:
            if not (state.fix and chosen is not None) or offer is chosen:
                state = _attach(state, statement, offer)
        if not state.fix or chosen is None or not _is_heard(state, chosen):
            break
        assert chosen.result is not None, "what was not run is doubted"
        now = chosen.result
        text = statement.with_text(now.sql)
        state = _applied(state, text, now, chosen)
        fresh = read_statement(text, state.session.engine.dialect, state.settings.max_parse_chars)
        if not isinstance(fresh, Statement):
            break
        statement, seen = fresh, look(fresh, state.session)
        # What the first fault hid comes to light: a join that was missing may repeat rows.
        new = [one.finding for one in seen.issues if not state.found(one.issue.rule)]
        state = state.note(*new)
    return _settled(state, now, seen) if state.applied else state


def _uncompared(state: State, statement: Statement) -> State:
    """Repairs where the result was not counted: nothing to compare theirs with, so none is run."""
    for one in (state.seen or Seen()).issues:
        if one.borne_out and state.found(one.issue.rule):
            offer = next(unrun(one, statement, state.session.engine.dialect), None)
            state = state if offer is None else _attach(state, statement, offer)
    return state


def _is_heard(state: State, offer: Offer) -> bool:
    """Whether the finding that an offer answers was not silenced by the user."""
    return state.found(offer.rule)


def _attach(state: State, statement: Statement, offer: Offer) -> State:
    """The repair beside the finding that it answers, with what speaks against it."""
    if offer.finding is not None and not state.found(offer.rule):
        state = state.note(offer.finding)
    repair = Repair(name=offer.name, safety=offer.safety, sql=statement.with_text(offer.sql))
    findings = tuple(
        _with(finding, repair, offer.doubts)
        if finding.rule == offer.rule and repair.name not in {r.name for r in finding.repairs}
        else finding
        for finding in state.findings
    )
    return state._replace(findings=findings)


def _with(finding: Finding, repair: Repair, doubts: tuple[str, ...]) -> Finding:
    words = f" The repair is only suggested: {'; '.join(doubts)}." if doubts else ""
    if words in finding.message:
        words = ""  # the other reading has the same said of it
    return replace(finding, message=finding.message + words, repairs=(*finding.repairs, repair))


def _settled(state: State, now: Result, seen: Seen) -> State:
    """Findings that the applied repairs settled along the way carry the last of them."""
    last = next(r for f in reversed(state.findings) for r in f.repairs if r.name in state.applied)
    done = replace(last, sql=state.final_sql)
    open_ = seen.rules()
    if is_repetitive(now.counts, state.policy.tau_inject):
        open_.add(say.DUPLICATE_ROWS)
    ours = {one.issue.rule for one in (state.seen or Seen()).issues}
    ours |= {say.DUPLICATE_ROWS, say.ROW_EXPLOSION}
    if any(_still_explodes(finding, now, state) for finding in state.findings):
        open_.add(say.ROW_EXPLOSION)
    findings = tuple(
        replace(finding, repairs=(done,))
        if finding.rule in ours and finding.rule not in open_ and not finding.repairs
        else finding
        for finding in state.findings
    )
    return state._replace(findings=findings)


def _still_explodes(finding: Finding, now: Result, state: State) -> bool:
    if finding.rule != say.ROW_EXPLOSION:
        return False
    most = float(finding.measured["rows_before"]) * state.settings.explosion_factor
    return now.counts.rows >= most


def _applied(state: State, sql: str, now: Result, offer: Offer) -> State:
    """After a repair; what was said of rows cut off was about the rows before."""
    unheeded = [doubt for doubt in offer.signs if doubt.sign in state.policy.unheeded]
    told = (f"policy {state.policy.name} repairs although {d.reason}" for d in unheeded)
    state = state._replace(
        final_sql=sql,
        rows=now.rows,
        applied=(*state.applied, offer.name),
        unheeded=tuple(dict.fromkeys((*state.unheeded, *(d.sign for d in unheeded)))),
        notes=tuple(dict.fromkeys((*state.notes, *told))),
        findings=tuple(f for f in state.findings if f.rule != say.TRUNCATED),
    )
    if not now.rows.truncated:
        return state
    return state.note(say.truncated(len(now.rows.rows), now.counts.rows, state.session.limits))
