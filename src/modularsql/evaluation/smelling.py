"""Smells of gold on a database: its result, its ties and what the guard finds in its text."""

from collections.abc import Callable

from modularsql.config import Settings
from modularsql.evaluation.smells import Gold, Smell, smells
from modularsql.evaluation.ties import keyed_query
from modularsql.guard.grain import look
from modularsql.guard.session import Session
from modularsql.ports import Engine, Outcome
from modularsql.records import Finding
from modularsql.rows import Rows
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
        seen = look(
            statement, Session(engine=engine, params=None, limits=settings.scoring_limits())
        )
        findings = tuple(one.finding for one in seen.issues)
    return smells(
        Gold(
            sql=sql,
            dialect=engine.dialect,
            outcome=outcome,
            findings=findings,
            keyed=None if query is None else run(query),
        )
    )
