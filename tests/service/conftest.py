"""Tiny databases, data sets and prediction sets for the use cases."""

import json
import sqlite3
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.ports import Model
from modularsql.service import in_workers
from modularsql.service.in_workers import Repaired, Task
from modularsql.service.repairing import RepairRequest, RepairSummary, repair


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
