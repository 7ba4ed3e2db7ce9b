"""A run as one page that opens without a network: tables, plots, and every single answer.

The page builds itself from JSON inside it. All of that is data of strangers (questions, SQL, cells,
names of files): it is embedded so that it cannot end its script element, and the script sets it
as text only. The page's policy forbids it to load anything.
"""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from modularsql.evaluation.cause import WORDS as CAUSES
from modularsql.evaluation.cause import columns_said
from modularsql.evaluation.log import Guarded, side_fields
from modularsql.evaluation.report.charts import Chart
from modularsql.evaluation.run import Run, Verdict
from modularsql.evaluation.smells import TITLES as SMELLS
from modularsql.evaluation.studies.outcomes import OPEN, right
from modularsql.evaluation.table import Table
from modularsql.json_values import plain
from modularsql.wording import counted

MOST_ANSWERS = 50_000


def page(
    run: Run, tables: Sequence[Table], charts: Sequence[Chart], notes: Sequence[str], bundle: str
) -> str:
    """The HTML text; `bundle` is the script that draws charts, empty where there is none."""
    here = files("modularsql.evaluation.report")
    parts = {
        "css": here.joinpath("page.css").read_text("utf-8"),
        "data": _embedded(_data(run, tables, charts, notes)),
        "bundle": bundle.replace("</script", "<\\/script"),
        "script": here.joinpath("page.js").read_text("utf-8"),
    }
    text = here.joinpath("page.html").read_text("utf-8")
    # Split first, fill then: what is filled in may hold the marks of others.
    pieces = text.split("@")
    return "".join(parts.get(piece, piece) for piece in pieces)


def _embedded(value: Any) -> str:
    """JSON that can stand inside a script element: no character of it means anything to HTML."""
    text = json.dumps(plain(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(
    run: Run, tables: Sequence[Table], charts: Sequence[Chart], notes: Sequence[str]
) -> Mapping[str, Any]:
    everything = run.all_verdicts()
    verdicts = everything[:MOST_ANSWERS]
    if len(verdicts) < len(everything):
        said = f"the first {len(verdicts):,} of {len(everything):,} answers stand on this page"
        notes = [*notes, f"{said}, all of them in verdicts.parquet"]
    systems = list(run.verdicts)
    places: dict[str, int] = {}
    questions: list[Mapping[str, Any]] = []
    for verdict in verdicts:
        if verdict.question.id not in places:
            places[verdict.question.id] = len(questions)
            questions.append(_question(verdict))
    return {
        "facts": facts(run),
        "about": json.dumps(plain(dict(run.about)), indent=2, ensure_ascii=False),
        "notes": list(notes),
        "tables": [
            {"title": t.title, "note": t.note, "columns": t.columns, "rows": t.shown()}
            for t in tables
        ],
        "charts": [{"title": c.title, "spec": c.spec, "wide": c.wide} for c in charts],
        "systems": systems,
        "metrics": run.metrics,
        "causes": {cause.value: title for cause, title in CAUSES.items()},
        "smells": {smell.value: title for smell, title in SMELLS.items()},
        "questions": questions,
        "answers": [
            _answer(run, verdict, systems.index(verdict.system), places[verdict.question.id])
            for verdict in verdicts
        ],
    }


def facts(run: Run) -> str:
    """What was scored, and how, on one line."""
    inputs = run.about["inputs"]
    parts = [
        inputs["dataset"]["path"],
        counted(len(run.verdicts), "prediction set"),
        f"limit {inputs['settings']['timeout']:g} s",
        f"today is {today}" if (today := inputs["settings"].get("today")) else "",
        _tolerance(inputs.get("tolerance")),
        f"modularsql {run.about.get('modularsql', '')}",
        str(run.about.get("started", "")),
    ]
    return " · ".join(filter(None, parts))


def _tolerance(given: Mapping[str, float] | None) -> str:
    if given is None:
        return "no numeric tolerance"
    return f"tolerant_ex allows {given['absolute']:g} or a share of {given['relative']:g}"


def _question(verdict: Verdict) -> Mapping[str, Any]:
    question = verdict.question
    return {
        "id": question.id,
        "db": question.db,
        "difficulty": question.difficulty,
        "question": question.question,
        "hint": question.hint,
        "gold": question.gold,
        "smells": verdict.record.smells,
    }


def _answer(run: Run, verdict: Verdict, system: int, question: int) -> Mapping[str, Any]:
    record = verdict.record
    counts = run.counted(verdict)
    errors = {"gold": record.gold.error, "prediction": record.pred.error}
    return {
        "system": system,
        "question": question,
        "sql": verdict.pred_sql,
        "smells": record.pred_smells,
        "counted": counts,
        "state": _state(verdict),
        "cause": record.cause,
        "columns": None if record.columns is None else columns_said(record.columns),
        "gold_status": record.gold.status,
        "scores": [_score(record.scores.get(name)) for name in run.metrics if counts],
        "problems": [f"{name}: {error}" for name, error in errors.items() if error],
        "gold": side_fields(record.gold_side),
        "pred": side_fields(record.pred_side),
        "gold_rows": record.gold.rows,
        "pred_rows": record.pred.rows,
        "guarded": [_guarded(verdict, one) for one in record.guarded if one.policy not in OPEN],
    }


def _score(score: float | None) -> str:
    return "?" if score is None else f"{score:.3g}"


def _state(verdict: Verdict) -> str:
    if right(verdict):
        return "right"
    if verdict.mbs:
        return "MBS"
    if verdict.scores.get("multiset_ex") is None:
        return "undecided"
    return "wrong" if verdict.record.pred.ok else "failed"


def _guarded(verdict: Verdict, one: Guarded) -> Mapping[str, Any]:
    return {
        "policy": one.policy,
        "found": one.found,
        "applied": one.applied,
        "change": (one.multiset_ex == 1.0) - right(verdict) if one.applied else 0,
        "sql": one.sql,
    }
