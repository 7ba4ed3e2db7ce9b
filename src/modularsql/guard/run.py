"""The guard: one query in, an answer out. `STAGES` is the data flow.

Every stage is a function of a frozen `State`; the runner times it. A stage that has settled the
matter (nothing to run, refused) leaves the rest without work to do, never an exception.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType

from modularsql.asking.meter import Meter
from modularsql.config import Settings
from modularsql.guard import findings as say
from modularsql.guard.analysing import analysed
from modularsql.guard.counting import exact
from modularsql.guard.evidence import explain
from modularsql.guard.foreseen import foresee
from modularsql.guard.mend import mend
from modularsql.guard.naming import notes_on
from modularsql.guard.patches import PATCHES, Patched, Result
from modularsql.guard.policy import PatchName, Policy, StepName
from modularsql.guard.policy_file import choose_policy
from modularsql.guard.probe import EXPLODED, largest_table, of_failure, of_rows
from modularsql.guard.rejecting import rejected_at
from modularsql.guard.rescue import (
    outvote,
    probe_again,
    rescue,
    rescue_patched,
    rescue_raw,
)
from modularsql.guard.session import LONGER, OUT_OF_TIME, Session, why_not
from modularsql.guard.state import State
from modularsql.guard.translating import translate
from modularsql.guard.verdict import verdict
from modularsql.multiplicity.question import read_question
from modularsql.ports import Engine, Model
from modularsql.records import Answer, Cost, Failure, FailureKind, Params, Repair, Safety
from modularsql.rows import Rows
from modularsql.sql.allow import allowances
from modularsql.sql.outermost import Declined, select_place
from modularsql.sql.parse import Unparsed
from modularsql.sql.statement import Many, NoSql, Statement, read_statement

Stage = Callable[[State], State]


def read(state: State) -> State:
    """Find the one statement in the text, and parse it where it can be parsed."""
    statement = read_statement(
        state.sql, state.session.engine.dialect, state.settings.max_parse_chars
    )
    if isinstance(statement, NoSql):
        failure = Failure(kind=FailureKind.ERROR, message=statement.reason)
        state = state._replace(statement=statement, failure=failure, probe=of_failure(failure))
        return state.note(say.no_sql(statement.reason))
    if isinstance(statement, Many):
        finding = say.many_statements(statement.texts)
        failure = Failure(kind=FailureKind.REFUSED, message=finding.message)
        state = state._replace(statement=statement, failure=failure, probe=of_failure(failure))
        return state.note(finding)
    allowed = allowances(statement)
    odd = notes_on((*state.allowed, *(note.rule for note in allowed)))
    state = state._replace(statement=statement, notes_in_sql=allowed, notes=odd)
    if statement.extracted:
        state = state._replace(final_sql=statement.text)
        state = state.note(say.extracted(statement.extracted, statement.place(0)))
    return state


def execute(state: State) -> State:
    """Run the statement once, within the limits."""
    statement = state.statement
    if not isinstance(statement, Statement) or state.failure:
        return state
    if not state.execute:
        return state.note(say.not_executed())
    outcome = state.session.run(statement.text, state.session.params)
    if isinstance(outcome, Rows):
        return state._replace(rows=outcome)
    probed = None if outcome.kind == FailureKind.UNBOUND else of_failure(outcome)
    state = state._replace(failure=outcome, probe=probed)
    finding = say.failed(outcome, state.session.limits)
    if (place := rejected_at(outcome, statement)) is not None:
        finding = replace(finding, line=place[0], column=place[1])
    return state.note(finding)


def probe(state: State) -> State:
    """Look at the rows: empty, duplicates, explosion, cut short."""
    if state.rows is None or not isinstance(state.statement, Statement):
        return state
    rows, statement = state.rows, state.statement
    # The rows at hand may show an explosion already; to count them all may take all the time.
    largest = _outgrown(state, len(rows.rows)) if rows.truncated else None
    counts = state.session.counts(statement.text, rows)
    probed = of_rows(rows, counts, state.policy.tau_inject)
    state = state._replace(counts=exact(counts), probe=probed)
    if isinstance(statement.tree, Unparsed):
        at = statement.place(statement.tree.at)
        state = state.note(say.unparsed(statement.tree, at))
    if rows.truncated:
        state = state.note(say.truncated(len(rows.rows), probed.rows, state.session.limits))
    if isinstance(counts, Failure):
        state = state.note(say.skipped(_why_skipped(counts, state.session), rows))
        return _exploded(state, len(rows.rows), largest, at_least=True)
    if probed.status == "empty":
        return state.note(say.empty(_start(statement)))
    if probed.status == "duplicates":
        seen, place = (counts.rows, counts.distinct), _start(statement)
        state = state.note(say.duplicates(*seen, state.policy, place, error=counts.error))
    return _exploded(state, counts.rows, largest or _outgrown(state, counts.rows))


def _why_skipped(failure: Failure, session: Session) -> str:
    """Why rows were not counted, and what would have them counted."""
    if session.left() <= 0:
        return "the time limit ran out; raise it with --timeout"
    if (why := why_not(failure)) is None:
        return "the database does not take the query as a part of another one"
    return LONGER if why == OUT_OF_TIME else why


def _start(statement: Statement) -> tuple[int, int]:
    """Line and column of the outermost SELECT, which findings about the result point to."""
    return statement.place(select_place(statement))


def _outgrown(state: State, rows: int) -> int | None:
    """The rows of the largest table read, where so many rows out of it are an explosion."""
    settings, statement = state.settings, state.statement
    if rows < settings.explosion_min_rows or not isinstance(statement, Statement):
        return None
    enough = int(rows / settings.explosion_factor) + 1
    largest = largest_table(statement, state.session, enough)
    return largest if largest and rows >= largest * settings.explosion_factor else None


def _exploded(state: State, rows: int, largest: int | None, *, at_least: bool = False) -> State:
    """The state with its explosion told, where there is one; `at_least`: there are more rows."""
    if largest is None or not isinstance(state.statement, Statement):
        return state
    assert state.probe is not None
    probed = replace(state.probe, states=(*state.probe.states, EXPLODED))
    finding = say.explosion(rows, largest, _start(state.statement), at_least=at_least)
    return state._replace(probe=probed).note(finding)


def analyse(state: State) -> State:
    """Look beneath the rows, where the policy says so: which joins repeat whose rows."""
    return analysed(state) if state.policy.grain else state


def patch(state: State) -> State:
    """Try the policy's patches in order; keep one that held its check where asked to fix."""
    state = state._replace(raw=state)
    if state.policy.grain:
        return mend(state)
    statement = state.statement
    if state.rows is None or state.counts is None or not isinstance(statement, Statement):
        return state
    now = Result(sql=statement.text, rows=state.rows, counts=state.counts)
    for name in state.policy.order.patches:
        if not _is_wanted(name, state):
            continue
        outcome = PATCHES[name](statement, now, state.policy, state.session)
        if isinstance(outcome, Declined):
            state = _declined(state, name, outcome)
        elif isinstance(outcome, Patched):
            # A patch's own change gives the next one nothing to do: P2 would take P1 back.
            return _keep(state, statement, outcome)
    return state


def _is_wanted(name: PatchName, state: State) -> bool:
    """P1 answers a finding of the probe: where the user allowed that, its rows are wanted."""
    return name != "inject_distinct" or state.found(say.DUPLICATE_ROWS)


def _declined(state: State, name: str, declined: Declined) -> State:
    return state._replace(notes=(*state.notes, f"{name} was not applied: {declined.reason}"))


def _keep(state: State, statement: Statement, patched: Patched) -> State:
    """Offer a patch with the finding that it answers; apply it where asked to."""
    if patched.finding is not None:
        state = state.note(patched.finding)
    rule = patched.finding.rule if patched.finding else say.DUPLICATE_ROWS
    if not state.found(rule):
        return state  # the user allowed what it would repair
    sql = statement.with_text(patched.result.sql)
    repair = Repair(name=patched.name, safety=Safety.MEASURED, sql=sql)
    findings = tuple(
        replace(finding, repairs=(*finding.repairs, repair)) if finding.rule == rule else finding
        for finding in state.findings
    )
    state = state._replace(findings=findings)
    return _apply(state, sql, patched) if state.fix else state


def _apply(state: State, sql: str, patched: Patched) -> State:
    after = patched.result
    # What was said of rows cut off was about the rows before.
    findings = tuple(finding for finding in state.findings if finding.rule != say.TRUNCATED)
    state = state._replace(
        final_sql=sql,
        rows=after.rows,
        findings=findings,
        applied=(*state.applied, patched.name),
    )
    if not after.rows.truncated:
        return state
    kept = len(after.rows.rows)
    return state.note(say.truncated(kept, after.counts.rows, state.session.limits))


STAGES: tuple[tuple[str, Stage], ...] = (
    ("parse", read),
    ("execute", execute),
    ("execute", translate),
    ("probe", probe),
    ("probe", foresee),
    ("analyse", analyse),
    ("evidence", explain),
)
"""What every query goes through, each stage with the key its time is reported under."""

STEPS: dict[StepName, tuple[str, Stage]] = {
    "rescue": ("rescue", rescue),
    "rescue_raw": ("rescue", rescue_raw),
    "rescue_patched": ("rescue", rescue_patched),
    "patch": ("repair", patch),
    "probe_again": ("probe", probe_again),
    "outvote": ("rescue", outvote),
}
"""What may follow; which of these do, and in which order, is the policy's to say."""


class Guard:
    """Guards queries on one database. Never writes, never raises on bad SQL.

    Holds no state between queries, so threads may share it as far as they may share its engine
    (the engines of this package: yes, one query at a time). As a context manager it closes the
    engine at the end.
    """

    def __init__(
        self,
        engine: Engine,
        policy: str | Policy | None = None,
        settings: Settings | None = None,
        model: Model | None = None,
    ) -> None:
        """`policy` is a name (see `guard.policy`) or a policy; `InputError` if unknown.

        `model` judges candidates where the policy has a judge; the caller closes it.
        """
        self.engine = engine
        self.model = model
        self.settings = settings or Settings()
        chosen = self.settings.policy if policy is None else policy
        self.policy: Policy = (
            chosen if isinstance(chosen, Policy) else choose_policy(chosen, self.settings)
        )

    def run(
        self,
        sql: str,
        *,
        question: str | None = None,
        hint: str = "",
        candidates: Sequence[str] = (),
        candidates_from: str = "--candidates",
        params: Params = None,
        fix: bool = False,
        allow: Sequence[str] = (),
        execute: bool = True,
    ) -> Answer:
        """Guard one query and return its rows with all that was found.

        `question` is what was asked in words: it decides whether copies are wanted. `candidates`
        are other queries for it, of which a rescue may choose; where there are none, a note names
        what they would come from. `hint` is more for a judge to know.
        `params` are values for bound parameters, by name or position. With `fix` a repair that
        held its check is applied, else it is only offered. `allow` names rules to be silent.
        """
        meter = Meter(self.model) if self.model is not None else None
        session = Session(engine=self.engine, params=params, limits=self.settings.limits(), fix=fix)
        state = State(
            sql=sql,
            session=session,
            policy=self.policy,
            settings=self.settings,
            fix=fix,
            execute=execute,
            allowed=tuple(allow),
            final_sql=sql,
            question=read_question(question) if self.policy.grain else None,
            asked=question or "",
            hint=hint,
            candidates=tuple(candidates),
            candidates_from=candidates_from,
            model=meter,
        )
        timing = dict.fromkeys((*(name for name, _ in STAGES), "rescue", "repair"), 0.0)
        for name, stage in (*STAGES, *(STEPS[step] for step in self.policy.order.steps)):
            start = time.perf_counter()
            state = stage(state)
            timing[name] += (time.perf_counter() - start) * 1000
        shown = {name: round(ms, 3) for name, ms in timing.items()}
        return _answer(state, question, shown, meter.cost() if meter else Cost())

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()

    def __enter__(self) -> "Guard":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _answer(state: State, question: str | None, timing: dict[str, float], cost: Cost) -> Answer:
    rows = state.rows
    return Answer(
        sql=state.sql,
        question=question,
        final_sql=state.final_sql,
        verdict=verdict(state.findings, state.applied, state.failure, _unsure(state)),
        dialect=state.session.engine.dialect,
        findings=state.findings,
        applied=state.applied,
        probe=state.probe,
        columns=rows.columns if rows else (),
        rows=rows.rows if rows else (),
        truncated=bool(rows and rows.truncated),
        timing_ms=timing,
        cost=cost,
        rescue=state.rescue,
        failure=state.failure,
        notes=state.notes,
        signs=state.signs,
        unheeded=state.unheeded,
    )


def _unsure(state: State) -> bool:
    statement = state.statement
    unread = isinstance(statement, Statement) and isinstance(statement.tree, Unparsed)
    unknown = state.seen is not None and bool(state.seen.unknown)
    return unread or unknown or state.probe is None
