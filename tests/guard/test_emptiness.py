"""Why no row came back: told in words and numbers, by a handful of probes."""

from collections.abc import Callable
from typing import Any

import pytest

from modularsql import Answer, Guard, Settings, Verdict
from modularsql.ports import Engine
from modularsql.records import Finding, Severity

Open = Callable[..., Engine]

TOWN = """
CREATE TABLE ticket(id INTEGER PRIMARY KEY, overdue INTEGER, place VARCHAR, seen INTEGER);
INSERT INTO ticket VALUES (1, 0, 'Riga', 10), (2, 0, ' Oslo', 20), (3, 0, NULL, 30);
CREATE TABLE fine(id INTEGER PRIMARY KEY, ticket_id INTEGER, paid INTEGER);
INSERT INTO fine VALUES (1, 8, 1), (2, NULL, 0);
CREATE TABLE barren(ticket_id INTEGER);
CREATE TABLE pair(a INTEGER NOT NULL, b INTEGER NOT NULL, PRIMARY KEY (a, b));
INSERT INTO pair VALUES (1, 1), (1, 2), (2, 1);
CREATE VIEW late AS SELECT * FROM ticket WHERE overdue = 1;
"""


@pytest.fixture(params=["sqlite", "duckdb"])
def town(request: pytest.FixtureRequest, open_database: Open) -> Engine:
    engine: Engine = open_database(request.param, TOWN)
    return engine


def reason(engine: Engine, sql: str, **more: Any) -> Finding:
    answer: Answer = Guard(engine, settings=Settings(evidence_seconds=20)).run(sql, **more)
    assert answer.verdict == Verdict.ANNOTATE, answer
    finding = next(f for f in answer.findings if f.rule == "empty_result")
    assert finding.severity == Severity.INFO
    return finding


REASONS: dict[str, tuple[str, str]] = {
    "N06 a condition that no row meets": (
        "SELECT id FROM ticket WHERE overdue = 1",
        "none of the 3 rows of ticket meets overdue = 1. That may be right. overdue holds only 0.",
    ),
    "a condition that no row meets after another": (
        "SELECT id FROM ticket WHERE seen > 15 AND seen < 20",
        "none of the 2 rows before it meets seen < 20. That may be right. "
        "Of all ticket, one row would meet it.",
    ),
    "a range beside the values": (
        "SELECT id FROM ticket WHERE seen BETWEEN 31 AND 40",
        "none of the 3 rows of ticket meets seen BETWEEN 31 AND 40. That may be right. "
        "The values of seen go from 10 to 30.",
    ),
    "a negative number to the left": (
        "SELECT id FROM ticket WHERE -5 > seen",
        "The values of seen go from 10 to 30.",
    ),
    "a condition as it was written": (
        "SELECT id FROM ticket WHERE lower( place )='xyz'  AND -- late\n seen > 0",
        "meets lower( place )='xyz'. That",
    ),
    "a value in other case": (
        "SELECT id FROM ticket WHERE place = 'riga'",
        "none of the 3 rows of ticket meets place = 'riga'. That may be right. place holds 'Riga'.",
    ),
    "a value with a space before it": (
        "SELECT id FROM ticket t WHERE t.place IN ('Oslo', 'Bergen')",
        "place holds ' Oslo'.",
    ),
    "a value that is misspelled": (
        "SELECT id FROM ticket WHERE place = 'Rigaa'",
        "place holds 'Riga'.",
    ),
    "a comparison with NULL": (
        "SELECT id FROM ticket WHERE place = NULL",
        "place = NULL compares with NULL, which holds for no row. That may be right. "
        "IS NULL and IS NOT NULL ask for it.",
    ),
    "a join without partners": (
        "SELECT t.id FROM ticket t JOIN fine f ON f.ticket_id = t.id WHERE t.seen > 10",
        "JOIN fine f ON f.ticket_id = t.id leaves none of the 2 rows before it.",
    ),
    "a join between commas": (
        "SELECT t.id FROM ticket t, fine f WHERE f.ticket_id = t.id",
        "none of the 6 rows before it meets f.ticket_id = t.id.",
    ),
    "a join on half of a key": (
        "SELECT p.a FROM pair p JOIN pair q ON q.a = p.b AND q.b > 2 JOIN ticket t ON t.id = p.a",
        "JOIN pair q ON q.a = p.b AND q.b > 2 leaves none of the 3 rows before it.",
    ),
    "a table without rows": (
        "SELECT t.id FROM ticket t JOIN barren b ON b.ticket_id = t.id",
        "barren holds no rows.",
    ),
    "a CTE without rows": (
        "WITH paid AS (SELECT * FROM fine WHERE paid > 1) "
        "SELECT t.id FROM ticket t JOIN paid p ON p.ticket_id = t.id",
        "in p, none of the 2 rows of fine meets paid > 1. That may be right. "
        "The values of paid go from 0 to 1.",
    ),
    "a derived table in a derived table": (
        "SELECT * FROM (SELECT * FROM (SELECT id FROM ticket WHERE id = 7) AS u) AS v",
        "in v, in u, none of the 3 rows of ticket meets id = 7.",
    ),
    "a view without rows": ("SELECT id FROM late", "late holds no rows."),
    "an anti-join": (
        "SELECT id FROM ticket WHERE id NOT IN (SELECT ticket_id FROM fine)",
        "none of the 3 rows of ticket meets id NOT IN (SELECT ticket_id FROM fine).",
    ),
    "a left join whose partners are asked for": (
        "SELECT t.id FROM ticket t LEFT JOIN fine f ON f.ticket_id = t.id WHERE f.paid = 1",
        "none of the 3 rows before it meets f.paid = 1. That may be right. "
        "Of all fine, one row would meet it.",
    ),
    "HAVING": (
        "SELECT overdue, COUNT(*) FROM ticket GROUP BY overdue HAVING COUNT(*) > 3",
        "the one group does not meet COUNT(*) > 3.",
    ),
    "OFFSET": ("SELECT id FROM ticket LIMIT 5 OFFSET 10", "LIMIT 5 OFFSET 10 leaves none of the 3"),
    "LIMIT 0": ("SELECT id FROM ticket LIMIT 0", "LIMIT 0 leaves none of the 3 rows."),
}


@pytest.mark.parametrize("name", REASONS)
def test_the_reason_is_told(town: Engine, name: str) -> None:
    sql, words = REASONS[name]
    finding = reason(town, sql)
    assert finding.message.startswith("No row comes back: ")
    assert words in finding.message
    assert finding.measured["rows_after"] == 0
    assert finding.measured["removed_by"]


@pytest.mark.parametrize(
    ("condition", "params", "words"),
    [
        ("place = ?", [None], "place = ? compares with NULL"),
        ("overdue = ? AND place = ?", [0, "riga"], "place holds 'Riga'."),
        ("overdue = $x AND place = $y", {"x": 0, "y": "riga"}, "place holds 'Riga'."),
        (
            "seen + ? > 100 AND seen < ?",
            [1, 5],
            "none of the 3 rows of ticket meets seen + ? > 100",
        ),
    ],
)
def test_bound_values_are_looked_at(town: Engine, condition: str, params: Any, words: str) -> None:
    if town.dialect == "sqlite":
        condition = condition.replace("$", ":")
    finding = reason(town, f"SELECT id FROM ticket WHERE {condition}", params=params)
    assert words in finding.message


def test_placeholders_are_counted_as_they_stand_in_the_text(town: Engine) -> None:
    sql = "SELECT ? AS x, id FROM ticket WHERE seen = ? AND place = ? LIMIT ?"
    finding = reason(town, sql, params=[7, 10, "riga", 5])
    assert finding.measured["near_values"] == ["Riga"]
    assert finding.measured["rows_before"] == 1


UNKNOWN = {
    "two queries": "SELECT id FROM ticket EXCEPT SELECT id FROM ticket",
    "rows that a right join brings back": (
        "SELECT t.id FROM fine f RIGHT JOIN ticket t ON f.ticket_id = t.id WHERE t.id = 9"
    ),
    "chance": "SELECT id FROM ticket WHERE random() IS NULL",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_where_it_cannot_be_told_nothing_is_claimed(town: Engine, name: str) -> None:
    finding = reason(town, UNKNOWN[name])
    assert finding.message.startswith("No row comes back. That may be right")
    assert finding.measured == {}


def test_a_count_of_nothing_is_a_row_and_no_finding(town: Engine) -> None:
    answer = Guard(town).run("SELECT COUNT(*) FROM ticket WHERE overdue = 1")
    assert answer.verdict == Verdict.PASS


@pytest.mark.parametrize("conditions", [1, 8, 40])
def test_a_few_probes_find_it_among_many_conditions(town: Engine, conditions: int) -> None:
    asked: list[str] = []

    class Counting:
        name, dialect = town.name, town.dialect
        catalog, close, compares_bytes = town.catalog, town.close, town.compares_bytes

        def execute(self, sql: str, *more: Any, **limits: Any) -> Any:
            asked.append(sql)
            return town.execute(sql, *more, **limits)

    many = " AND ".join(f"seen > {n - 100}" for n in range(conditions))
    finding = reason(Counting(), f"SELECT id FROM ticket WHERE {many} AND overdue = 1 AND id > 0")
    assert finding.measured["removed_by"] == "overdue = 1"
    assert len(asked) < 14


def test_the_paper_keeps_its_words(town: Engine) -> None:
    answer = Guard(town, "paper").run("SELECT id FROM ticket WHERE overdue = 1")
    assert answer.findings[0].message.startswith("No row comes back. That may be right")
