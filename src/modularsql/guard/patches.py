"""The paper's two deterministic patches, on the tree, each checked by running it (section 3.2).

P1 `inject_distinct`: DISTINCT on the outermost SELECT when the probe's dup ratio is at least
tau and nothing cuts the rows (LIMIT). The check promises the same set of rows.

P2 `remove_distinct`: without the outermost DISTINCT, under the safeguards of appendix D (no
aggregate, no GROUP BY, strictly more rows) and a dup ratio of at most 0.10 afterwards. Beyond
the paper the check also demands that no row is lost, which LIMIT could do.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from modularsql.guard.findings import distinct_drops
from modularsql.guard.policy import PatchName, Policy
from modularsql.guard.session import Counts, Session
from modularsql.records import Failure, Finding
from modularsql.rows import Rows, distinct_rows, dup_ratio
from modularsql.sql.outermost import (
    Declined,
    add_distinct,
    distinct_place,
    has_distinct,
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
    ratio = dup_ratio(now.counts.rows, now.counts.distinct)
    if not now.counts.rows or ratio < policy.tau_inject:
        return None
    edited = add_distinct(statement, session.engine.dialect)
    if isinstance(edited, Declined):
        return edited
    after = _run(edited, now, session)
    if isinstance(after, Declined):
        return after
    if after.counts.rows != now.counts.distinct or not _within(after.rows, now.rows, session):
        return Declined(reason="with DISTINCT it returned another set of rows")
    return Patched(name="inject_distinct", result=after)


def remove_distinct_patch(
    statement: Statement, now: Result, policy: Policy, session: Session
) -> Patched | Declined | None:
    """P2; None where it is not called for, and where a safeguard holds it back."""
    block = outermost(statement.tree)
    if block is None or not has_distinct(block) or not now.counts.rows:
        return None
    if isinstance(statement.tree, Unparsed) or _aggregates(statement.tree):
        return None
    edited = remove_distinct(statement, session.engine.dialect)
    if isinstance(edited, Declined):
        return edited
    after = _run(edited, now, session)
    if isinstance(after, Declined):
        return after
    ratio = dup_ratio(after.counts.rows, after.counts.distinct)
    if after.counts.rows <= now.counts.rows or ratio > policy.tau_remove:
        return None
    if after.counts.distinct != now.counts.rows or not _within(now.rows, after.rows, session):
        return Declined(reason="without DISTINCT it lost rows")
    place = statement.place(distinct_place(statement) or 0)
    finding = distinct_drops(now.counts.rows, after.counts.rows, place)
    return Patched(name="remove_distinct", result=after, finding=finding)


def _run(sql: str, before: Result, session: Session) -> Result | Declined:
    outcome = session.run(sql, session.params)
    if isinstance(outcome, Failure):
        return Declined(reason=f"the patched query failed: {outcome.message}")
    if outcome.columns != before.rows.columns:
        return Declined(reason="the patched query returned other columns")
    counts = session.counts(sql, outcome)
    if counts is None:
        return Declined(reason="the patched result could not be counted within the time limit")
    return Result(sql=sql, rows=outcome, counts=counts)


def _within(part: Rows, whole: Rows, session: Session) -> bool:
    """Whether every row of `part` stands in `whole`; counts have to do where rows were cut."""
    if part.truncated or whole.truncated or not session.engine.compares_bytes():
        return True
    return distinct_rows(part.rows) <= distinct_rows(whole.rows)


def _aggregates(tree: exp.Expr) -> bool:
    """Whether the query, subqueries included, aggregates or groups (appendix D)."""
    return any(True for _ in tree.find_all(exp.AggFunc, exp.Group))


PATCHES: dict[PatchName, Patch] = {
    "inject_distinct": inject_distinct,
    "remove_distinct": remove_distinct_patch,
}
