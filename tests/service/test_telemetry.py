"""Spans of `guard` and `repair`: one trace for a command, and none where nobody asked for it."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.llm.script import ScriptedModel
from modularsql.service.guarding import GuardRequest, guard
from modularsql.service.repairing import RepairRequest, repair

BROKEN = "SELECT c FROM t"
POOL = [BROKEN, "SELECT b FROM t"]


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that takes the second candidate."""
    for module in ("guarding", "repairing"):
        made = ScriptedModel(["1"], name="m")
        monkeypatch.setattr(f"modularsql.service.{module}.connect_model", lambda _, made=made: made)


def in_one_trace(spans: Any) -> Counter[str]:
    """How many spans there are of each name, all in one trace."""
    found = spans.get_finished_spans()
    assert len({one.context.trace_id for one in found}) <= 1
    return Counter(one.name for one in found)


@pytest.mark.parametrize("telemetry", ["on", "off"])
def test_queries_and_calls_of_guard_are_spans(
    root: Path, tmp_path: Path, spans: Any, telemetry: str
) -> None:
    (tmp_path / "pool.json").write_text(json.dumps(POOL))
    answer = guard(
        GuardRequest(
            target=str(root / "shop" / "shop.sqlite"),
            sql=BROKEN,
            settings=Settings(telemetry=telemetry, policy="paper"),
            fix=True,
            candidates=tmp_path / "pool.json",
        )
    )
    assert answer.final_sql == POOL[1]
    found = in_one_trace(spans)
    if telemetry == "off":
        assert not found
    else:
        assert (found["guard"], found["chat m"]) == (1, 1)
        assert found["query sqlite"] >= 3  # the query, two candidates


def test_calls_of_repair_are_spans_though_workers_make_them(
    root: Path, tmp_path: Path, spans: Any
) -> None:
    for name, value in (
        ("set.jsonl", {"id": "one", "db": "shop"}),
        ("pools.jsonl", {"id": "one", "candidates": POOL}),
        ("pred.json", {"one": BROKEN}),
    ):
        (tmp_path / name).write_text(json.dumps(value))
    summary = repair(
        RepairRequest(
            dataset=str(tmp_path / "set.jsonl"),
            predictions=tmp_path / "pred.json",
            db_root=root,
            out=tmp_path / "out.json",
            settings=Settings(jobs=1, telemetry="on", policy="paper"),
            pools=tmp_path / "pools.jsonl",
        )
    )
    assert summary.changed == 1
    assert in_one_trace(spans) == {"repair": 1, "chat m": 1}
