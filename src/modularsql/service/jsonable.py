"""Answers as JSON, cell by cell as docs/interfaces.md writes them down."""

import base64
import math
from dataclasses import asdict
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from modularsql.errors import ModularSqlError
from modularsql.records import Answer, Finding, Probe

SCHEMA_VERSION = 1


def answer_json(answer: Answer) -> dict[str, Any]:
    """The object that `guard --format json` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "sql": text(answer.sql),
        "question": answer.question,
        "final_sql": text(answer.final_sql),
        "verdict": answer.verdict.value,
        "dialect": answer.dialect,
        "findings": [finding_json(finding) for finding in answer.findings],
        "applied": list(answer.applied),
        "probe": _probe(answer.probe),
        "columns": [text(name) for name in answer.columns],
        "rows": [[cell(value) for value in row] for row in answer.rows],
        "truncated": answer.truncated,
        "timing_ms": dict(answer.timing_ms),
        "cost": asdict(answer.cost),
        "notes": list(answer.notes),
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "evidence": finding.evidence.value,
        "message": text(finding.message),
        "line": finding.line,
        "column": finding.column,
        "tables": list(finding.tables),
        "cause": finding.cause,
        "measured": {name: cell(value) for name, value in finding.measured.items()},
        "repairs": [
            {"name": r.name, "safety": r.safety.value, "sql": text(r.sql)} for r in finding.repairs
        ],
    }


def error_json(error: ModularSqlError) -> dict[str, Any]:
    """What is printed when a command could not start."""
    return {
        "schema_version": SCHEMA_VERSION,
        "error": {"kind": error.kind, "message": text(error.message), "hint": error.hint},
    }


def cell(value: Any) -> Any:
    """One value of a row; nothing is rounded, nothing fails."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, str):
        return _text_cell(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return {"base64": base64.b64encode(bytes(value)).decode()}
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, list | tuple):
        return [cell(item) for item in value]
    if isinstance(value, dict):
        return {_key(key): cell(item) for key, item in value.items()}
    # Decimal with its digits, UUID, and whatever a driver adds: the value's own text.
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def text(value: str) -> str:
    """Text that a JSON file can hold; bytes that are no UTF-8 are shown as such."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _text_cell(value: str) -> Any:
    if value.isascii():
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raw = value.encode("utf-8", "surrogateescape")
        return {"base64": base64.b64encode(raw).decode()}
    return value


def _key(key: Any) -> str:
    return text(key) if isinstance(key, str) else str(cell(key))


def _duration(value: timedelta) -> str:
    """ISO 8601, in days and seconds: `P1DT2.5S`."""
    sign = "-" if value < timedelta(0) else ""
    value = abs(value)
    seconds = f"{value.seconds}.{value.microseconds:06d}".rstrip("0").rstrip(".")
    return f"{sign}P{value.days}DT{seconds}S"


def _probe(probe: Probe | None) -> dict[str, Any] | None:
    if probe is None:
        return None
    return {
        "status": probe.status,
        "states": list(probe.states),
        "rows": probe.rows,
        "distinct_rows": probe.distinct_rows,
        "dup_ratio": probe.dup_ratio,
        "pushed_down": probe.pushed_down,
        "error": None if probe.error is None else text(probe.error),
    }
