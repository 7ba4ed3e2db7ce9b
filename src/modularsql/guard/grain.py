"""Grain findings at run time: what the rules suspect is measured, then said.

`multiplicity/` is pure and knows patterns; here they meet the data. A suspicion that
the data does not bear out is dropped; one of repeated rows that cannot be measured is said softly.
"""

from dataclasses import dataclass, replace

from modularsql.catalog import Catalog
from modularsql.guard.observed import observe
from modularsql.guard.session import Session, counting
from modularsql.multiplicity.bound import bind, written_out
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.measure import entity_rows, with_definitions
from modularsql.multiplicity.model import Query
from modularsql.multiplicity.registry import Analysis, Issue, issues
from modularsql.multiplicity.steps import written
from modularsql.ports import Outcome
from modularsql.records import Evidence, Failure, FailureKind, Finding, Severity
from modularsql.rows import Rows
from modularsql.sql.parse import Unparsed, begins_at, is_query
from modularsql.sql.statement import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """An issue, what is said of it, and whether the data was asked and bore it out.

    `distinct` counts the different rows of its entity, where that was measured.
    """

    issue: Issue
    finding: Finding
    borne_out: bool = False
    distinct: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A statement's facts and the issues found in it."""

    query: Query | None = None
    issues: tuple[Measured, ...] = ()

    @property
    def unknown(self) -> tuple[str, ...]:
        """What of the query could not be read, each once: in how many blocks does not matter."""
        if self.query is None:
            return ()
        found = dict.fromkeys(what for block in self.query.blocks() for what in block.unknown)
        if self.query.block is not None and not self.query.block.outputs:
            found["what it returns"] = None
        return tuple(found)

    def rules(self) -> set[str]:
        """The names of the rules that found something."""
        return {one.issue.rule for one in self.issues}


def static(statement: Statement, catalog: Catalog) -> Seen:
    """All issues of a statement, by what the catalog says alone."""
    tree = statement.tree
    query = None if isinstance(tree, Unparsed) or not is_query(tree) else infer(tree, catalog)
    if query is None:
        return Seen()
    found = issues(Analysis(query=query, catalog=catalog))
    return Seen(
        query=query,
        issues=tuple(Measured(issue=i, finding=finding_of(i, statement)) for i in found),
    )


def look(statement: Statement, session: Session) -> Seen:
    """All issues of a statement; those about repeated rows are put to the data."""
    seen = static(statement, session.engine.catalog())
    if seen.query is None:
        return seen
    richer = observe([one.issue for one in seen.issues], session)
    seen = seen if richer is None else static(statement, richer)
    assert seen.query is not None
    bind(seen.query.node, session.params, session.engine.dialect)
    asked = (_measured(one, seen.query, session) for one in seen.issues)
    return replace(seen, issues=tuple(one for one in asked if one is not None))


def _measured(one: Measured, whole: Query, session: Session) -> Measured | None:
    """The issue as the data has it; None where the data does not bear it out."""
    if one.issue.entity and one.issue.multipliers:
        return _counted(one, whole, session)
    probe = one.issue.probe() if one.issue.probe is not None else None
    if probe is None or one.issue.block.correlated:
        return one
    with_definitions(probe, whole)
    outcome = session.run(written_out(probe, session.engine.dialect))
    if not isinstance(outcome, Rows):
        return one
    if not outcome.rows:
        return None
    facts = dict(zip(outcome.columns, outcome.rows[0], strict=True)) if one.issue.told else {}
    found = _borne_out(one, one.finding.message + one.issue.told.format(**facts))
    return replace(found, finding=replace(found.finding, measured=facts))


def _counted(one: Measured, whole: Query, session: Session) -> Measured | None:
    """The issue with the factor by which rows repeat."""
    query = entity_rows(one.issue, whole, session.engine.dialect)
    outcome = session.run(counting(query.sql, query.columns)) if query else None
    if query is None or not isinstance(outcome, Rows):
        return replace(one, finding=_softly(one.finding, outcome))
    rows, distinct = (int(value) for value in outcome.rows[0])
    if rows <= distinct:
        return None
    factor = rows / distinct
    words = f" Here {distinct:,} become {rows:,}: {factor:,.3g} times on average."
    found = _borne_out(one, one.finding.message + words)
    measured = {
        "rows_before": distinct,
        "rows_after": rows,
        "factor": round(factor, 4),
        "entity": [source.name for source in one.issue.entity],
        "sql": counting(query.sql, query.columns),
    }
    return replace(found, finding=replace(found.finding, measured=measured), distinct=distinct)


def _softly(finding: Finding, outcome: Outcome | None) -> Finding:
    """What could not be measured: the schema alone does not say that it happens."""
    soft = replace(finding, severity=Severity.INFO, evidence=Evidence.ASSUMED)
    out_of_time = isinstance(outcome, Failure) and outcome.kind == FailureKind.TIMEOUT
    return not_measured(soft) if out_of_time else soft


def not_measured(finding: Finding, what: str = "Not measured") -> Finding:
    """The finding, which says that time ran out before it could be measured."""
    measured = {**finding.measured, "not_measured": "out of time"}
    words = f"{finding.message} {what}: out of time."
    return replace(finding, message=words, measured=measured)


def _borne_out(one: Measured, message: str) -> Measured:
    severity = one.issue.measured or one.issue.severity
    finding = replace(one.finding, severity=severity, message=message, evidence=Evidence.OBSERVED)
    return replace(one, borne_out=True, finding=finding)


def finding_of(issue: Issue, statement: Statement) -> Finding:
    """What is said of an issue before the data was asked."""
    line, column = statement.place(begins_at(issue.node))
    join = next((s.join for s in issue.multipliers if s.join is not None), None)
    sources = (*issue.entity, *issue.multipliers)
    return Finding(
        rule=issue.rule,
        severity=issue.severity,
        message=issue.message,
        evidence=issue.evidence,
        line=line,
        column=column,
        tables=tuple(dict.fromkeys(source.name for source in sources)),
        cause=None if join is None else written(join),
    )
