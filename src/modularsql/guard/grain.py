"""Grain findings at run time: what the rules suspect is measured, then said.

`multiplicity/` is pure and knows patterns; here they meet the data. A suspicion that
the data does not bear out is dropped; one of repeated rows that cannot be measured is said softly.
"""

from dataclasses import dataclass, replace

from modularsql.catalog import Catalog
from modularsql.guard.factor import Measured, borne_out, counted, not_measured
from modularsql.guard.observed import observe
from modularsql.guard.session import Session, why_not
from modularsql.multiplicity.bound import bind, written_out
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.measure import with_definitions
from modularsql.multiplicity.model import Query
from modularsql.multiplicity.registry import Analysis, Issue, issues
from modularsql.multiplicity.steps import written
from modularsql.records import Finding
from modularsql.rows import Rows
from modularsql.sql.parse import Unparsed, begins_at, is_query
from modularsql.sql.statement import Statement


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
    seen = static(statement, session.catalog(statement.tree))
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
        return counted(one, whole, session)
    probe = one.issue.probe() if one.issue.probe is not None else None
    if probe is None or one.issue.block.correlated:
        return one
    with_definitions(probe, whole)
    outcome = session.probe(written_out(probe, session.engine.dialect))
    if not isinstance(outcome, Rows):
        why = why_not(outcome)
        return replace(one, finding=not_measured(one.finding, why)) if why else one
    if not outcome.rows:
        return None
    facts = dict(zip(outcome.columns, outcome.rows[0], strict=True)) if one.issue.told else {}
    return borne_out(one, one.finding.message + one.issue.told.format(**facts), facts)


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
