"""The studies of `ask`, over a run whose every fact is known."""

import json
from pathlib import Path

import pytest
from benchmarks import studies
from benchmarks.differences import error_kind, jaccard
from tests.conftest import write_database
from tests.pipeline.conftest import SHOP
from tests.pipeline.conftest import shop as shop  # the fixture

from modularsql import Settings
from modularsql.engines.connect import connect
from modularsql.llm.script import ScriptedModel
from modularsql.ports import ChatRequest, Engine
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


Solved = list[tuple[str, str]]


def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, solved: Solved, choice: str = "nearest"
) -> list[studies.Seen]:
    """Two questions: skeleton is right on the first, the others on the second."""
    monkeypatch.setattr("modularsql.service.asking.IsolatedEngine", connect)
    (folder / "shop").mkdir(parents=True)
    write_database("sqlite", folder / "shop" / "shop.sqlite", SHOP)
    lines = [
        {"id": "1", "db": "shop", "question": "Who lives in Bonn?", "gold": BONN},
        {"id": "2", "db": "shop", "question": "Who lives in Kiel?", "gold": KIEL},
    ]
    dataset, examples = folder / "set.jsonl", folder / "examples.jsonl"
    dataset.write_text("\n".join(map(json.dumps, lines)))
    examples.write_text("\n".join(json.dumps({"question": q, "sql": s}) for q, s in solved))

    def say(request: ChatRequest) -> str:
        return REPLIES[next(name for name in REPLIES if request.stage.startswith(name))]

    predict(
        PredictRequest(
            dataset=str(dataset),
            db_root=folder,
            out=folder / "run",
            settings=Settings(jobs=1, confidence=1.0, examples=1, example_choice=choice),
            examples=examples,
            model=ScriptedModel(say),
        )
    )
    return studies.read_run(folder / "run", str(dataset), folder)


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[studies.Seen]:
    return run(tmp_path, monkeypatch, [])


def test_what_the_studies_tell(seen: list[studies.Seen], tmp_path: Path) -> None:
    assert studies.judged_always(tmp_path / "run")
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
    assert studies.errors(seen).records() == [{"kind": "value: mapping", "questions": 1}]
    sweep = {row["threshold"]: row for row in studies.shortcut(seen).records()}
    assert (sweep[0.6]["judged"], sweep[0.7]["judged"]) == (0, 1)
    assert {row["stage"]: row["calls"] for row in studies.costs(seen).records()}["generation"] == 3
    assert sum(row["questions"] for row in studies.by_size(seen).records()) == 2


@pytest.mark.parametrize(
    ("sql", "gold", "kind"),
    [
        ("SELECT town FROM customer", "SELECT name FROM customer", "schema: selection"),
        (
            "SELECT c.id FROM customer c JOIN purchase p ON p.id = c.id WHERE customer_id > 0",
            "SELECT c.id FROM customer c JOIN purchase p ON p.customer_id = c.id WHERE p.id > 0",
            "schema: join",
        ),
        (KIEL, BONN, "value: mapping"),
        (BONN.replace("Bonn", " bonn"), BONN, "value: format"),
        ("SELECT MAX(id) FROM product", "SELECT SUM(id) FROM product", "function: aggregation"),
        ("SELECT id * 1 FROM product", "SELECT id + 1 FROM product", "function: calculation"),
        (BONN.replace("=", "<>"), BONN, "logic: filter"),
        ("SELECT id FROM product", "SELECT DISTINCT id FROM product", "logic: presentation"),
        (
            "SELECT name FROM customer WHERE town = 'Bonn' OR id = 1",
            "SELECT name FROM customer WHERE town = 'Bonn' AND id = 1",
            "logic: filter",
        ),
    ],
)  # fmt: skip
def test_errors_have_the_classes_of_the_paper(sql: str, gold: str, kind: str, shop: Engine) -> None:
    assert error_kind(sql, gold, shop.catalog()) == kind


def test_the_examples_of_a_run_are_read_from_its_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ulm = "SELECT name FROM customer WHERE town = 'Ulm'"
    solved = [("Who lives in Ulm?", ulm), ("x", "SELECT 1")]
    near, far = (
        studies.examples(run(tmp_path / choice, monkeypatch, solved, choice))
        for choice in ("nearest", "farthest")
    )
    assert near == (jaccard(ulm, BONN), 0.5)
    assert far == (jaccard("SELECT 1", BONN), 0.5)
