"""Spider 2.0-lite as it is published: questions in one file, gold and predictions in folders."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.evaluation.summary import summary
from modularsql.service.evaluating import EvalRequest, Evaluated, evaluate
from modularsql.service.run_files import load_run

Published = Callable[..., Evaluated]


@pytest.fixture
def published(tmp_path: Path, root: Path) -> Published:
    """Score answers (by question) where gold is a folder of such files; more fields by name."""

    def call(answers: dict[str, str], files: dict[str, str], **more: Any) -> Evaluated:
        gold, mine = tmp_path / "lite/evaluation_suite/gold", tmp_path / "mine"
        lines = [{"instance_id": n, "db": "shop", "question": "How many?"} for n in answers]
        texts = {gold / name: text for name, text in files.items()}
        texts |= {mine / f"{name}.sql": sql for name, sql in answers.items()}
        texts[tmp_path / "lite/spider2-lite.jsonl"] = "\n".join(map(json.dumps, lines))
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        request = EvalRequest(
            dataset=str(tmp_path / "lite"),
            predictions=[mine],
            db_root=root,
            out=tmp_path / "run",
            settings=Settings(jobs=1, timeout=5.0),
            **more,
        )
        return evaluate(request)

    return call


def test_questions_with_published_gold_are_scored_and_the_others_left_out(
    published: Published,
) -> None:
    done = published(
        {"local001": "SELECT 20.001, 'and more'", "local002": "SELECT 1", "local003": "SELECT 1"},
        {
            "sql/local001.sql": "SELECT COUNT(*) FROM t;\n",
            "sql/local002.sql": "SELECT b FROM t WHERE b < 2",
        },
        metrics=("spider2_ex", "spider2_rows_ex"),
    )
    one = done.summary["systems"]["mine"]
    assert (one["n"], one["left_out"]) == (2, {"no_gold": 1})
    assert [one[name] for name in ("set_ex", "spider2_ex", "spider2_rows_ex")] == [0.0, 0.5, 0.5]
    assert len(done.run.about["inputs"]["gold"]["sql"]["sha256"]) == 64


def test_published_results_are_gold_each_right_by_itself(
    published: Published, tmp_path: Path
) -> None:
    standards = [
        {"instance_id": "one", "condition_cols": [], "ignore_order": True},
        {"instance_id": "columns", "condition_cols": [0], "ignore_order": True},
        {"instance_id": "ordered", "condition_cols": [], "ignore_order": False},
    ]
    metrics = ["set_ex", "multiset_ex", "ordered_ex", "spider2_ex", "spider2_rows_ex", "spider_ex"]
    done = published(
        {
            "one": "SELECT b FROM t WHERE b < 2",
            "columns": "SELECT 7.001, 'my own'",
            "ordered": "SELECT b FROM t WHERE b < 2 ORDER BY b DESC",
            "twice": "SELECT DISTINCT a FROM t",
            "wrong": "SELECT 'x'",
            "absent": "SELECT 1",
        },
        {
            "lite_eval.jsonl": "\n".join(map(json.dumps, standards)),
            "exec_result/one.csv": "n\n3\n",
            "exec_result/one_a.csv": "n\n1\n0\n",
            "exec_result/columns.csv": "n,name\n7,its own\n",
            "exec_result/ordered.csv": "b\n0\n1\n",
            "exec_result/twice.csv": "a\n0\n0\n1\n",
            "exec_result/wrong.csv": "a\nX\n",
            "exec_result/unasked.csv": "a\nX\n",
        },
        metrics=metrics,
        guard=("paper",),
    )
    found = {
        v.question.id: [v.scores.get(name) for name in metrics]
        for v in done.run.verdicts["mine"]
        if v.question.id != "absent"
    }
    assert found == {
        "one": [1, 1, 1, 1, 1, 1],
        "columns": [0, 0, 0, 1, 1, 0],
        "ordered": [1, 1, 0, 0, 1, 1],
        "twice": [1, 0, 0, 0, 0, 0],
        "wrong": [0, 0, 0, 0, 0, 0],
    }
    verdicts = {v.question.id: v.record for v in done.run.verdicts["mine"]}
    assert (verdicts["one"].gold.rows, verdicts["one"].cause) == (2, "equal")
    assert (verdicts["columns"].cause, verdicts["wrong"].cause) == ("disjoint", "disjoint")
    assert [(g.policy, g.multiset_ex) for g in verdicts["one"].guarded][-1] == ("paper", 1.0)
    one = done.summary["systems"]["mine"]
    assert (one["n"], one["left_out"]) == (5, {"no_gold": 1})
    assert set(done.run.about["inputs"]["gold"]) == {"exec_result", "lite_eval.jsonl"}
    again = load_run(tmp_path / "run")
    assert summary(again) == done.summary


def test_of_several_gold_queries_one_is_enough(eval_request: Callable[..., EvalRequest]) -> None:
    gold = [["SELECT 1", "SELECT 2"], ["SELECT nope", "SELECT 2"], ["SELECT 1", "SELECT 2"]]
    lines = [{"id": at, "db": "shop", "gold": sqls} for at, sqls in enumerate(gold)]
    answers = {"mine": ["SELECT 2", "SELECT 2", "SELECT 3"]}
    done = evaluate(eval_request(lines, answers, metrics=["set_ex"], smells=True))
    assert [v.scores["set_ex"] for v in done.run.verdicts["mine"]] == [1.0, 1.0, 0.0]
    assert done.summary["systems"]["mine"]["n"] == 3


def test_a_result_that_is_no_table_leaves_its_question_out(published: Published) -> None:
    done = published({"one": "SELECT 1"}, {"exec_result/one.csv": ""})
    (verdict,) = done.run.verdicts["mine"]
    assert (verdict.record.gold.status, done.summary["systems"]["mine"]["n"]) == ("error", 0)
    assert "is empty" in (verdict.record.gold.error or "")
