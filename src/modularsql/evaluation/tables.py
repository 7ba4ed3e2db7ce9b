"""A run as three flat tables and back: verdicts, results where they differ, the guard's outcomes.

Columns are given with the types DuckDB knows; a JSON column holds a JSON value as it goes in and
its text as it comes out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from modularsql.evaluation.datasets import Question
from modularsql.evaluation.log import (
    Ran,
    Record,
    guarded_fields,
    read_guarded,
    read_side,
    side_fields,
)
from modularsql.evaluation.run import Run, Verdict
from modularsql.json_values import text

Row = Mapping[str, Any]

_TEXT, _COUNT, _NUMBER, _JSON = "VARCHAR", "BIGINT", "DOUBLE", "JSON"
_FIRST = {"system": _TEXT, "id": _TEXT, "db": _TEXT, "difficulty": _TEXT}
_STATUS = {"gold_status": _TEXT, "pred_status": _TEXT}
_MEASURES = {
    "gold_rows": _COUNT,
    "pred_rows": _COUNT,
    "pred_distinct": _COUNT,
    "dup_ratio": _NUMBER,
    "cause": _TEXT,
    "columns": "BIGINT[]",
    "gold_ms": _NUMBER,
    "pred_ms": _NUMBER,
    "findings": "VARCHAR[]",
    "gold_smells": "VARCHAR[]",
    "pred_smells": "VARCHAR[]",
    "gold_error": _TEXT,
    "pred_error": _TEXT,
}
_TEXTS = {"question": _TEXT, "hint": _TEXT, "gold_sql": _TEXT, "pred_sql": _TEXT}

RESULT_COLUMNS = {"system": _TEXT, "id": _TEXT, "gold": _JSON, "pred": _JSON}
GUARD_COLUMNS = {
    "system": _TEXT,
    "id": _TEXT,
    "policy": _TEXT,
    "status": _TEXT,
    "applied": "VARCHAR[]",
    "found": _JSON,
    "set_ex": _NUMBER,
    "multiset_ex": _NUMBER,
    "ratio": _NUMBER,
    "factor": _NUMBER,
    "signs": "VARCHAR[]",
    "probe_ms": _NUMBER,
    "repair_ms": _NUMBER,
    "sql": _TEXT,
}


def verdict_columns(metrics: Sequence[str]) -> dict[str, str]:
    """Names and types of the table of verdicts."""
    return {**_FIRST, **_STATUS, **dict.fromkeys(metrics, _NUMBER), **_MEASURES, **_TEXTS}


def verdict_rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """One row for each system and question."""
    metrics = run.metrics
    for verdict in _verdicts(run):
        question, record = verdict.question, verdict.record
        gold, pred = record.gold, record.pred
        yield (
            *_texts(verdict.system, question.id, question.db, question.difficulty),
            *(gold.status, pred.status),
            *map(record.scores.get, metrics),
            *(gold.rows, pred.rows, pred.distinct, pred.dup_ratio, record.cause, record.columns),
            *(gold.ms, pred.ms, _findings(record), list(record.smells)),
            list(record.pred_smells),
            *_texts(gold.error, pred.error, question.question, question.hint),
            *_texts(question.gold, verdict.pred_sql),
        )


def _texts(*values: str | None) -> Iterator[str | None]:
    return (None if value is None else text(value) for value in values)


def result_rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """The first rows of both sides, where the results were not the same."""
    for verdict in _verdicts(run):
        gold, pred = verdict.record.gold_side, verdict.record.pred_side
        if gold is not None or pred is not None:
            yield verdict.system, verdict.question.id, side_fields(gold), side_fields(pred)


def guard_rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """What the guard made of each prediction under each policy."""
    for verdict in _verdicts(run):
        for one in verdict.record.guarded:
            yield (verdict.system, verdict.question.id, *guarded_fields(one).values())


def from_tables(
    about: Mapping[str, Any], verdicts: Iterable[Row], results: Iterable[Row], guard: Iterable[Row]
) -> Run:
    """The run that the tables were written from."""
    sides = {(row["system"], row["id"]): row for row in results}
    guards: dict[tuple[str, str], list[Row]] = {}
    for row in guard:
        guards.setdefault((row["system"], row["id"]), []).append(row)
    read: dict[str, list[Verdict]] = {name: [] for name in about["inputs"]["systems"]}
    run = Run(about=about, verdicts=read)
    for row in verdicts:
        key = row["system"], row["id"]
        record = _record(row, run.metrics)
        if (found := sides.get(key)) is not None:
            gold, pred = read_side(_json(found["gold"])), read_side(_json(found["pred"]))
            record = replace(record, gold_side=gold, pred_side=pred)
        if key in guards:
            outcomes = tuple(map(_guarded, guards[key]))
            record = replace(record, guarded=outcomes)
        read[row["system"]].append(_verdict(row, record))
    return run


def _guarded(row: Row) -> Any:
    # Runs of before may have no `signs`.
    fields = {name: row.get(name) for name in GUARD_COLUMNS if name not in ("system", "id")}
    return read_guarded({**fields, "found": _json(row["found"])})


def _json(cell: str | None) -> Any:
    return None if cell is None else json.loads(cell)


def _verdicts(run: Run) -> Iterator[Verdict]:
    return (verdict for some in run.verdicts.values() for verdict in some)


def _findings(record: Record) -> list[str]:
    """The rules that found something, under any policy of the guard."""
    return list(dict.fromkeys(rule for one in record.guarded for rule, _ in one.found))


def _record(row: Row, metrics: Sequence[str]) -> Record:
    return Record(
        pair=-1,
        gold=Ran(
            status=row["gold_status"],
            rows=row["gold_rows"],
            ms=row["gold_ms"],
            error=row["gold_error"],
        ),
        pred=Ran(
            status=row["pred_status"],
            rows=row["pred_rows"],
            distinct=row["pred_distinct"],
            ms=row["pred_ms"],
            error=row["pred_error"],
        ),
        scores={name: row[name] for name in metrics},
        cause=row["cause"],
        # Runs of before may not have them.
        columns=None if (columns := row.get("columns")) is None else tuple(columns),
        smells=tuple(row["gold_smells"]),
        pred_smells=tuple(row.get("pred_smells") or ()),
    )


def _verdict(row: Row, record: Record) -> Verdict:
    question = Question(
        id=row["id"],
        db=row["db"],
        question=row["question"] or "",
        hint=row["hint"] or "",
        gold=row["gold_sql"],
        difficulty=row["difficulty"],
    )
    return Verdict(system=row["system"], question=question, pred_sql=row["pred_sql"], record=record)
