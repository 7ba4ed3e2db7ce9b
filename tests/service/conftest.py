"""Tiny databases, data sets and prediction sets for the use cases."""

import json
import sqlite3
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.evaluation.batch import Batch
from modularsql.evaluation.log import Record
from modularsql.ports import Model
from modularsql.service import evaluating, in_workers
from modularsql.service.evaluating import EvalRequest, Evaluated, evaluate
from modularsql.service.in_workers import Repaired, Task
from modularsql.service.repairing import RepairRequest, RepairSummary, repair
from modularsql.service.workers import Work


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with two databases: `shop` (copies in `t`), `club` (hardly any in `m`)."""
    root = tmp_path / "databases"
    for name, script in (
        ("shop", "CREATE TABLE t(a, b)"),
        ("club", "CREATE TABLE m(name, joined)"),
    ):
        (root / name).mkdir(parents=True)
        with sqlite3.connect(root / name / f"{name}.sqlite") as connection:
            connection.execute(script)
            if name == "shop":
                rows = [(at % 2, at) for at in range(20)]
                connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
            else:
                members = [("Kari", 1), ("Kari", 2)] + [(f"m{at}", at) for at in range(18)]
                connection.executemany("INSERT INTO m VALUES (?, ?)", members)
        connection.close()
    return root


@pytest.fixture
def dataset(tmp_path: Path) -> Callable[..., str]:
    """A data set of ours from database names; the ids are q0, q1 and so on."""

    def make(*databases: str) -> str:
        path = tmp_path / "set.jsonl"
        lines = [json.dumps({"id": f"q{at}", "db": db}) for at, db in enumerate(databases)]
        path.write_text("\n".join(lines))
        return str(path)

    return make


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker does, done here: for tests of the files that go in and come out."""

    def work(
        tasks: list[Task], settings: Settings, model: Model | None = None
    ) -> Generator[Repaired, None, None]:
        in_workers.prepare(settings, model)
        yield from map(in_workers.guarded, tasks)

    monkeypatch.setattr("modularsql.service.repairing.guard_all", work)


@pytest.fixture
def repaired(
    tmp_path: Path, root: Path, dataset: Callable[..., str]
) -> Callable[..., RepairSummary]:
    """Repair a JSON list of SQL (or the file given) to `out`, all on `shop` unless said.

    By the paper's policy unless said: its DISTINCT is easy to see in what comes out.
    """

    def call(
        predictions: Sequence[Any] | Path, databases: Sequence[str] = (), **settings: Any
    ) -> RepairSummary:
        if not isinstance(predictions, Path):
            path = tmp_path / "pred.json"
            path.write_text(json.dumps(predictions))
            databases, predictions = databases or ["shop"] * len(predictions), path
        request = RepairRequest(
            dataset=dataset(*databases),
            predictions=predictions,
            db_root=root,
            out=tmp_path / "out",
            settings=Settings(**{"jobs": 1, "policy": "paper", **settings}),
        )
        return repair(request)

    return call


@pytest.fixture
def batches_run(monkeypatch: pytest.MonkeyPatch) -> list[Batch]:
    """Work in this process instead of workers; the batches that came by."""
    seen: list[Batch] = []

    def run_here(
        batches: Sequence[Batch], work: Work[Batch, list[Record]], settings: Settings
    ) -> Generator[list[list[Record]], None, None]:
        work.prepare(settings)
        for batch in batches:
            seen.append(batch)
            yield [work.do(batch)]

    monkeypatch.setattr(evaluating, "run_all", run_here)
    return seen


@pytest.fixture
def eval_request(tmp_path: Path, root: Path) -> Callable[..., EvalRequest]:
    """A request to score answers (by system) to gold queries on `shop`; more fields by name."""

    def make(gold: Sequence[Any], systems: dict[str, Sequence[Any]], **more: Any) -> EvalRequest:
        lines = [
            {"id": f"q{at}", "db": "shop", "gold": sql} if isinstance(sql, str | None) else sql
            for at, sql in enumerate(gold)
        ]
        (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, lines)))
        paths = []
        for name, answers in systems.items():
            paths.append(tmp_path / f"{name}.json")
            paths[-1].write_text(json.dumps(answers))
        fields = {"settings": Settings(jobs=1, timeout=5.0), "out": tmp_path / "run", **more}
        return EvalRequest(
            dataset=str(tmp_path / "set.jsonl"), predictions=paths, db_root=root, **fields
        )

    return make


@pytest.fixture
def scored(
    eval_request: Callable[..., EvalRequest], batches_run: list[Batch]
) -> Callable[..., Evaluated]:
    """What comes of an `eval_request`, in this process."""

    def call(gold: Sequence[Any], systems: dict[str, Sequence[Any]], **more: Any) -> Evaluated:
        return evaluate(eval_request(gold, systems, **more))

    return call
