"""Smells on a database: of gold its result, its ties and what the guard finds in its text; of a
prediction the one that a score does not tell."""

from collections.abc import Callable

from modularsql.config import Settings
from modularsql.evaluation.pair import may_be_ordered
from modularsql.evaluation.smells import Gold, Smell, smells
from modularsql.evaluation.ties import keyed_query
from modularsql.guard.grain import look
from modularsql.guard.null_first import null_first
from modularsql.guard.session import Session
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.model import Query
from modularsql.ports import Engine, Outcome
from modularsql.records import Finding
from modularsql.rows import Rows
from modularsql.sql.parse import Unparsed, is_query
from modularsql.sql.statement import Statement, read_statement


def smell(
    engine: Engine,
    sql: str,
    outcome: Outcome,
    run: Callable[[str], Rows | None],
    settings: Settings,
) -> tuple[Smell, ...]:
    """The smells of a gold query whose `outcome` is known; `run` is asked for what decides ties."""
    query = None
    if isinstance(outcome, Rows):
        query = keyed_query(sql, engine.dialect, outcome.columns)
    statement = read_statement(sql, engine.dialect, settings.max_parse_chars)
    findings: tuple[Finding, ...] = ()
    if isinstance(statement, Statement):
        session = _session(engine, settings)
        seen = look(statement, session)
        findings = tuple(one.finding for one in seen.issues)
        findings += _null_first(statement, seen.query, outcome, session, settings)
    return smells(
        Gold(
            sql=sql,
            dialect=engine.dialect,
            outcome=outcome,
            findings=findings,
            keyed=None if query is None else run(query),
        )
    )


def smell_of_prediction(
    engine: Engine, sql: str, outcome: Outcome, settings: Settings
) -> tuple[Smell, ...]:
    """`null_first_cut`, where a prediction whose `outcome` is known has it."""
    if not isinstance(outcome, Rows) or not may_be_ordered(sql):
        return ()
    statement = read_statement(sql, engine.dialect, settings.max_parse_chars)
    if not isinstance(statement, Statement):
        return ()
    tree, session = statement.tree, _session(engine, settings)
    if isinstance(tree, Unparsed) or not is_query(tree):
        return ()
    query = infer(tree, session.catalog(tree))
    found = _null_first(statement, query, outcome, session, settings)
    return (Smell.NULL_FIRST_CUT,) if found else ()


def _session(engine: Engine, settings: Settings) -> Session:
    return Session(engine=engine, params=None, limits=settings.scoring_limits())


def _null_first(
    statement: Statement,
    query: Query | None,
    outcome: Outcome,
    session: Session,
    settings: Settings,
) -> tuple[Finding, ...]:
    if query is None or not isinstance(outcome, Rows):
        return ()
    purse = session.purse(settings.evidence_seconds)
    found = null_first(statement, query, outcome, purse)
    return () if found is None else (found,)
