"""`predict`: a small Spider set, a model by script, a run that is stopped and goes on."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from modularsql import Settings
from modularsql.errors import InputError, ModelError
from modularsql.evaluation.datasets import read_dataset
from modularsql.evaluation.predictions import read_predictions
from modularsql.llm.script import ScriptedModel
from modularsql.ports import ChatRequest
from modularsql.service.indexing import IndexRequest, index
from modularsql.service.predicting import PredictRequest, predict

QUESTIONS = [
    {"db_id": "zoo", "question": "How many animals?", "query": "SELECT COUNT(*) FROM animal"},
    {"db_id": "zoo", "question": "Which names?", "query": "SELECT name FROM animal"},
    {"db_id": "gone", "question": "Nothing?", "query": "SELECT 1"},
    {"db_id": "zoo", "question": "What is love?", "query": "SELECT 1"},
]


def said(request: ChatRequest) -> str:
    text = request.messages[-1].text
    if "How many animals?" in text:
        return "SELECT COUNT(*) FROM animal"
    if "Which names?" in text:
        return "SELECT name FROM animal"
    return "NOT ANSWERABLE: nobody knows"


@pytest.fixture
def request_(tmp_path: Path) -> Any:
    root = tmp_path / "database" / "zoo"
    root.mkdir(parents=True)
    with sqlite3.connect(root / "zoo.sqlite") as writer:
        writer.executescript(
            "CREATE TABLE animal(id INTEGER PRIMARY KEY, name TEXT);"
            "INSERT INTO animal(name) VALUES ('owl'), ('elk');"
        )
    writer.close()
    (tmp_path / "dev.json").write_text(json.dumps(QUESTIONS))

    def make(model: Any, **more: Any) -> PredictRequest:
        settings = Settings(**{"jobs": 2, "samples": 1, "linking_samples": 1, **more})
        return PredictRequest(
            dataset=str(tmp_path / "dev.json"),
            db_root=tmp_path / "database",
            out=tmp_path / "run",
            settings=settings,
            model=model,
        )

    return make


def test_predictions_pools_and_traces_are_written_as_others_read_them(request_: Any) -> None:
    request = request_(ScriptedModel(said))
    summary = predict(request)
    assert (summary.questions, summary.answered) == (4, 2)
    assert summary.problems == {"no database": 1, "nobody knows": 1}
    assert summary.cost.llm_calls > 0
    assert summary.not_indexed == 1
    dataset = read_dataset(request.dataset)
    read = read_predictions(request.out / "predictions.json", dataset)
    assert [item.sql for item in read.items][:2] == [
        "SELECT COUNT(*) FROM animal",
        "SELECT name FROM animal",
    ]
    pools = [json.loads(line) for line in (request.out / "pools.jsonl").read_text().splitlines()]
    assert pools[1] == {"id": "1", "db": "zoo", "candidates": ["SELECT name FROM animal"]}
    trace = json.loads((request.out / "traces" / "0.json").read_text())
    assert [stage["stage"] for stage in trace["stages"]][-1] == "guard"


def test_what_looks_no_value_up_needs_no_index(request_: Any) -> None:
    for changed in ({"show_values": "no"}, {"without": "values"}):
        request = request_(ScriptedModel(said))
        request = replace(
            request,
            settings=replace(request.settings, **changed),
            out=request.out / next(iter(changed)),
        )
        assert predict(request).not_indexed == 0


def test_a_run_that_was_cut_goes_on_where_it_was(request_: Any) -> None:
    predict(request_(ScriptedModel(said)))
    log = request_(None).out / "log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2]) + lines[2][:10])
    model = ScriptedModel(said)
    summary = predict(request_(model))
    assert (summary.resumed, summary.questions) == (2, 4)
    assert len(log.read_bytes().splitlines()) == 3, "the one without a database is open"
    again = ScriptedModel(said)
    assert predict(request_(again)).resumed == 3
    assert again.requests == []


def test_other_settings_never_go_on_with_old_results(request_: Any) -> None:
    predict(request_(ScriptedModel(said)))
    with pytest.raises(InputError, match="other inputs: settings samples"):
        predict(request_(ScriptedModel(said), samples=2))
    predict(request_(ScriptedModel(said), jobs=1))


def make_database(root: Path, name: str) -> Path:
    path = root / name / f"{name}.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as writer:
        writer.executescript(f"CREATE TABLE {name}_keeper(name TEXT);")
    writer.close()
    return path


def described(request: PredictRequest) -> None:
    folder = Path(request.db_root) / "zoo" / "database_description"
    folder.mkdir()
    (folder / "animal.csv").write_text("original_column_name,column_description\nname,how\n")


CHANGES: dict[str, Any] = {
    "zoo.sqlite": lambda request: make_database(request.db_root, "zoo"),
    "animal.csv": described,
    r"zoo-\w+.sqlite": lambda request: index(
        IndexRequest(
            target=str(Path(request.db_root) / "zoo" / "zoo.sqlite"), settings=request.settings
        )
    ),
}


@pytest.mark.parametrize("file", CHANGES)
def test_other_data_never_goes_on_with_old_results(
    request_: Any, tmp_path: Path, file: str
) -> None:
    request = request_(ScriptedModel(said), index_dir=str(tmp_path / "index"))
    predict(request)
    assert predict(request).resumed == 3
    CHANGES[file](request)
    with pytest.raises(InputError, match=f"other inputs: databases zoo {file}"):
        predict(request)


def test_who_reads_an_index_leaves_it_as_it_is(request_: Any, tmp_path: Path) -> None:
    request = request_(ScriptedModel(said), index_dir=str(tmp_path / "index"))
    CHANGES[r"zoo-\w+.sqlite"](request)
    predict(request)
    assert predict(request).resumed == 3


def test_a_database_that_comes_later_is_taken_in_and_kept_to_from_then_on(request_: Any) -> None:
    predict(request_(ScriptedModel(said)))
    root = request_(None).db_root
    path = make_database(root, "gone")
    assert predict(request_(ScriptedModel(said))).failed == 0
    with sqlite3.connect(path) as writer:
        writer.execute("CREATE TABLE more(x)")
    writer.close()
    with pytest.raises(InputError, match="databases gone gone"):
        predict(request_(ScriptedModel(said)))


def test_no_database_at_all_is_a_wrong_folder(request_: Any, tmp_path: Path) -> None:
    request = replace(request_(ScriptedModel(said)), db_root=tmp_path / "elsewhere")
    with pytest.raises(InputError, match="holds none of the 2 databases"):
        predict(request)


def test_a_question_whose_model_fails_is_asked_again_by_the_next_run(request_: Any) -> None:
    def sometimes(request: ChatRequest) -> Any:
        if "Which names?" in request.messages[-1].text:
            return ModelError("the server is gone", "", "model")
        return said(request)

    summary = predict(request_(ScriptedModel(sometimes)))
    assert (summary.answered, summary.failed) == (1, 2)
    assert sum(n for why, n in summary.problems.items() if "the server is gone" in why) == 1
    summary = predict(request_(ScriptedModel(said)))
    assert (summary.answered, summary.failed, summary.resumed) == (2, 1, 2)


@pytest.mark.parametrize(
    ("content", "said_of_it"), [(b"no database at all", "bad"), (b"", "is empty")]
)
def test_a_database_that_does_not_open_keeps_no_other_from_its_answers(
    request_: Any, content: bytes, said_of_it: str
) -> None:
    request = request_(ScriptedModel(said))
    bad = request.db_root / "bad"
    bad.mkdir()
    (bad / "bad.sqlite").write_bytes(content)
    lines = [{**QUESTIONS[0], "db_id": "bad"}, *QUESTIONS]
    Path(request.dataset).write_text(json.dumps(lines))
    summary = predict(request)
    assert (summary.answered, summary.failed) == (2, 2)
    assert any(said_of_it in why for why in summary.problems), summary.problems
