"""The use case `check`: what can be said of a query from a schema alone, without a database."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from modularsql.config import Settings
from modularsql.declared.facts import Declared
from modularsql.declared.merge import merge
from modularsql.declared.read import read_keys, read_schema
from modularsql.engines.syntax import parser_of
from modularsql.errors import InputError
from modularsql.guard import findings as say
from modularsql.guard.absent import absent
from modularsql.guard.grain import static
from modularsql.guard.naming import notes_on
from modularsql.guard.verdict import verdict
from modularsql.records import Answer, Failure, FailureKind, Finding, Severity
from modularsql.service.guarding import read_sql
from modularsql.service.ruling import check_names
from modularsql.sql.allow import allowances, is_allowed
from modularsql.sql.parse import Unparsed
from modularsql.sql.statement import Many, NoSql, Statement, read_statement

DIALECTS = ("sqlite", "duckdb", "postgres", "mysql")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """What `check` needs: SQL (text, `-` or `@file`), a DDL file, and keys nobody declared."""

    sql: str
    schema: Path
    settings: Settings
    dialect: str = "sqlite"
    keys: Path | None = None
    allow: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """What is said of a text. `unsure`: not all of it could be analysed; `notes` say why."""

    findings: tuple[Finding, ...] = ()
    failure: Failure | None = None
    unsure: bool = False
    notes: tuple[str, ...] = ()


def check(request: CheckRequest) -> Answer:
    """Static findings only. Raises `InputError` for unreadable files; bad SQL is a finding."""
    if request.dialect not in DIALECTS:
        raise InputError(f"unknown dialect {request.dialect!r}", f"known: {', '.join(DIALECTS)}")
    check_names(request.allow)
    sql = read_sql(request.sql)
    said = read_schema(request.schema, request.dialect)
    schema, trusted = _with_keys(said, request), not said.problems
    start = time.perf_counter()
    statement = read_statement(sql, request.dialect, request.settings.max_parse_chars)
    parsed = time.perf_counter()
    heard = _refused(statement, request.dialect) or _heard(statement, schema, trusted)
    spent = {"parse": parsed - start, "analyse": time.perf_counter() - parsed}
    of_a_run = dict.fromkeys(("execute", "probe", "evidence", "rescue", "repair"), 0.0)
    notes = allowances(statement) if isinstance(statement, Statement) else ()
    findings = tuple(f for f in heard.findings if not is_allowed(f, request.allow, notes))
    return Answer(
        sql=sql,
        final_sql=statement.text if isinstance(statement, Statement) else sql,
        verdict=verdict(findings, (), heard.failure, heard.unsure),
        dialect=request.dialect,
        findings=findings,
        timing_ms={name: round(s * 1000, 3) for name, s in spent.items()} | of_a_run,
        failure=heard.failure,
        notes=(*schema.problems, *notes_on(note.rule for note in notes), *heard.notes),
    )


def _with_keys(schema: Declared, request: CheckRequest) -> Declared:
    """The tables with their keys, and all that was odd in the files."""
    if request.keys is None:
        return schema
    merged = merge(schema.catalog, read_keys(request.keys), str(request.schema))
    return replace(merged, problems=(*schema.problems, *merged.problems))


def _refused(statement: Statement | NoSql | Many, dialect: str) -> _Heard | None:
    """What the engine's own parser has against the text; None where it takes it, or has no say."""
    parser = parser_of(dialect)
    if not isinstance(statement, Statement) or parser is None:
        return None
    message = parser(statement.text)
    if message is None:
        return None
    at = statement.tree.at if isinstance(statement.tree, Unparsed) else 0
    failure = Failure(kind=FailureKind.ERROR, message=message)
    return _Heard(findings=(say.syntax(message, statement.place(at)),), failure=failure)


def _heard(statement: Statement | NoSql | Many, schema: Declared, trusted: bool) -> _Heard:
    """`trusted`: the schema file was read to its end, so what is not in it is not there."""
    if isinstance(statement, NoSql):
        failure = Failure(kind=FailureKind.ERROR, message=statement.reason)
        return _Heard(findings=(say.no_sql(statement.reason),), failure=failure)
    if isinstance(statement, Many):
        finding = say.many_statements(statement.texts)
        failure = Failure(kind=FailureKind.REFUSED, message=finding.message)
        return _Heard(findings=(finding,), failure=failure)
    how = statement.extracted
    found = (say.extracted(how, statement.place(0)),) if how else ()
    if isinstance(statement.tree, Unparsed):
        return _Heard(findings=(*found, _unread(statement, statement.tree, schema)), unsure=True)
    seen = static(statement, schema.catalog)
    if seen.query is None:
        note = "statements of this kind are not analysed"
        return _Heard(findings=found, unsure=True, notes=(note,))
    missing = absent(seen.query, statement, schema.catalog) if trusted else {}
    return _Heard(
        findings=(*found, *missing.values(), *(one.finding for one in seen.issues)),
        unsure=bool(seen.unknown),
        notes=tuple(f"not known: {what}" for what in seen.unknown if what not in missing),
    )


def _unread(statement: Statement, tree: Unparsed, schema: Declared) -> Finding:
    """That our parser made nothing of it: no news where the engine's own one takes the text."""
    dialect = schema.catalog.dialect
    finding = say.unparsed(tree, statement.place(tree.at))
    reason = tree.reason.rstrip(".")
    if parser_of(dialect) is not None:
        return replace(finding, message=f"Not analysed: {reason}.")
    message = f"Not analysed: {reason}; whether {dialect} takes it was not asked."
    return replace(finding, message=message, severity=Severity.WARNING)
