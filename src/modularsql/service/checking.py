"""The use case `check`: what can be said of a query from a schema alone, without a database."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from modularsql.catalog import Catalog
from modularsql.config import Settings
from modularsql.declared.facts import Declared
from modularsql.declared.merge import merge
from modularsql.declared.read import read_keys, read_schema
from modularsql.errors import InputError
from modularsql.guard import findings as say
from modularsql.guard.grain import static
from modularsql.guard.naming import notes_on
from modularsql.guard.verdict import verdict
from modularsql.records import Answer, Failure, FailureKind, Finding
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
    schema = _schema(request)
    start = time.perf_counter()
    statement = read_statement(sql, request.dialect, request.settings.max_parse_chars)
    parsed = time.perf_counter()
    heard = _heard(statement, schema.catalog)
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


def _schema(request: CheckRequest) -> Declared:
    """The tables with their keys, and all that was odd in the files."""
    schema = read_schema(request.schema, request.dialect)
    if request.keys is None:
        return schema
    merged = merge(schema.catalog, read_keys(request.keys), str(request.schema))
    return replace(merged, problems=(*schema.problems, *merged.problems))


def _heard(statement: Statement | NoSql | Many, catalog: Catalog) -> _Heard:
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
        reason = statement.tree.reason.rstrip(".")
        unread = say.unparsed(statement.tree, statement.place(statement.tree.at))
        return _Heard(
            findings=(*found, replace(unread, message=f"Not analysed: {reason}.")), unsure=True
        )
    seen = static(statement, catalog)
    if seen.query is None:
        note = "statements of this kind are not analysed"
        return _Heard(findings=found, unsure=True, notes=(note,))
    # A name is unknown in as many blocks as use it, and said once.
    unknown = dict.fromkeys(what for block in seen.query.blocks() for what in block.unknown)
    if seen.query.block is not None and not seen.query.block.outputs:
        unknown["what it returns"] = None
    return _Heard(
        findings=(*found, *(one.finding for one in seen.issues)),
        unsure=bool(unknown),
        notes=tuple(f"not known: {what}" for what in unknown),
    )
