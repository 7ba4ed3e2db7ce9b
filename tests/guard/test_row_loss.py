"""Rows that an inner join leaves out, in numbers."""

from collections.abc import Callable

import pytest

from modularsql import Answer, Guard
from modularsql.ports import Engine
from modularsql.records import Severity

Open = Callable[..., Engine]

YARD = """
CREATE TABLE owner(id INTEGER PRIMARY KEY, name VARCHAR, town_id INTEGER);
CREATE TABLE town(id INTEGER PRIMARY KEY, label VARCHAR);
CREATE TABLE boat(id INTEGER PRIMARY KEY, owner_id INTEGER, feet INTEGER);
INSERT INTO town VALUES (1, 'Ry');
INSERT INTO owner VALUES (1, 'Ann', 1), (2, 'Bo', NULL), (3, 'Cy', 1), (4, 'Di', 7);
INSERT INTO boat VALUES (1, 1, 20), (2, 1, 30), (3, 2, 25), (4, NULL, 40), (5, 9, 50);
"""


@pytest.fixture(params=["sqlite", "duckdb"])
def yard(request: pytest.FixtureRequest, open_database: Open) -> Engine:
    engine: Engine = open_database(request.param, YARD)
    return engine


def losses(answer: Answer) -> list[tuple[str, int, int]]:
    return [
        (f.tables[0], f.measured["lost"], f.measured["rows_before"])
        for f in answer.findings
        if f.rule == "row_loss"
    ]


CASES: dict[str, tuple[str, list[tuple[str, int, int]]]] = {
    "a sum loses boats without an owner": (
        "SELECT o.name, SUM(b.feet) FROM boat b JOIN owner o ON o.id = b.owner_id GROUP BY o.name",
        [("owner", 2, 5)],
    ),
    "conditions of the rest count first": (
        "SELECT b.feet, o.name FROM boat b JOIN owner o ON o.id = b.owner_id WHERE b.feet < 45",
        [("owner", 1, 4)],
    ),
    "the last of several lookups": (
        "SELECT b.feet, o.name, t.label FROM boat b JOIN owner o ON o.id = b.owner_id "
        "JOIN town t ON t.id = o.town_id",
        [("town", 1, 3)],
    ),
    "a join that chooses is none": (
        "SELECT b.feet FROM boat b JOIN owner o ON o.id = b.owner_id WHERE o.name = 'Ann'",
        [],
    ),
    "nor one to many rows": (
        "SELECT o.name, b.feet FROM owner o JOIN boat b ON b.owner_id = o.id",
        [],
    ),
    "nor one that keeps its rows": (
        "SELECT b.feet, o.name FROM boat b LEFT JOIN owner o ON o.id = b.owner_id",
        [],
    ),
    "nor one in which all are found": (
        "SELECT b.feet, o.name FROM boat b JOIN owner o ON o.id = b.owner_id WHERE b.id < 4",
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_lookup_tells_what_it_leaves_out(yard: Engine, name: str) -> None:
    sql, expected = CASES[name]
    answer = Guard(yard).run(sql)
    assert losses(answer) == expected
    assert {f.severity for f in answer.findings if f.rule == "row_loss"} <= {Severity.INFO}


def test_it_is_silent_where_it_is_allowed(yard: Engine) -> None:
    sql = "SELECT b.feet, o.name FROM boat b JOIN owner o ON o.id = b.owner_id"
    answer = Guard(yard).run(sql, allow=["row_loss"])
    assert answer.verdict == "pass"


DROPS = "SELECT o.name, COUNT(b.id) FROM owner o JOIN boat b ON b.owner_id = o.id GROUP BY "


@pytest.mark.parametrize(
    "sql",
    [
        DROPS + "o.id, o.name",
        DROPS.replace("owner o JOIN boat b", "boat b JOIN owner o") + "o.id, o.name",
    ],
)
def test_groups_that_are_missing_are_counted(yard: Engine, sql: str) -> None:
    finding = next(f for f in Guard(yard).run(sql).findings if f.rule == "inner_join_drops_groups")
    assert finding.measured == {"lost": 2, "parents": 4}
    assert " Here 2 of 4 rows of owner are left out." in finding.message


def test_groups_that_are_all_there_are_not_mentioned(open_database: Open) -> None:
    engine = open_database("sqlite", YARD + "INSERT INTO boat VALUES (6, 3, 1), (7, 4, 1);")
    assert losses(Guard(engine).run(DROPS + "o.id, o.name")) == []
    assert "inner_join_drops_groups" not in {
        f.rule for f in Guard(engine).run(DROPS + "o.id, o.name").findings
    }


def test_both_tables_are_named(yard: Engine) -> None:
    answer = Guard(yard).run("SELECT b.feet, o.name FROM boat b JOIN owner o ON o.id=b.owner_id")
    [finding] = [f for f in answer.findings if f.rule == "row_loss"]
    assert finding.message.startswith(
        "2 of 5 rows of boat have no match in owner and are left out (JOIN owner o ON "
        "o.id=b.owner_id)"
    )
