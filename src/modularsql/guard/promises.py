"""Whether a rewrite kept its promise on this data: it is run, and compared with what was before.

The SELECT that was rewritten is what is compared. One inside the statement is run by itself,
before and after; where that is not possible the rewrite is only suggested.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from modularsql.guard.counting import exact
from modularsql.guard.factor import Measured
from modularsql.guard.patches import Result, Untried, rerun
from modularsql.guard.session import COUNTING, Session, why_not
from modularsql.multiplicity.aggregates import within
from modularsql.multiplicity.bound import written_out
from modularsql.multiplicity.evidence import AtGrain, at_grain
from modularsql.multiplicity.measure import bare
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.rewrites.edits import Edit, Promise
from modularsql.multiplicity.words import names, text
from modularsql.ports import Outcome
from modularsql.records import Evidence
from modularsql.rows import Row, Rows, comparable, distinct_rows
from modularsql.rows.tolerance import Tolerance, equal_within
from modularsql.sql.outermost import Declined, outermost
from modularsql.sql.parse import follow, parse_text, path
from modularsql.sql.statement import Statement

_SAME_NAMES = (Promise.ROWS, Promise.SET, Promise.MORE)
_UNCHECKED = "the rewritten part depends on what is around it, so it could not be checked by itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The statement's new result, and why it may still not be what was promised (else empty).

    No result where it was not run to its end: that is a doubt too.
    """

    result: Result | None
    doubt: str = ""


def check(
    edit: Edit, one: Measured, statement: Statement, now: Result, session: Session
) -> Checked | Declined:
    """Run a rewritten statement; declined where it does not keep what the edit promises."""
    block = one.issue.block
    is_whole = outermost(statement.tree) is block.select
    after = rerun(edit.text, now, session, not is_whole or _keeps_names(edit, block))
    if isinstance(after, Untried):
        return Checked(result=None, doubt=after.reason)
    if isinstance(after, Declined) or after.rows.truncated or now.rows.truncated:
        return after if isinstance(after, Declined) else Checked(result=after)
    tree = parse_text(edit.text, session.engine.dialect)
    select = follow(tree, path(block.select))
    sides = (now, after) if is_whole else _alone(block, select, session)
    if sides is None or not isinstance(select, exp.Select):
        return Checked(result=after, doubt=_UNCHECKED)
    doubt = ""
    if _moves_sources(edit, one):
        seen = _rows_seen(select, session)
        if (why := why_not(seen)) and edit.evidence != Evidence.ENFORCED:
            doubt = f"the rows that it reads were not counted: {why}"
        elif not why and (not isinstance(seen, Rows) or seen.rows[0][0] != one.distinct):
            return Declined(reason="the rewritten query read other rows")
    problem = _PROMISES[edit.promise](block, *sides, session)
    if not problem and (wanted := _wanted(edit, one, sides[1])) is not None:
        found = session.probe(written_out(wanted.select, session.engine.dialect), times=COUNTING)
        if (why := why_not(found)) and edit.evidence != Evidence.ENFORCED:
            doubt = doubt or f"its value was not measured: {why}"
        problem = _other_value(one, wanted, found, sides[1])
    return Declined(reason=problem) if problem else Checked(result=after, doubt=doubt)


def _keeps_names(edit: Edit, block: Block) -> bool:
    """A column without a name is called by its expression, which was changed for an aggregate."""
    if edit.promise == Promise.MORE and block.is_aggregate:
        return False
    return edit.promise in _SAME_NAMES


def _moves_sources(edit: Edit, one: Measured) -> bool:
    """Whether FROM and WHERE let through each row of the measured entity once afterwards."""
    return edit.once and one.distinct is not None


def _alone(block: Block, select: exp.Expr | None, session: Session) -> tuple[Result, Result] | None:
    """A SELECT inside the statement before and after, each run by itself."""
    if block.correlated or not isinstance(select, exp.Select):
        return None
    before, after = (_result(one, session) for one in (block.select, select))
    if before is None or after is None or before.rows.truncated or after.rows.truncated:
        return None
    return before, after


def _result(select: exp.Select, session: Session) -> Result | None:
    sql = _with_ctes(select, select.copy()).sql(dialect=session.engine.dialect, comments=False)
    outcome = session.attempt(sql)
    counts = exact(session.counts(sql, outcome)) if isinstance(outcome, Rows) else None
    if not isinstance(outcome, Rows) or counts is None:
        return None
    return Result(sql=sql, rows=outcome, counts=counts)


def _with_ctes(select: exp.Select, copy: exp.Select) -> exp.Select:
    """A copy of a SELECT with the CTEs that it sees where it stands."""
    node: exp.Expr | None = select.parent
    while node is not None and copy.args.get("with_") is None:
        clause = node.args.get("with_")
        if isinstance(clause, exp.With):
            copy.set("with_", clause.copy())
        node = node.parent
    return copy


def _wanted(edit: Edit, one: Measured, after: Result) -> AtGrain | None:
    """What a repaired aggregate must be, where that can be asked for."""
    issue = one.issue
    if edit.promise not in (Promise.SET, Promise.GROUPS) or not issue.multipliers:
        return None
    if len(after.rows.columns) != len(issue.block.outputs):
        return None
    return at_grain(issue, _with_ctes(issue.block.select, exp.Select()).args.get("with_"))


def _other_value(one: Measured, wanted: AtGrain, found: Outcome, after: Result) -> str:
    """Whether an aggregate is not what it is with each row of the measured entity once."""
    if not isinstance(found, Rows) or found.truncated:
        return ""
    got = [tuple(row[at] for at in wanted.outputs) for row in after.rows.rows]
    near = [_ROUNDED] * len(wanted.outputs)
    if equal_within(comparable(found.rows), comparable(got), near) is not False:
        return ""
    entity, shown = names(one.issue.entity), text(one.issue.node)
    return f"{shown} would not be what it is with each row of {entity} once"


_ROUNDED = Tolerance(relative=1e-9, absolute=1e-9)
"""Sums of numbers with a point depend a little on the order of their rows."""


def _rows_seen(select: exp.Select, session: Session) -> Outcome:
    """How many rows FROM and WHERE of a SELECT let through."""
    count = _with_ctes(select, bare(select, [exp.Count(this=exp.Star())]))
    return session.attempt(count.sql(dialect=session.engine.dialect))


def _same_rows(block: Block, before: Result, after: Result, session: Session) -> str:
    if before.counts.rows != after.counts.rows:
        return "the rewritten query returned another number of rows"
    return _same_set(block, before, after, session)


def _same_set(block: Block, before: Result, after: Result, session: Session) -> str:
    if block.is_aggregate:
        return _same_groups(block, before, after, session)
    if not session.compares_bytes(after.sql, after.rows):
        return ""
    same = distinct_rows(before.rows.rows) == distinct_rows(after.rows.rows)
    return "" if same else "the rewritten query returned another set of rows"


def _same_groups(block: Block, before: Result, after: Result, session: Session) -> str:
    if len(after.rows.rows) != len(before.rows.rows):
        return "the rewritten query returned another number of groups"
    sides = [distinct_rows(_kept(block, result)) for result in (before, after)]
    return "" if sides[0] == sides[1] else "the rewritten query returned other groups"


def _no_less(block: Block, before: Result, after: Result, session: Session) -> str:
    if len(after.rows.rows) < len(before.rows.rows):
        return "the rewritten query returned fewer rows"
    sides = [distinct_rows(_kept(block, result)) for result in (before, after)]
    return "" if sides[0] <= sides[1] else "the rewritten query lost rows"


def _same_keys(block: Block, before: Result, after: Result, session: Session) -> str:
    settled = block.rows.closure(within(block))
    at = [i for i, output in enumerate(block.outputs) if output.attribute & settled]
    sides = [{tuple(row[i] for i in at) for row in side.rows.rows} for side in (before, after)]
    return "" if sides[0] == sides[1] else "the rewritten query returned other groups"


def _kept(block: Block, result: Result) -> list[Row]:
    """The columns that no aggregate supplies."""
    if len(block.outputs) != len(result.rows.columns):
        return result.rows.rows if not block.is_aggregate else []
    aggregated = {id(aggregate.node) for aggregate in block.aggregates}
    kept = [
        i
        for i, output in enumerate(block.outputs)
        if not any(id(part) in aggregated for part in output.expression.walk())
    ]
    return [tuple(row[i] for i in kept) for row in result.rows.rows]


def _anything(block: Block, before: Result, after: Result, session: Session) -> str:
    return ""


_PROMISES: dict[Promise, Callable[[Block, Result, Result, Session], str]] = {
    Promise.ROWS: _same_rows,
    Promise.SET: _same_set,
    Promise.GROUPS: _same_groups,
    Promise.MORE: _no_less,
    Promise.KEYS: _same_keys,
    Promise.ANSWER: _anything,
}
"""Why a promise does not hold, as the end of a sentence; empty where it does."""
