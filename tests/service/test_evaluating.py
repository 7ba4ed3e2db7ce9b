"""`eval`: what is scored, what is written, and that it is never run twice."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from modularsql.config import Settings
from modularsql.engines.sqlite import SqliteEngine
from modularsql.errors import InputError
from modularsql.evaluation.batch import Batch
from modularsql.evaluation.log import Side
from modularsql.evaluation.summary import summary
from modularsql.records import Failure, FailureKind
from modularsql.service import run_folder
from modularsql.service.evaluating import EvalRequest, Evaluated, evaluate
from modularsql.service.run_files import load_run

ALL, COPIES, DISTINCT = "SELECT b FROM t", "SELECT a FROM t", "SELECT DISTINCT a FROM t"

Scored = Callable[..., Evaluated]


def table(tmp_path: Path, name: str) -> list[dict[str, Any]]:
    cursor = duckdb.execute(f"SELECT * FROM '{tmp_path}/run/{name}.parquet'")
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def test_the_files_of_a_run_say_what_the_contract_says(scored: Scored, tmp_path: Path) -> None:
    done = scored([DISTINCT, ALL, ALL], {"one": [COPIES, ALL, "SELECT nope"]})
    rows = table(tmp_path, "verdicts")
    assert [row["id"] for row in rows] == ["q0", "q1", "q2"]
    first, second, third = rows
    assert (first["set_ex"], first["multiset_ex"], first["cause"]) == (1.0, 0.0, "missing_distinct")
    assert (first["gold_rows"], first["pred_rows"], first["dup_ratio"]) == (2, 20, 0.9)
    assert (second["set_ex"], second["multiset_ex"], second["cause"]) == (1.0, 1.0, "equal")
    assert (third["set_ex"], third["pred_status"], third["cause"]) == (0.0, "error", "error")
    assert "nope" in third["pred_error"]
    contract = """system id db difficulty gold_status pred_status set_ex multiset_ex ordered_ex
        gold_rows pred_rows dup_ratio cause gold_ms pred_ms findings"""
    assert set(contract.split()) <= set(first)
    written = json.loads((tmp_path / "run" / "summary.json").read_text())
    one = written["systems"]["one"]
    assert one["n"] == 3
    assert one["set_ex"] == pytest.approx(2 / 3)
    assert one["multiset_ex"] == pytest.approx(1 / 3)
    assert one["gap"] == pytest.approx(1 / 3)
    assert (one["mbs"], one["mbs_ids"]) == (1, ["q0"])
    low, high = one["intervals"]["set_ex"]
    assert low < 2 / 3 < high
    assert written == json.loads(json.dumps(done.summary))
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    inputs = record["inputs"]
    for marks in (inputs["dataset"], inputs["systems"]["one"], inputs["databases"]["shop"]):
        assert len(marks["sha256"]) == 64
    assert record["versions"]["sqlite"] == sqlite3.sqlite_version


def test_results_are_kept_where_they_differ_with_the_differing_rows_marked(
    scored: Scored, tmp_path: Path
) -> None:
    one_more = "SELECT b FROM t UNION ALL SELECT 99"
    scored([ALL, ALL], {"one": [ALL, one_more]})
    (row,) = table(tmp_path, "results")
    gold, pred = json.loads(row["gold"]), json.loads(row["pred"])
    assert row["id"] == "q1"
    assert not any(gold["differs"])
    assert [
        cells for cells, marked in zip(pred["rows"], pred["differs"], strict=True) if marked
    ] == [[99]]
    assert pred["places"][-1] == 20


def test_a_run_is_read_back_as_it_was(scored: Scored, tmp_path: Path) -> None:
    nothing = "SELECT a FROM t WHERE b < 0"
    gold = [DISTINCT, ALL, "SELECT gone", "SELECT a, b FROM t", nothing]
    answers = {
        "one": [COPIES, "SELECT nope", "", "SELECT b, 1, a FROM t", "SELECT 1 WHERE 0"],
        "two": [DISTINCT, ALL, 5, "SELECT b FROM t", ALL],
    }
    done = scored(gold, answers, guard=("grain",))
    maps = {name: verdicts[3].record.columns for name, verdicts in done.run.verdicts.items()}
    assert maps == {"one": (2, 0), "two": (None, 0)}
    systems = done.summary["systems"].values()
    assert [one["right_on_empty_gold"] for one in systems] == [1, 0]
    again = load_run(tmp_path / "run")
    assert summary(again) == done.summary
    for name, verdicts in done.run.verdicts.items():
        for before, after in zip(verdicts, again.verdicts[name], strict=True):
            assert after.question == before.question
            assert after.pred_sql == before.pred_sql
            one, other = before.record, after.record
            for field in ("scores", "cause", "columns", "guarded"):
                assert getattr(other, field) == getattr(one, field)
            assert other.gold.status == one.gold.status
            assert other.pred.dup_ratio == one.pred.dup_ratio
            assert isinstance(other.gold_side, Side | None)
            assert other.gold_side == one.gold_side
            assert other.pred_side == one.pred_side


def test_every_statement_of_a_database_is_run_once(
    scored: Scored, monkeypatch: pytest.MonkeyPatch
) -> None:
    from modularsql.engines.sqlite import SqliteEngine

    ran: list[str] = []
    execute = SqliteEngine.execute

    def counting(self: SqliteEngine, sql: str, *args: Any, **kwargs: Any) -> Any:
        ran.append(sql)
        return execute(self, sql, *args, **kwargs)

    monkeypatch.setattr(SqliteEngine, "execute", counting)
    answers = {"one": [ALL, COPIES, COPIES], "two": [COPIES, COPIES, ALL], "three": [ALL] * 3}
    scored([ALL, DISTINCT, ALL], answers)
    stripped = DISTINCT.replace("DISTINCT", "")  # for Spider's evaluator, which takes it out
    assert sorted(ran) == sorted([ALL, DISTINCT, COPIES, stripped])


def test_the_denominator_leaves_out_gold_that_cannot_run(scored: Scored) -> None:
    gone = {"id": "q3", "db": "elsewhere", "gold": ALL}
    done = scored([ALL, "SELECT nope", None, gone], {"one": [ALL] * 4})
    one = done.summary["systems"]["one"]
    assert "gold that is missing or does not run, left out: q1, q2" in done.notes
    assert (one["questions"], one["n"], one["set_ex"]) == (4, 1, 1.0)
    assert one["left_out"] == {"error": 1, "no_gold": 1, "no_database": 1}


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


def test_slow_gold_is_counted_unless_the_preset_leaves_it_out(
    scored: Scored, tmp_path: Path
) -> None:
    quick = Settings(timeout=0.2)
    done = scored([ENDLESS, ALL], {"one": [ALL, ALL]}, settings=quick)
    one = done.summary["systems"]["one"]
    assert (one["n"], one["set_ex"], one["undecided"]["set_ex"]) == (2, 0.5, 1)
    assert one["slow_gold"] == ["q0"]
    (note,) = done.notes
    assert "q0" in note
    (tmp_path / "run").rename(tmp_path / "before")
    done = scored([ENDLESS, ALL], {"one": [ALL, ALL]}, settings=quick, slow_gold_out=True)
    one = done.summary["systems"]["one"]
    assert (one["n"], one["set_ex"], one["slow_gold"]) == (1, 1.0, ["q0"])


@pytest.mark.parametrize(
    ("sql", "status", "score"),
    [
        ("", "no_sql", 0.0),
        (None, "no_sql", 0.0),
        (7, "no_sql", 0.0),
        (["SELECT 1"], "no_sql", 0.0),
        ("SELECT", "error", 0.0),
        ("DROP TABLE t", "refused", 0.0),
        ("SELECT 1; SELECT 2", "refused", 0.0),
        ("SELECT load_extension('x')", "refused", 0.0),
        (ENDLESS, "timeout", 0.0),
        ("SELECT b FROM t, (SELECT 1 UNION SELECT 2)", "truncated", 0.0),
        ("SELECT b FROM t", "ok", 1.0),
    ],
)
def test_a_bad_prediction_is_a_status_and_no_wrong_score(
    scored: Scored, tmp_path: Path, sql: Any, status: str, score: float
) -> None:
    scored([ALL, ALL], {"one": [sql, ALL]}, settings=Settings(timeout=0.5, score_rows=25))
    first, second = table(tmp_path, "verdicts")
    assert (first["pred_status"], first["multiset_ex"]) == (status, score)
    assert second["multiset_ex"] == 1.0


BACKWARDS, ORDERED = "SELECT b FROM t ORDER BY b DESC", "SELECT b FROM t ORDER BY b"
NEAR = "SELECT CASE b WHEN 19 THEN 20 ELSE b END FROM t"


def test_a_result_beyond_the_cap_is_decided_as_a_multiset_by_streams(
    scored: Scored, tmp_path: Path
) -> None:
    gold = [ALL, ALL, ORDERED, ALL]
    answers = {"one": [BACKWARDS, NEAR, BACKWARDS, COPIES]}
    done = scored(gold, answers, settings=Settings(score_rows=10))
    rows = table(tmp_path, "verdicts")
    assert {row["gold_status"] for row in rows} == {"truncated"}
    assert [row["multiset_ex"] for row in rows] == [1.0, 0.0, 1.0, 0.0]
    # Which rows differ is not known, nor how the rest is ordered.
    assert [row["set_ex"] for row in rows] == [1.0, None, 1.0, None]
    assert [row["ordered_ex"] for row in rows] == [1.0, 0.0, None, 0.0]
    assert done.summary["systems"]["one"]["undecided"]["set_ex"] == 2
    assert done.summary["systems"]["one"]["n"] == 4


def test_a_result_beyond_the_cap_that_no_stream_decides_stays_undecided(
    scored: Scored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed_out = Failure(kind=FailureKind.TIMEOUT, message="too slow")
    monkeypatch.setattr(SqliteEngine, "fold", lambda *_, **__: timed_out)
    done = scored([ALL], {"one": [BACKWARDS]}, settings=Settings(score_rows=10))
    assert table(tmp_path, "verdicts")[0]["multiset_ex"] is None
    assert done.summary["systems"]["one"]["undecided"]["multiset_ex"] == 1


def test_a_second_call_runs_nothing_and_says_the_same(
    scored: Scored, batches_run: list[Batch], tmp_path: Path
) -> None:
    first = scored([ALL, DISTINCT], {"one": [ALL, COPIES]})
    before = len(batches_run)
    second = scored([ALL, DISTINCT], {"one": [ALL, COPIES]})
    assert (second.resumed, len(batches_run)) == (2, before)
    assert second.summary == first.summary


def test_a_log_that_was_cut_is_gone_on_with(
    scored: Scored, batches_run: list[Batch], tmp_path: Path
) -> None:
    first = scored([ALL, DISTINCT, COPIES], {"one": [ALL, COPIES, "SELECT 1"]})
    log = tmp_path / "run" / "log.jsonl"
    content = log.read_bytes()
    log.write_bytes(content[: content.index(b"\n") + 20])
    batches_run.clear()
    second = scored([ALL, DISTINCT, COPIES], {"one": [ALL, COPIES, "SELECT 1"]})
    assert second.resumed == 1
    assert second.summary == first.summary
    assert sum(len(u.asked) for batch in batches_run for u in batch.units) == 2
    assert len(log.read_bytes().splitlines()) == 3


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"metrics": ("set_ex",)}, "metrics"),
        ({"settings": Settings(timeout=6.0)}, "settings timeout"),
        ({"guard": ("paper",)}, "guard"),
        ({"slow_gold_out": True}, "slow_gold_out"),
    ],
)
def test_a_folder_with_another_run_is_refused(
    scored: Scored, change: dict[str, Any], named: str
) -> None:
    scored([ALL], {"one": [ALL]})
    with pytest.raises(InputError, match="over other inputs") as caught:
        scored([ALL], {"one": [ALL]}, **change)
    assert named in caught.value.message


def test_other_predictions_or_data_are_another_run(scored: Scored, root: Path) -> None:
    scored([ALL], {"one": [ALL]})
    with pytest.raises(InputError, match="systems one"):
        scored([ALL], {"one": [COPIES]})
    with sqlite3.connect(root / "shop" / "shop.sqlite") as connection:
        connection.execute("INSERT INTO t VALUES (5, 5)")
    connection.close()
    with pytest.raises(InputError, match="databases shop"):
        scored([ALL], {"one": [ALL]})


def test_what_stands_in_the_log_beside_a_database_is_data_too(scored: Scored, root: Path) -> None:
    database = root / "shop" / "shop.sqlite"
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        scored([ALL], {"one": [ALL]})
        file = (database.stat().st_size, database.read_bytes())
        connection.execute("INSERT INTO t VALUES (5, 5)")
        assert file == (database.stat().st_size, database.read_bytes())
        with pytest.raises(InputError, match="databases shop"):
            scored([ALL], {"one": [ALL]})


def test_two_runs_in_one_folder_are_one_too_many(scored: Scored, tmp_path: Path) -> None:
    with run_folder.locked(tmp_path / "run"), pytest.raises(InputError, match="at work in"):
        scored([ALL], {"one": [ALL]})
    scored([ALL], {"one": [ALL]})


@pytest.mark.parametrize(
    "damage", [b"not a database at all", b"SQLite format 3\0" + b"\xff" * 4096, b""]
)
def test_a_corrupt_database_is_named_and_its_questions_are_not_scored(
    scored: Scored, root: Path, damage: bytes
) -> None:
    (root / "bad").mkdir()
    (root / "bad" / "bad.sqlite").write_bytes(damage)
    gold = [ALL, {"id": "q1", "db": "bad", "gold": "SELECT 1"}]
    done = scored(gold, {"one": [ALL, "SELECT 1"]})
    one = done.summary["systems"]["one"]
    assert (one["n"], one["set_ex"], one["left_out"]) == (1, 1.0, {"no_database": 1})
    assert any("bad.sqlite" in note for note in done.notes)


def test_sets_of_one_name_take_their_folder_along(
    root: Path, tmp_path: Path, batches_run: list[Batch]
) -> None:
    (tmp_path / "set.jsonl").write_text(json.dumps({"id": 1, "db": "shop", "gold": ALL}))
    paths = []
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "pred.json")
        paths[-1].write_text(json.dumps([ALL]))
    done = evaluate(
        EvalRequest(
            dataset=str(tmp_path / "set.jsonl"),
            predictions=paths,
            db_root=root,
            out=tmp_path / "run",
            settings=Settings(),
        )
    )
    assert list(done.summary["systems"]) == ["x/pred", "y/pred"]


def test_an_unknown_metric_names_the_known_ones(scored: Scored) -> None:
    with pytest.raises(InputError, match="unknown metric 'exact'") as caught:
        scored([ALL], {"one": [ALL]}, metrics=("exact",))
    assert "set_ex" in caught.value.hint


def test_an_unknown_policy_is_said_before_anything_is_run(scored: Scored, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown policy"):
        scored([ALL], {"one": [ALL]}, guard=("nope",))
    assert not (tmp_path / "run").exists()


def test_the_guard_says_what_thresholds_would_do(scored: Scored) -> None:
    done = scored([DISTINCT, ALL], {"one": [COPIES, ALL]}, guard=("paper",))
    first, second = done.run.verdicts["one"]
    outcomes = {one.policy: one for one in first.record.guarded}
    assert list(outcomes) == ["p1@0", "p2@1", "paper"]
    for name in ("p1@0", "paper"):
        assert outcomes[name].applied == ("inject_distinct",)
        assert (outcomes[name].multiset_ex, outcomes[name].ratio) == (1.0, 0.0)
    assert outcomes["p2@1"].applied == ()
    assert all(not one.applied and one.multiset_ex == 1.0 for one in second.record.guarded)


def test_progress_has_running_scores(scored: Scored) -> None:
    seen: list[tuple[int, int, list[float]]] = []
    scored(
        [ALL, DISTINCT],
        {"one": [ALL, COPIES]},
        progress=lambda now: seen.append((now.done, now.total, list(now.right["one"]))),
    )
    assert seen[-1] == (2, 2, [2.0, 2.0, 1.0])


def test_pools_have_an_upper_bound_and_a_mean(scored: Scored, tmp_path: Path) -> None:
    pools = [
        {"id": "q0", "candidates": [COPIES, ALL, ALL]},
        {"id": "q1", "candidates": [COPIES, "SELECT nope"]},
    ]
    (tmp_path / "pool.jsonl").write_text("\n".join(map(json.dumps, pools)))
    answers = {"one": [COPIES] * 3}
    watched: set[str] = set()
    more = {"progress": lambda now: watched.update(now.right)}
    done = scored([ALL] * 3, answers, pools=[tmp_path / "pool.jsonl"], **more)
    assert watched == {"one"}
    (shown,) = [one for one in done.tables if one.name == "pool_pool"]
    assert shown.records()[0]["upper"] == done.summary["pools"]["pool"]["set_ex"]["upper"]
    found = done.summary["pools"]["pool"]
    assert (found["n"], found["candidates"]) == (2, 5)
    assert found["multiset_ex"] == {"upper": 0.5, "mean": pytest.approx(1 / 3), "first": 0.0}
    assert list(done.summary["systems"]) == ["one"]
    assert len(table(tmp_path, "verdicts")) == 3
    again = load_run(tmp_path / "run")
    assert summary(again) == done.summary


def test_pools_of_two_runs_stay_two(scored: Scored, tmp_path: Path) -> None:
    files = [tmp_path / name / "pools.jsonl" for name in ("mine", "yours")]
    for file, sql in zip(files, (ALL, "SELECT nope"), strict=True):
        file.parent.mkdir()
        file.write_text(json.dumps({"id": "q0", "candidates": [sql]}))
    found = scored([ALL], {"one": [ALL]}, pools=files).summary["pools"]
    assert {name: one["set_ex"]["upper"] for name, one in found.items()} == {
        "mine/pools": 1.0,
        "yours/pools": 0.0,
    }


def test_the_guard_is_tried_on_predictions_and_not_on_candidates(
    scored: Scored, batches_run: list[Batch], tmp_path: Path
) -> None:
    (tmp_path / "pool.jsonl").write_text(json.dumps({"id": "q0", "candidates": [COPIES, ALL]}))
    more: dict[str, Any] = {"pools": [tmp_path / "pool.jsonl"], "guard": ("paper",)}
    done = scored([DISTINCT], {"one": [COPIES]}, **more)
    (verdict,) = done.run.verdicts["one"]
    assert verdict.record.guarded[-1].applied == ("inject_distinct",)
    assert done.summary["pools"]["pool"]["set_ex"] == {"upper": 1.0, "mean": 0.5, "first": 1.0}
    asked = [one for batch in batches_run for unit in batch.units for one in unit.asked]
    assert sorted((one.sql, one.guarded) for one in asked) == [
        (COPIES, False),
        (COPIES, True),
        (ALL, False),
    ]
