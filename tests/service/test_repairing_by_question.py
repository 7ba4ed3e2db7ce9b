"""`repair` by default: a question goes to the guard with the query that it belongs to."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from modularsql.config import Settings
from modularsql.service.repairing import RepairRequest, RepairSummary, repair

VALUES = "SELECT a FROM t"
TOTAL = "SELECT SUM(b.amount) FROM bill b JOIN payment p ON p.bill = b.id"
ONCE = "SELECT SUM(b.amount) FROM bill b WHERE EXISTS (SELECT 1 FROM payment p WHERE p.bill = b.id)"

Asked = Callable[[Sequence[tuple[str, str]]], RepairSummary]


@pytest.fixture
def asked(root: Path, tmp_path: Path) -> Asked:
    """Repair the SQL of (question, SQL) pairs on `shop`, which has bills too, with the defaults."""
    with sqlite3.connect(root / "shop" / "shop.sqlite") as connection:
        connection.executescript(
            """
            CREATE TABLE bill(id INTEGER PRIMARY KEY, amount INTEGER);
            CREATE TABLE payment(id INTEGER PRIMARY KEY, bill INTEGER REFERENCES bill);
            INSERT INTO bill VALUES (1, 300), (2, 50);
            INSERT INTO payment VALUES (1, 1), (2, 1), (3, 2);
            """
        )
    connection.close()

    def call(pairs: Sequence[tuple[str, str]]) -> RepairSummary:
        lines = [
            json.dumps({"id": str(at), "db": "shop", "question": text})
            for at, (text, _) in enumerate(pairs)
        ]
        (tmp_path / "set.jsonl").write_text("\n".join(lines))
        (tmp_path / "pred.json").write_text(json.dumps([sql for _, sql in pairs]))
        request = RepairRequest(
            dataset=str(tmp_path / "set.jsonl"),
            predictions=tmp_path / "pred.json",
            db_root=root,
            out=tmp_path / "out",
            settings=Settings(jobs=1),
        )
        return repair(request)

    return call


def written(tmp_path: Path) -> list[str]:
    found: list[str] = json.loads((tmp_path / "out").read_text())
    return found


def test_a_question_for_different_values_leads_to_distinct_in_a_worker(
    asked: Asked, tmp_path: Path
) -> None:
    summary = asked([("What are the different a?", VALUES), ("List the a of all t.", VALUES)])
    assert written(tmp_path) == ["SELECT DISTINCT a FROM t", VALUES]
    assert summary.changes == {"0": ("inject_distinct",)}
    assert summary.by_status == Counter(duplicates=2)
    assert summary.policy == "grain"


@pytest.mark.usefixtures("in_this_process")
def test_without_a_question_equal_values_stay_and_an_inflated_sum_does_not(
    asked: Asked, tmp_path: Path
) -> None:
    summary = asked([("", VALUES), ("", TOTAL)])
    assert written(tmp_path) == [VALUES, ONCE]
    assert summary.by_rule == Counter(semi_join=1)


@pytest.mark.usefixtures("in_this_process")
def test_a_question_that_speaks_for_the_copies_keeps_the_query(
    asked: Asked, tmp_path: Path
) -> None:
    sql = "SELECT b.amount FROM bill b JOIN payment p ON p.bill = b.id"
    asked([("What is the amount of the bill of each payment?", sql), ("The amounts paid.", sql)])
    kept, repaired = written(tmp_path)
    assert kept == sql
    assert "EXISTS" in repaired
