"""Spider 2.0-lite as it is published: questions in one file, gold and predictions in folders."""

import json
from pathlib import Path

from modularsql.config import Settings
from modularsql.service.evaluating import EvalRequest, evaluate


def test_questions_with_published_gold_are_scored_and_the_others_left_out(
    tmp_path: Path, root: Path
) -> None:
    gold, answers = tmp_path / "lite/evaluation_suite/gold/sql", tmp_path / "mine"
    gold.mkdir(parents=True)
    answers.mkdir()
    names = ("local001", "local002", "local003")
    lines = [{"instance_id": n, "db": "shop", "question": "How many?"} for n in names]
    (tmp_path / "lite/spider2-lite.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (gold / "local001.sql").write_text("SELECT COUNT(*) FROM t;\n")
    (gold / "local002.sql").write_text("SELECT b FROM t WHERE b < 2")
    (answers / "local001.sql").write_text("SELECT 20.001, 'and more'")
    (answers / "local002.sql").write_text("SELECT 1")
    (answers / "local003.sql").write_text("SELECT 1")
    done = evaluate(
        EvalRequest(
            dataset=str(tmp_path / "lite"),
            predictions=[answers],
            db_root=root,
            out=tmp_path / "run",
            settings=Settings(jobs=1, timeout=5.0),
            metrics=("spider2_ex", "spider2_rows_ex"),
        )
    )
    one = done.summary["systems"]["mine"]
    assert (one["n"], one["left_out"]) == (2, {"no_gold": 1})
    assert [one[name] for name in ("set_ex", "spider2_ex", "spider2_rows_ex")] == [0.0, 0.5, 0.5]
    assert len(done.run.about["inputs"]["gold"]["sha256"]) == 64
