"""What can be done about findings under policy `grain`, and what speaks against it.

Each rewrite is run and compared (`promises.py`); the signs of intent, the data and the size of the
fault then say whether it is applied or only offered (`multiplicity/intent.py`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from modularsql.guard import findings as say
from modularsql.guard.factor import Measured
from modularsql.guard.grain import Seen, look
from modularsql.guard.patches import Patched, Result, remove_distinct_patch, rerun
from modularsql.guard.promises import check
from modularsql.guard.session import Session
from modularsql.guard.state import State
from modularsql.multiplicity.intent import (
    WROTE_DISTINCT,
    Doubt,
    against,
    asks_for_distinct,
    may_count_rows,
    may_look_up,
    shows_name,
)
from modularsql.multiplicity.question import asks_for_different, asks_of_each
from modularsql.multiplicity.readings import settled
from modularsql.multiplicity.rewrites import REWRITES, rewritten
from modularsql.multiplicity.rewrites.edits import Edit, Promise
from modularsql.multiplicity.rewrites.semi_join import semi_join
from modularsql.records import Evidence, Finding, Safety, Severity
from modularsql.rows import distinct_rows
from modularsql.sql.outermost import Declined, add_distinct, remove_distinct, select_place
from modularsql.sql.statement import Statement, read_statement

_UNCOUNTED = "it was not run, since the result was not counted that it is compared with"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A rewrite that held its check: its result, the rule it answers, and what speaks against.

    One that was not run to its end has no result, and that speaks against it. `signs` are those of
    intent that do, the ones that the policy passes over among them.
    """

    name: str
    rule: str
    sql: str
    result: Result | None
    doubts: tuple[str, ...] = ()
    signs: tuple[Doubt, ...] = ()
    evidence: Evidence = Evidence.OBSERVED
    finding: Finding | None = None

    @property
    def safety(self) -> Safety:
        """`proven` where the promise follows from what the engine enforces; open readings first."""
        if self.doubts:
            return Safety.SUGGESTED
        return Safety.PROVEN if self.evidence == Evidence.ENFORCED else Safety.MEASURED


def offered(state: State) -> list[Offer]:
    """What repairs of the query as it stands would return; none where it gave no rows."""
    statement = state.statement
    if state.rows is None or state.counts is None or not isinstance(statement, Statement):
        return []
    now = Result(sql=statement.text, rows=state.rows, counts=state.counts)
    return offers_of(state, statement, now, state.seen or Seen())[0]


def offers_of(
    state: State, statement: Statement, now: Result, seen: Seen
) -> tuple[list[Offer], list[str]]:
    """What can be done about each finding, in the order of preference, and why not more."""
    offers: list[Offer] = []
    notes: list[str] = []
    block = seen.query.block if seen.query is not None else None
    asked = asks_for_distinct(block, state.question) if block is not None else None
    if asked is not None and now.counts.rows > now.counts.distinct:
        offers += _asked(asked, statement, now, state.session)
    for one in seen.issues:
        if not state.found(one.issue.rule):
            continue  # the user allowed it
        offers += _rewritten(one, statement, now, state, notes)
    if asked is None:
        masked = "masked_fan_out" in _borne_out(seen)
        offers += (
            _unmasked(statement, now, state) if masked else _undistinct(statement, now, state, seen)
        )
    return offers, notes


def _borne_out(seen: Seen) -> set[str]:
    return {one.issue.rule for one in seen.issues if one.borne_out}


def _asked(why: str, statement: Statement, now: Result, session: Session) -> list[Offer]:
    """DISTINCT, where the question asks for each value once."""
    edited = add_distinct(statement, session.engine.dialect)
    after = edited if isinstance(edited, Declined) else rerun(edited, now, session)
    if isinstance(after, Declined) or after.counts.rows != now.counts.distinct:
        return []
    place = statement.place(select_place(statement))
    finding = say.repeated_values(now.counts.rows, now.counts.distinct, why, place)
    return [
        Offer(
            name="inject_distinct",
            rule=finding.rule,
            sql=after.sql,
            result=after,
            finding=finding,
        )
    ]


def _undistinct(statement: Statement, now: Result, state: State, seen: Seen) -> list[Offer]:
    """The paper's P2, where no join repeats rows that DISTINCT would have to drop.

    What it dropped are then different things: a fault where they go by their names, and else
    perhaps what was asked for.
    """
    patched = remove_distinct_patch(statement, now, state.policy, state.session)
    if not isinstance(patched, Patched) or patched.finding is None:
        return []
    named = seen.query is not None and seen.query.block is not None and shows_name(seen.query.block)
    finding = replace(patched.finding, severity=Severity.WARNING) if named else patched.finding
    said = "somebody wrote DISTINCT, and the different values may be all that is asked for"
    signs = () if named else (Doubt(WROTE_DISTINCT, said),)
    return [
        Offer(
            name=patched.name,
            rule=finding.rule,
            sql=patched.result.sql,
            result=patched.result,
            doubts=_heard(signs, state),
            signs=signs,
            finding=finding,
        )
    ]


def _unmasked(statement: Statement, now: Result, state: State) -> list[Offer]:
    """One row for each thing, where DISTINCT hides copies and melts things of one name."""
    if not state.found("entity_merge"):
        return []
    dialect = state.session.engine.dialect
    bare = remove_distinct(statement, dialect)
    if isinstance(bare, Declined):
        return []
    inner = read_statement(bare, dialect, state.settings.max_parse_chars)
    if not isinstance(inner, Statement):
        return []
    repeated = next((i for i in look(inner, state.session).issues if i.borne_out), None)
    edit = semi_join(inner, repeated.issue, dialect) if repeated else Declined(reason="")
    after = edit if isinstance(edit, Declined) else rerun(edit.text, now, state.session)
    if repeated is None or isinstance(after, Declined) or after.counts.distinct != now.counts.rows:
        return []
    if after.counts.rows == now.counts.rows:
        return []
    said = "somebody wrote DISTINCT, and equal names may be meant to be one"
    asked, entity = state.question, repeated.issue.entity
    # "one row per club"
    each = asked is not None and any(asks_of_each(asked, n) for s in entity for n in s.called)
    signs = () if each else (Doubt(WROTE_DISTINCT, said),)
    return [
        Offer(
            name="semi_join",
            rule="entity_merge",
            sql=after.sql,
            result=after,
            doubts=_heard(signs, state),
            signs=signs,
        )
    ]


def _heard(signs: Sequence[Doubt], state: State) -> tuple[str, ...]:
    """What those signs say that the policy heeds."""
    return tuple(one.reason for one in signs if one.sign not in state.policy.unheeded)


def _rewritten(
    one: Measured, statement: Statement, now: Result, state: State, notes: list[str]
) -> list[Offer]:
    """The first rewrite of an issue that holds its check; before it those that are a reading."""
    offers: list[Offer] = []
    for rewrite in REWRITES:
        name = rewrite.__name__
        if name not in one.issue.rewrites:
            continue
        edit = rewritten(rewrite, statement, one.issue, state.session.engine.dialect)
        done = (
            edit if isinstance(edit, Declined) else check(edit, one, statement, now, state.session)
        )
        if isinstance(done, Declined):
            notes.append(f"{name} was not applied: {done.reason}")
        if isinstance(edit, Declined) or isinstance(done, Declined):
            continue
        if one.finding.severity == Severity.INFO and _is_idle(edit, now, done.result):
            continue  # nothing was wrong on this data, and nothing would change
        if edit.doubt and settled(name, one.issue, state.question):
            # What a question says is likely, no more.
            edit = replace(edit, doubt="", evidence=Evidence.OBSERVED)
        doubts = tuple(doubt for doubt in (edit.doubt, done.doubt) if doubt)
        signs = against(one.issue, state.question) if edit.promise == Promise.SET else ()
        signs += may_count_rows(one.issue, state.question)
        signs += may_look_up(one.issue, state.question)
        doubts += _heard(signs, state)
        doubts += _melted(name, one, done.result) + _rarely(edit, one, state)
        doubts += _by_sample(edit, one)
        offers.append(
            Offer(
                name=name,
                rule=one.issue.rule,
                sql=edit.text,
                result=done.result,
                doubts=doubts,
                signs=signs,
                evidence=edit.evidence,
            )
        )
        if not edit.doubt:
            break
    return offers


def _is_idle(edit: Edit, now: Result, after: Result | None) -> bool:
    """Whether it changed nothing although it was to change something, or is not known to."""
    if after is None:
        return True
    if edit.promise == Promise.ROWS or after.counts != now.counts:
        return False
    return distinct_rows(after.rows.rows) == distinct_rows(now.rows.rows)


def _by_sample(edit: Edit, one: Measured) -> tuple[str, ...]:
    """What follows from enforced keys needs no count; what holds on this data needs all of it."""
    if "sample" not in one.finding.measured or edit.evidence == Evidence.ENFORCED:
        return ()
    return ("only a sample of the data was looked at",)


def _melted(name: str, one: Measured, after: Result | None) -> tuple[str, ...]:
    """DISTINCT takes away more than copies where different things look the same."""
    if (
        after is None
        or name != "inject_distinct"
        or one.distinct is None
        or after.counts.rows >= one.distinct
    ):
        return ()
    lost = one.distinct - after.counts.rows
    return (f"DISTINCT would also drop {lost:,} different things that look the same here",)


def _rarely(edit: Edit, one: Measured, state: State) -> tuple[str, ...]:
    """Where rows hardly repeat, people who checked a list by eye mostly left the copies in it.

    Chosen on Spider's training gold: docs/design/multiplicity.md.
    """
    measured = one.finding.measured
    factor = float(measured.get("factor", 0)) * (1 - measured.get("sample", {}).get("error", 0.0))
    if edit.promise != Promise.SET or one.issue.block.is_aggregate or not factor:
        return ()
    if factor >= state.policy.tau_repeat or asks_for_different(state.question):
        return ()
    return (
        f"rows come back {factor:.3g} times on average, and below {state.policy.tau_repeat:g} "
        "(tau_repeat) the copies in a list may be meant",
    )


def unrun(one: Measured, statement: Statement, dialect: str) -> Iterator[Offer]:
    """The repairs of an issue where none can be run and compared: they are only offered."""
    for rewrite in REWRITES:
        name = rewrite.__name__
        if name not in one.issue.rewrites:
            continue
        edit = rewritten(rewrite, statement, one.issue, dialect)
        if not isinstance(edit, Declined):
            doubts = tuple(filter(None, (edit.doubt, _UNCOUNTED)))
            yield Offer(name=name, rule=one.issue.rule, sql=edit.text, result=None, doubts=doubts)
