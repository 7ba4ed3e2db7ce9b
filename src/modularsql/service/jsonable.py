"""Answers as JSON, as docs/interfaces.md writes them down."""

from dataclasses import asdict
from typing import Any

from modularsql.errors import ModularSqlError
from modularsql.json_values import cell, plain
from modularsql.records import Answer, Finding

SCHEMA_VERSION = 1


def answer_json(answer: Answer) -> dict[str, Any]:
    """The object that `guard --format json` prints."""
    shown: dict[str, Any] = plain(
        {
            "schema_version": SCHEMA_VERSION,
            "sql": answer.sql,
            "question": answer.question,
            "final_sql": answer.final_sql,
            "verdict": answer.verdict.value,
            "dialect": answer.dialect,
            "findings": [finding_json(finding) for finding in answer.findings],
            "applied": answer.applied,
            "probe": None if answer.probe is None else asdict(answer.probe),
            "columns": answer.columns,
            "rows": (),
            "truncated": answer.truncated,
            "timing_ms": dict(answer.timing_ms),
            "cost": asdict(answer.cost),
            "rescue": None if answer.rescue is None else asdict(answer.rescue),
            "notes": answer.notes,
        }
    )
    shown["rows"] = [[cell(value) for value in row] for row in answer.rows]
    return shown


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding."""
    found: dict[str, Any] = plain(
        {
            "rule": finding.rule,
            "severity": finding.severity.value,
            "evidence": finding.evidence.value,
            "message": finding.message,
            "line": finding.line,
            "column": finding.column,
            "tables": finding.tables,
            "cause": finding.cause,
            "measured": {name: cell(value) for name, value in finding.measured.items()},
            "repairs": [
                {"name": r.name, "safety": r.safety.value, "sql": r.sql} for r in finding.repairs
            ],
        }
    )
    return found


def error_json(error: ModularSqlError) -> dict[str, Any]:
    """What is printed when a command could not start."""
    said = {"kind": error.kind, "message": error.message, "hint": error.hint}
    return {"schema_version": SCHEMA_VERSION, "error": plain(said)}
