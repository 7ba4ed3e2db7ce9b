"""The studies of `ask`, over a run whose every fact is known."""

import json
from pathlib import Path

import pytest
from benchmarks import studies
from tests.conftest import write_database
from tests.pipeline.conftest import SHOP

from modularsql import Settings
from modularsql.engines.connect import connect
from modularsql.llm.script import ScriptedModel
from modularsql.ports import ChatRequest
from modularsql.service.predicting import PredictRequest, predict

BONN = "SELECT name FROM customer WHERE town = 'Bonn'"
KIEL = "SELECT name FROM customer WHERE town = 'Kiel'"
REPLIES = {
    "linking.direct": '{"customer": ["name"], "product": []}',
    "linking.reversed": BONN,
    "generation.skeleton": BONN,
    "generation.icl": KIEL,
    "generation.divide": KIEL,
    "selection": "A",
}


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[studies.Seen]:
    """Two questions: skeleton is right on the first, the others on the second."""
    monkeypatch.setattr("modularsql.service.asking.IsolatedEngine", connect)
    (tmp_path / "shop").mkdir()
    write_database("sqlite", tmp_path / "shop" / "shop.sqlite", SHOP)
    lines = [
        {"id": "1", "db": "shop", "question": "Who lives in Bonn?", "gold": BONN},
        {"id": "2", "db": "shop", "question": "Who lives in Kiel?", "gold": KIEL},
    ]
    dataset = tmp_path / "set.jsonl"
    dataset.write_text("\n".join(map(json.dumps, lines)))

    def say(request: ChatRequest) -> str:
        return REPLIES[next(name for name in REPLIES if request.stage.startswith(name))]

    predict(
        PredictRequest(
            dataset=str(dataset),
            db_root=tmp_path,
            out=tmp_path / "run",
            settings=Settings(jobs=1, confidence=1.0),
            model=ScriptedModel(say),
        )
    )
    return studies.read_run(tmp_path / "run", str(dataset), tmp_path)


def test_what_the_studies_tell(seen: list[studies.Seen]) -> None:
    assert [one.right(one.sql) for one in seen] == [False, True]
    linkers = {row["linker"]: row for row in studies.linkers(seen).records()}
    assert linkers["direct"]["table recall"] == 1
    assert linkers["direct"]["table precision"] == 0.5
    assert linkers["direct"]["column recall"] == 0.5
    assert linkers["reversed"]["column precision"] == 1
    generators = {row["generator"]: row for row in studies.generators(seen).records()}
    assert generators["skeleton"]["EX of a sample"] == 0.5
    assert generators["skeleton"]["only here"] == 0.5
    assert generators["icl"]["only here"] == 0
    assert generators["all"]["upper bound"] == 1
    assert generators["icl and divide both"]["upper bound"] == 0.5
    (confidence,) = studies.confidence(seen).records()
    assert (confidence["questions"], confidence["EX"]) == (2, 0.5)
    assert studies.errors(seen).records() == [{"kind": "value", "questions": 1}]
    sweep = {row["threshold"]: row for row in studies.shortcut(seen).records()}
    assert (sweep[0.6]["judged"], sweep[0.7]["judged"]) == (0, 1)
    assert {row["stage"]: row["calls"] for row in studies.costs(seen).records()}["generation"] == 3
    assert sum(row["questions"] for row in studies.by_size(seen).records()) == 2
