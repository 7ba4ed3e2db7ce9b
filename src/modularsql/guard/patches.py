"""The paper's two deterministic patches, on the tree, each checked by running it (section 3.2).

P1 `inject_distinct`: DISTINCT on the outermost SELECT when the probe's dup ratio is at least
tau and nothing cuts the rows (LIMIT). The check promises the same set of rows.

P2 `remove_distinct`: without the outermost DISTINCT, under the safeguards of appendix D (no
aggregate, no GROUP BY, strictly more rows) and a dup ratio of at most 0.10 afterwards. Beyond
the paper the check also demands that no row is lost, which LIMIT could do.
"""

from collections.abc import Callable
from dataclasses import dataclass

from modularsql.guard.counting import Counts, exact
from modularsql.guard.findings import distinct_drops
from modularsql.guard.policy import PatchName, Policy
from modularsql.guard.probe import is_repetitive
from modularsql.guard.session import Session, why_not
from modularsql.records import Failure, Finding
from modularsql.rows import Rows, distinct_rows, dup_ratio
from modularsql.sql.aggregates import aggregates
from modularsql.sql.outermost import (
    Declined,
    add_distinct,
    distinct_place,
    has_distinct,
    is_cut,
    outermost,
    remove_distinct,
)
from modularsql.sql.parse import Unparsed
from modularsql.sql.statement import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A query's rows and what was counted of them."""

    sql: str
    rows: Rows
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Untried(Declined):
    """An edit that was not run to its end, since that takes longer than it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patched:
    """A patch that held its check: its result, and the finding it comes with, if a new one."""

    name: str
    result: Result
    finding: Finding | None = None


Patch = Callable[[Statement, Result, Policy, Session], Patched | Declined | None]


def inject_distinct(
    statement: Statement, now: Result, policy: Policy, session: Session
) -> Patched | Declined | None:
    """P1; None where it is not called for."""
    if not is_repetitive(now.counts, policy.tau_inject):
        return None
    edited = add_distinct(statement, session.engine.dialect)
    if isinstance(edited, Declined):
        return edited
    after = rerun(edited, now, session)
    if isinstance(after, Declined):
        return after
    if after.counts.rows != now.counts.distinct or _within(after, now, session) is False:
        return Declined(reason="with DISTINCT it returned another set of rows")
    return Patched(name="inject_distinct", result=after)


def remove_distinct_patch(
    statement: Statement, now: Result, policy: Policy, session: Session
) -> Patched | Declined | None:
    """P2; None where it is not called for, and where a safeguard holds it back."""
    block = outermost(statement.tree)
    if block is None or not has_distinct(block) or not now.counts.rows:
        return None
    if isinstance(statement.tree, Unparsed) or aggregates(statement.tree):
        return None
    edited = remove_distinct(statement, session.engine.dialect)
    if isinstance(edited, Declined):
        return edited
    after = rerun(edited, now, session)
    if isinstance(after, Declined):
        return after
    ratio = dup_ratio(after.counts.rows, after.counts.distinct)
    if after.counts.rows <= now.counts.rows or ratio > policy.tau_remove:
        return None
    within = _within(now, after, session)
    if after.counts.distinct != now.counts.rows or within is False:
        return Declined(reason="without DISTINCT it returned another set of rows")
    if within is None and is_cut(block):
        return Declined(reason="LIMIT cuts its rows, and they could not be compared one by one")
    place = statement.place(distinct_place(statement) or 0)
    finding = distinct_drops(now.counts.rows, after.counts.rows, place)
    return Patched(name="remove_distinct", result=after, finding=finding)


def rerun(sql: str, before: Result, session: Session, same_names: bool = True) -> Result | Declined:
    """The result of a changed query, under the same limits; declined where it is another table.

    Without `same_names` only the number of columns is compared: a column without a name of its
    own is called by its expression, which was changed.
    """
    outcome = session.attempt(sql)
    if isinstance(outcome, Failure):
        if not session.fix and (why := why_not(outcome)):
            return Untried(reason=f"it was not run to its end: {why}")
        return Declined(reason=f"the patched query failed: {outcome.message}")
    names, known = outcome.columns, before.rows.columns
    if len(names) != len(known) or (same_names and names != known):
        return Declined(reason="the patched query returned other columns")
    found = session.counts(sql, outcome)
    if (counts := exact(found)) is not None:
        return Result(sql=sql, rows=outcome, counts=counts)
    if not session.fix and (why := why_not(found)):
        return Untried(reason=f"its rows were not counted: {why}")
    return Declined(reason="the patched result could not be counted within the time limit")


def _within(part: Result, whole: Result, session: Session) -> bool | None:
    """Whether every row of `part` stands in `whole`; None where they cannot be compared here.

    Then the counts have to do: without a LIMIT, DISTINCT gives and takes nothing but copies.
    """
    if (
        part.rows.truncated
        or whole.rows.truncated
        or not session.compares_bytes(part.sql, part.rows)
    ):
        return None
    return distinct_rows(part.rows.rows) <= distinct_rows(whole.rows.rows)


PATCHES: dict[PatchName, Patch] = {
    "inject_distinct": inject_distinct,
    "remove_distinct": remove_distinct_patch,
}
