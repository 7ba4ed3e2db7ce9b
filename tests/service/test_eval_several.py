"""Several databases of a question, as in Spider's test suite: right is right on all of them."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modularsql.evaluation.summary import summary
from modularsql.service.evaluating import Evaluated
from modularsql.service.run_files import load_run

Scored = Callable[..., Evaluated]

GOLD = "SELECT b FROM t WHERE a = 1"
LUCKY = "SELECT b FROM t WHERE b % 2 = 1"
"""The same on the set's own database, where a is b % 2."""


@pytest.fixture
def suite(root: Path) -> Path:
    """A second file of `shop`, with other rows."""
    other = root / "shop" / "shop_testcase1.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t(a, b)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, 4), (1, 4), (0, 5)])
    connection.close()
    return other


def test_luck_on_one_database_is_seen_on_another(
    scored: Scored, suite: Path, tmp_path: Path
) -> None:
    answers = [GOLD, LUCKY, "SELECT DISTINCT b FROM t WHERE a = 1", "SELECT nope"]
    done = scored([GOLD] * 4, {"one": answers}, guard=("paper",))
    found = done.run.verdicts["one"]
    names = ("set_ex", "multiset_ex", "spider_ex", "spider_ex_no_distinct")
    assert [[one.scores[name] for name in names] for one in found] == [
        [1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 0.0],
    ]
    assert [one.record.pred.rows for one in found] == [10, 1, 1, None]
    assert [one.record.cause for one in found] == ["equal", "disjoint", "extra_distinct", "error"]
    assert [one.record.guarded[-1].multiset_ex for one in found][:2] == [1.0, 0.0]
    assert done.summary["systems"]["one"]["mbs_ids"] == ["q2"]
    assert any("every file of its database: shop" in note for note in done.notes)
    assert set(done.run.about["inputs"]["databases"]) == {"shop", f"shop/{suite.name}"}
    assert summary(load_run(tmp_path / "run")) == done.summary


def test_a_database_on_which_gold_fails_says_nothing(
    scored: Scored, suite: Path, root: Path
) -> None:
    (root / "shop" / "broken.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    empty = sqlite3.connect(root / "shop" / "empty.sqlite")
    empty.execute("CREATE TABLE other(x)")
    empty.close()
    one = scored([GOLD], {"one": [GOLD]}).summary["systems"]["one"]
    assert (one["n"], one["set_ex"], one["gold_status"]) == (1, 1.0, {"ok": 1})


def test_pools_are_scored_on_every_database(scored: Scored, suite: Path, tmp_path: Path) -> None:
    pool = tmp_path / "pool.jsonl"
    pool.write_text(json.dumps({"id": "q0", "candidates": [LUCKY, GOLD]}))
    more: dict[str, Any] = {"metrics": ("set_ex",), "pools": [pool]}
    found = scored([GOLD], {"one": [GOLD]}, **more).summary["pools"]["pool"]
    assert found["set_ex"] == {"upper": 1.0, "mean": 0.5, "first": 0.0}
