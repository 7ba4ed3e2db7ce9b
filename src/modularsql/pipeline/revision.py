"""S6, revision: a chain of checkers over each candidate; the model is called where one fires.

Syntax first, then logic, then quality (paper, table 2); one pass. A revision is run, and kept only
if it is no worse: what ran must run on, and rows must not become none.
"""

from dataclasses import replace

from modularsql.asking.prompts import as_data
from modularsql.errors import ModelError
from modularsql.pipeline.checkers import CHECKERS
from modularsql.pipeline.checkers.base import Case, Checker
from modularsql.pipeline.context import asked
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.prompting import filled
from modularsql.pipeline.replies import read_sql
from modularsql.pipeline.same_sql import same_sql
from modularsql.pipeline.state import Candidate, Change, State
from modularsql.ports import Outcome
from modularsql.records import Failure
from modularsql.rows import Rows


def revise(state: State, deps: Deps) -> State:
    """Every candidate run, checked and, where a checker fired, revised; equal ones put together."""
    revised = deps.each(lambda candidate: _through(candidate, state, deps), state.candidates)
    changes = [change for candidate in revised for change in candidate.changes]
    kept = sum(change.kept for change in changes)
    pool = _merged(revised, deps)
    said = f"{len(changes)} revisions asked for, {kept} kept; {len(pool)} candidates"
    return replace(state, candidates=pool, decisions=(said,))


def _through(candidate: Candidate, state: State, deps: Deps) -> Candidate:
    candidate = replace(candidate, outcome=run(candidate.sql, deps))
    if not deps.has("revision"):
        return candidate
    for checker in CHECKERS:
        if not deps.has(f"revision.{checker.name}"):
            continue
        if checker.profile and checker.profile != deps.settings.profile:
            continue
        assert candidate.outcome is not None
        case = Case(
            sql=candidate.sql,
            outcome=candidate.outcome,
            catalog=deps.catalog,
            engine=deps.engine,
            limits=deps.settings.limits(),
            question=state.question,
            values=deps.settings.show_values == "yes",
        )
        directive = checker.check(case)
        if directive is not None:
            candidate = _revised(candidate, checker, directive, state, deps)
    return candidate


def run(sql: str, deps: Deps) -> Outcome:
    """A candidate's rows, within the limits of one query."""
    return deps.engine.execute(sql, limits=deps.settings.limits())


def _revised(
    candidate: Candidate, checker: Checker, directive: str, state: State, deps: Deps
) -> Candidate:
    prompt = filled(
        "revise",
        **asked(state, deps, state.schema),
        sql=as_data(candidate.sql, 20_000),
        directive=as_data(directive, 1500),
    )
    try:
        reply = deps.ask(prompt, f"revision.{checker.name}")
    except ModelError as error:
        return _noted(candidate, checker, directive, "", f"the model failed: {error.message}")
    sql = read_sql(reply, deps.catalog.dialect)
    if sql is None:
        return _noted(candidate, checker, directive, "", "the reply held no query")
    if same_sql(sql, deps.catalog.dialect) == same_sql(candidate.sql, deps.catalog.dialect):
        return _noted(candidate, checker, directive, sql, "the model left it as it is")
    outcome = run(sql, deps)
    assert candidate.outcome is not None
    worse = is_worse(outcome, candidate.outcome)
    if worse is not None:
        return _noted(candidate, checker, directive, sql, worse)
    noted = _noted(candidate, checker, directive, sql, "")
    return replace(noted, sql=sql, outcome=outcome)


def _noted(candidate: Candidate, checker: Checker, directive: str, sql: str, why: str) -> Candidate:
    """The candidate as it is, with what was tried; `why` it was left, "" where it was not."""
    change = Change(
        checker=checker.name,
        directive=directive,
        before=candidate.sql,
        sql=sql,
        kept=not why,
        why=why,
    )
    return replace(candidate, changes=(*candidate.changes, change))


def is_worse(after: Outcome, before: Outcome) -> str | None:
    """Why a revision's result is worse than what was there; None where it is not."""
    if isinstance(after, Failure):
        return f"it does not run: {after.message}"
    if isinstance(before, Rows) and before.rows and not after.rows:
        return "it returns no rows, the query before it did"
    return None


def _merged(candidates: list[Candidate], deps: Deps) -> tuple[Candidate, ...]:
    """Candidates that a revision made equal become one."""
    found: dict[str, Candidate] = {}
    for candidate in candidates:
        key = same_sql(candidate.sql, deps.catalog.dialect)
        known = found.get(key)
        found[key] = (
            candidate
            if known is None
            else replace(
                known,
                votes=known.votes + candidate.votes,
                generators=tuple(dict.fromkeys((*known.generators, *candidate.generators))),
                changes=(*known.changes, *candidate.changes),
            )
        )
    return tuple(found.values())
