"""The use case `check`: what can be said of a query from a schema alone, without a database."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from modularsql.config import Settings
from modularsql.declared.merge import merge
from modularsql.declared.read import read_keys, read_schema
from modularsql.errors import InputError
from modularsql.guard import findings as say
from modularsql.guard.grain import static
from modularsql.guard.verdict import verdict
from modularsql.records import Answer, Failure, FailureKind, Finding
from modularsql.service.guarding import read_sql
from modularsql.sql.allow import allowances
from modularsql.sql.parse import Unparsed
from modularsql.sql.statement import Many, NoSql, read_statement

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


def check(request: CheckRequest) -> Answer:
    """Static findings only. Raises `InputError` for unreadable files; bad SQL is a finding."""
    if request.dialect not in DIALECTS:
        raise InputError(f"unknown dialect {request.dialect!r}", f"known: {', '.join(DIALECTS)}")
    sql = read_sql(request.sql)
    schema = read_schema(request.schema, request.dialect)
    notes = schema.problems
    if request.keys is not None:
        schema = merge(schema.catalog, read_keys(request.keys))
        notes = (*notes, *schema.problems)
    statement = read_statement(sql, request.dialect, request.settings.max_parse_chars)
    answer = Answer(
        sql=sql, final_sql=sql, verdict=verdict((), (), None, True), dialect=request.dialect
    )
    if isinstance(statement, NoSql):
        failure = Failure(kind=FailureKind.ERROR, message=statement.reason)
        return _with(answer, [say.no_sql(statement.reason)], failure)
    if isinstance(statement, Many):
        finding = say.many_statements(statement.texts)
        failure = Failure(kind=FailureKind.REFUSED, message=finding.message)
        return _with(answer, [finding], failure)
    if isinstance(statement.tree, Unparsed):
        place = statement.place(statement.tree.at)
        return _with(answer, [say.unparsed(statement.tree, place)], None, unsure=True)
    seen = static(statement, schema.catalog)
    allowed = [(note.rule, note.first, note.last) for note in allowances(statement)]
    heard = [
        one.finding
        for one in seen.issues
        if one.finding.rule not in request.allow
        and not any(
            rule == one.finding.rule and first <= one.finding.line <= last
            for rule, first, last in allowed
        )
    ]
    unknown = [
        f"not known: {what}"
        for block in (seen.query.blocks() if seen.query else ())
        for what in block.unknown
    ]
    answer = replace(answer, notes=(*notes, *dict.fromkeys(unknown)))
    return _with(answer, heard, None, unsure=seen.query is None or bool(unknown))


def _with(
    answer: Answer, findings: list[Finding], failure: Failure | None, unsure: bool = False
) -> Answer:
    return replace(
        answer,
        findings=tuple(findings),
        failure=failure,
        verdict=verdict(findings, (), failure, unsure),
    )
