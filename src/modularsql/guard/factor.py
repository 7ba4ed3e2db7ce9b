"""How often rows repeat: counted where that is affordable, else estimated from a sample.

Counting puts every row of a join into a group, which costs more than the query that is looked at.
A row of the sample that repeats does repeat, so a finding may rest on it; a repair may not
(docs/design/multiplicity.md, "Numbers to check it by").
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from modularsql.catalog import Table
from modularsql.guard.counting import counting
from modularsql.guard.session import COUNTING, Session, seconds, why_not
from modularsql.multiplicity.measure import entity_rows
from modularsql.multiplicity.model import Query
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.sample import (
    CONFIDENCE,
    ENOUGH,
    Sample,
    read_sample,
    sampled,
    sampled_source,
)
from modularsql.ports import Outcome
from modularsql.records import Evidence, Finding, Severity
from modularsql.rows import Rows

_SHARE = 0.5
"""Of what is left for probes, counting may take so much: repairs are to be tried as well."""

_SAMPLING, _ONE_TABLE = 0.5, 0.1
"""What a sample, and the number of rows of a table, take at most in times of a slow join.

No engine can tell how few rows the hash of a sample leaves, so for that none is asked.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """An issue, what is said of it, and whether the data was asked and bore it out.

    `distinct` counts the different rows of its entity, where that was measured.
    """

    issue: Issue
    finding: Finding
    borne_out: bool = False
    distinct: int | None = None


def counted(one: Measured, whole: Query, session: Session) -> Measured | None:
    """The issue with the factor by which rows repeat; None where none does."""
    query = entity_rows(one.issue, whole, session.engine.dialect)
    if query is None:
        return replace(one, finding=_softly(one.finding, None))
    sql = counting(query.sql, query.columns, session.engine.dialect)
    facts = {"entity": [source.name for source in one.issue.entity], "sql": sql}
    left = session.left_for_probes()
    cost = session.expected(sql, None, left=left, times=COUNTING)
    sample = _drawn(one.issue, whole, session) if cost > left * _SHARE else None
    if sample is not None and sample.rows > sample.different:
        return _estimated(one, sample, facts, cost)
    outcome = session.probe(sql, times=COUNTING)
    if not isinstance(outcome, Rows):
        soft = _softly(one.finding, outcome)
        return replace(one, finding=soft if sample is None else _none_seen(soft, sample))
    rows, distinct = (int(value) for value in outcome.rows[0])
    if rows <= distinct:
        return None
    factor = rows / distinct
    words = f" Here {distinct:,} become {rows:,}: {factor:,.3g} times on average."
    numbers = {"rows_before": distinct, "rows_after": rows, "factor": round(factor, 4)}
    found = borne_out(one, one.finding.message + words, {**numbers, **facts})
    return replace(found, distinct=distinct)


def _drawn(issue: Issue, whole: Query, session: Session) -> Sample | None:
    """What a sample shows; None where there is none to be had, or it is too small to tell."""
    dialect = session.engine.dialect
    source = sampled_source(issue, dialect)
    table = source.table if source is not None else None
    rows = None if table is None else _rows_of(table, session)
    one_in = int((rows or 0) // ENOUGH)
    sql = sampled(issue, whole, dialect, one_in) if one_in > 1 else None
    outcome = session.probe(sql, times=_SAMPLING, estimate=False) if sql is not None else None
    return read_sample(outcome.rows[0], one_in) if isinstance(outcome, Rows) else None


def _rows_of(table: Table, session: Session) -> float | None:
    """Rows of a table, as the engine estimates or counts them."""
    name = exp.table_(table.name, db=table.schema or None, quoted=True)
    plan = session.plan(exp.select("1").from_(name).sql(dialect=session.engine.dialect))
    if plan is not None:
        return plan.rows
    count = exp.select(exp.Count(this=exp.Star())).from_(name)
    outcome = session.probe(count.sql(dialect=session.engine.dialect), times=_ONE_TABLE)
    return float(outcome.rows[0][0]) if isinstance(outcome, Rows) else None


def _estimated(one: Measured, sample: Sample, facts: dict[str, Any], cost: float) -> Measured:
    before, after = (_rounded(n * sample.one_in) for n in (sample.different, sample.rows))
    error = math.ceil(max(sample.error, 0.001) * 1000) / 1000
    words = (
        f" Here about {before:,} become {after:,}: {sample.factor:,.3g} times on average, "
        f"±{error:.1%} (a sample of {sample.different:,}, {CONFIDENCE:.0%} sure; to count all is "
        f"estimated at {seconds(cost)} s)."
    )
    measured = {
        "rows_before": before,
        "rows_after": after,
        "factor": round(sample.factor, 4),
        **facts,
        "approximate": True,
        "sample": _facts(sample) | {"error": error},
    }
    return borne_out(one, one.finding.message + words, measured)


def _none_seen(finding: Finding, sample: Sample) -> Finding:
    """No row of a sample repeats: with its confidence less than 3 in so many do at all."""
    words = f" In a sample of {sample.different:,} none repeats."
    measured = {**finding.measured, "sample": _facts(sample)}
    return replace(finding, message=finding.message + words, measured=measured)


def _facts(sample: Sample) -> dict[str, Any]:
    return {"rows": sample.drawn, "one_in": sample.one_in, "confidence": CONFIDENCE}


def _rounded(value: int) -> int:
    """Three digits: more are not known."""
    return round(value, 3 - len(str(value)))


def _softly(finding: Finding, outcome: Outcome | None) -> Finding:
    """What could not be measured: the schema alone does not say that it happens."""
    soft = replace(finding, severity=Severity.INFO, evidence=Evidence.ASSUMED)
    why = why_not(outcome)
    return not_measured(soft, why) if why else soft


def not_measured(finding: Finding, why: str, further: str = "") -> Finding:
    """The finding, which says why it was not measured (any further)."""
    measured = {**finding.measured, "not_measured": why}
    words = f"{finding.message} {' '.join(('Not measured', further)).rstrip()}: {why}."
    return replace(finding, message=words, measured=measured)


def borne_out(one: Measured, message: str, measured: dict[str, Any]) -> Measured:
    """The issue as one that the data bears out."""
    severity = one.issue.measured or one.issue.severity
    finding = replace(
        one.finding,
        severity=severity,
        message=message,
        evidence=Evidence.OBSERVED,
        measured=measured,
    )
    return replace(one, borne_out=True, finding=finding)
