"""Policy `grain` on real rows: what is found, what is repaired, what is left alone."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from modularsql import Guard, Settings, connect
from modularsql.records import Answer, Safety, Severity

SHOP = """
CREATE TABLE bill(bill_id INTEGER PRIMARY KEY, amount INTEGER);
CREATE TABLE part_payment(id INTEGER PRIMARY KEY, bill_id INTEGER REFERENCES bill(bill_id));
INSERT INTO bill VALUES (1, 300), (2, 50), (3, 9);
INSERT INTO part_payment VALUES (1, 1), (2, 1), (3, 2);
"""
CLUB = """
CREATE TABLE team(team_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE player(player_id INTEGER PRIMARY KEY, team_id INTEGER REFERENCES team(team_id),
  goals INTEGER);
INSERT INTO team VALUES (1, 'Otters'), (2, 'Otters'), (3, 'Hares');
INSERT INTO player VALUES (1, 1, 4), (2, 1, 6), (3, 2, 9), (4, 3, 0);
"""
FARM = """
CREATE TABLE farm(farm_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE field(field_id INTEGER PRIMARY KEY, farm_id INTEGER REFERENCES farm(farm_id));
CREATE TABLE barn(barn_id INTEGER PRIMARY KEY, farm_id INTEGER REFERENCES farm(farm_id));
INSERT INTO farm VALUES (1, 'North'), (2, 'South');
INSERT INTO field VALUES (1, 1), (2, 1), (3, 1), (4, 2);
INSERT INTO barn VALUES (1, 1), (2, 1);
"""
SEAT = """
CREATE TABLE seat(seat_id INTEGER PRIMARY KEY); CREATE TABLE ticket(seat_id INTEGER);
INSERT INTO seat VALUES (1), (2), (3); INSERT INTO ticket VALUES (1), (NULL);
"""
TILL = """
CREATE TABLE east(day TEXT, euro INTEGER); CREATE TABLE west(day TEXT, euro INTEGER);
INSERT INTO east VALUES ('mo', 20), ('tu', 5); INSERT INTO west VALUES ('mo', 20);
"""

Run = Callable[..., Answer]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    guards: list[Guard] = []

    def start(setup: str, sql: str, **more: Any) -> Answer:
        path = tmp_path / f"{len(guards)}.sqlite"
        connection = sqlite3.connect(path)
        connection.executescript(setup)
        connection.close()
        guards.append(Guard(connect(path), policy="grain"))
        return guards[-1].run(sql, **{"fix": True, **more})

    yield start
    for guard in guards:
        guard.close()


def loud(answer: Answer) -> list[str]:
    return [f.rule for f in answer.findings if f.severity != Severity.INFO]


REPAIRED: dict[str, tuple[str, str, str, list[str], list[tuple[Any, ...]]]] = {
    "a total summed once per payment": (
        SHOP,
        "SELECT SUM(b.amount) FROM bill b JOIN part_payment p ON p.bill_id = b.bill_id",
        "fan_out_sum",
        ["semi_join"],
        [(350,)],
    ),
    "an average weighted by payments": (
        SHOP,
        "SELECT AVG(b.amount) FROM bill b JOIN part_payment p ON p.bill_id = b.bill_id",
        "fan_out_avg",
        ["semi_join"],
        [(175.0,)],
    ),
    "a team listed once per scorer": (
        CLUB,
        "SELECT t.name FROM team t JOIN player p ON p.team_id = t.team_id WHERE p.goals > 3",
        "fan_out_rows",
        ["semi_join"],
        [("Otters",), ("Otters",)],
    ),
    "two children of one parent multiply each other": (
        FARM,
        "SELECT f.name, COUNT(d.field_id), COUNT(b.barn_id) FROM farm f "
        "LEFT JOIN field d ON d.farm_id = f.farm_id LEFT JOIN barn b ON b.farm_id = f.farm_id "
        "GROUP BY f.farm_id, f.name",
        "chasm",
        ["count_distinct", "count_distinct"],
        [("North", 3, 2), ("South", 1, 0)],
    ),
    "a farm without barns counts one barn": (
        FARM,
        "SELECT f.name, COUNT(*) FROM farm f LEFT JOIN barn b ON b.farm_id = f.farm_id "
        "GROUP BY f.farm_id, f.name",
        "count_star_of_outer_join",
        ["count_child_key"],
        [("North", 2), ("South", 0)],
    ),
    "a comma join without a condition": (
        CLUB,
        "SELECT t.name FROM team t, player p WHERE p.goals > 5",
        "cartesian",
        ["add_join_predicate"],
        [("Otters",), ("Otters",)],
    ),
    "a counted CASE with ELSE 0": (
        CLUB,
        "SELECT COUNT(CASE WHEN goals > 5 THEN player_id ELSE 0 END) FROM player",
        "count_of_case_else",
        ["drop_else_zero"],
        [(2,)],
    ),
    "equal rows of two tills": (
        TILL,
        "SELECT SUM(euro) FROM (SELECT day, euro FROM east UNION SELECT day, euro FROM west)",
        "union_drops_rows",
        ["union_to_union_all"],
        [(45,)],
    ),
}


@pytest.mark.parametrize("name", REPAIRED)
def test_found_and_repaired(name: str, run: Run) -> None:
    setup, sql, rule, applied, rows = REPAIRED[name]
    answer = run(setup, sql)
    assert rule in loud(answer)
    assert list(answer.applied) == applied
    assert sorted(answer.rows) == sorted(rows)
    assert answer.verdict == "repair"


@pytest.mark.parametrize("name", REPAIRED)
def test_after_a_repair_its_rule_is_silent_and_nothing_more_changes(name: str, run: Run) -> None:
    setup, sql, rule, _, rows = REPAIRED[name]
    again = run(setup, run(setup, sql).final_sql)
    assert rule not in loud(again)
    assert again.applied == ()
    assert sorted(again.rows) == sorted(rows)


def test_not_in_a_column_with_null_is_repaired(run: Run) -> None:
    answer = run(SEAT, "SELECT seat_id FROM seat WHERE seat_id NOT IN (SELECT seat_id FROM ticket)")
    assert answer.applied == ("not_in_to_not_exists",)
    assert sorted(answer.rows) == [(2,), (3,)]


LEFT_ALONE = {
    "children counted per parent": (
        CLUB,
        "SELECT t.name, COUNT(*) FROM team t JOIN player p ON p.team_id = t.team_id "
        "GROUP BY t.team_id, t.name",
    ),
    "extremes and a distinct count over a fan-out": (
        CLUB,
        "SELECT COUNT(DISTINCT t.team_id), MIN(t.name), MAX(t.name) FROM team t "
        "JOIN player p ON p.team_id = t.team_id",
    ),
    "many-to-one joins": (
        CLUB,
        "SELECT t.name, SUM(p.goals) FROM player p JOIN team t ON t.team_id = p.team_id "
        "GROUP BY t.team_id, t.name",
    ),
    "a cross join with one row": (
        CLUB,
        "SELECT p.goals, s.total FROM player p CROSS JOIN (SELECT SUM(goals) total FROM player) s",
    ),
    "equal values in one table": (CLUB, "SELECT name FROM team"),
    "pairs that show both keys": (
        CLUB,
        "SELECT x.team_id, y.team_id FROM team x JOIN team y ON x.team_id < y.team_id",
    ),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_left_alone_without_a_warning(name: str, run: Run) -> None:
    setup, sql = LEFT_ALONE[name]
    answer = run(setup, sql)
    assert loud(answer) == []
    assert answer.final_sql == sql


def test_a_join_that_repeats_nothing_on_this_data_is_not_mentioned(run: Run) -> None:
    setup = SHOP + "DELETE FROM part_payment WHERE id = 2;"
    sql = "SELECT SUM(b.amount) FROM bill b JOIN part_payment p ON p.bill_id = b.bill_id"
    answer = run(setup, sql)
    assert answer.verdict == "pass"
    assert answer.final_sql == sql


def test_rows_ordered_by_the_multiplying_table_are_only_offered_a_repair(run: Run) -> None:
    sql = "SELECT t.name FROM team t JOIN player p ON p.team_id = t.team_id ORDER BY p.goals"
    answer = run(CLUB, sql)
    assert answer.final_sql == sql
    finding = next(f for f in answer.findings if f.rule == "fan_out_rows")
    assert {repair.safety for repair in finding.repairs} <= {Safety.SUGGESTED}


def test_a_question_for_different_values_wants_distinct(run: Run) -> None:
    answer = run(CLUB, "SELECT name FROM team", question="What are the different team names?")
    assert answer.applied == ("inject_distinct",)
    assert sorted(answer.rows) == [("Hares",), ("Otters",)]


def test_a_question_for_values_of_a_column_wants_distinct(run: Run) -> None:
    sql = "SELECT goals % 2 AS parity FROM player"
    assert run(CLUB, sql, question="Which parity occurs?").applied == ("inject_distinct",)
    assert run(CLUB, sql, question="What is the parity of each player?").applied == ()


def test_a_question_for_each_of_the_children_keeps_their_rows(run: Run) -> None:
    sql = "SELECT t.name FROM team t JOIN player p ON p.team_id = t.team_id"
    answer = run(CLUB, sql, question="The team of each player, please.")
    assert answer.applied == ()
    assert len(answer.rows) == 4


def test_factor_and_join_are_told(run: Run) -> None:
    sql = "SELECT SUM(b.amount) FROM bill b JOIN part_payment p ON p.bill_id = b.bill_id"
    answer = run(SHOP, sql, fix=False)
    finding = next(f for f in answer.findings if f.rule == "fan_out_sum")
    assert finding.measured.items() >= {"rows_before": 2, "rows_after": 3, "factor": 1.5}.items()
    assert finding.cause == "JOIN part_payment p ON p.bill_id = b.bill_id"
    assert set(finding.tables) == {"bill", "part_payment"}
    assert [(r.name, r.safety) for r in finding.repairs] == [("semi_join", Safety.PROVEN)]
    assert answer.final_sql == sql


def test_a_natural_join_is_not_taken_apart(run: Run) -> None:
    sql = "SELECT SUM(amount) FROM bill NATURAL JOIN part_payment"
    answer = run(SHOP, sql)
    assert answer.applied == ("aggregate_before_join",)
    assert "FROM bill NATURAL JOIN part_payment) AS q" in answer.final_sql
    assert list(answer.rows) == [(350,)]


def test_a_join_by_using_moves_with_its_condition(run: Run) -> None:
    answer = run(SHOP, "SELECT SUM(b.amount) FROM bill b JOIN part_payment USING (bill_id)")
    assert answer.applied == ("semi_join",)
    assert answer.rows == [(350,)]


def test_distinct_that_would_melt_two_of_a_name_is_only_suggested(run: Run) -> None:
    setup = CLUB + "CREATE TABLE cup(team_id INTEGER, year INTEGER);"
    setup += "INSERT INTO cup VALUES (1, 1990), (1, 1991), (2, 1992);"
    sql = "SELECT t.name FROM team t NATURAL JOIN cup"
    answer = run(setup, sql)
    assert answer.final_sql == sql
    finding = next(f for f in answer.findings if f.rule == "fan_out_rows")
    assert [(r.name, r.safety) for r in finding.repairs] == [("inject_distinct", Safety.SUGGESTED)]
    assert "drop 1 different things" in finding.message


def test_what_a_repair_cures_is_not_left_as_a_warning(run: Run) -> None:
    setup = CLUB + (
        "WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n WHERE x < 70) "
        "INSERT INTO team SELECT x, 'team ' || x FROM n;"
        "WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n WHERE x < 70) "
        "INSERT INTO player SELECT x, x, 1 FROM n;"
    )
    answer = run(setup, "SELECT t.name, p.player_id FROM team t, player p")
    assert {"row_explosion", "cartesian"} <= {f.rule for f in answer.findings}
    assert answer.verdict == "repair"


def test_notes_of_a_cap_are_about_the_rows_that_came_back(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "capped.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(CLUB)
    connection.close()
    with Guard(connect(path), "grain", Settings(max_rows=5)) as guard:
        answer = guard.run("SELECT t.name FROM team t, player p", fix=True)
    assert answer.applied
    assert not answer.truncated
    assert "truncated" not in {f.rule for f in answer.findings}


def test_an_allowed_rule_is_neither_said_nor_repaired(run: Run) -> None:
    sql = "SELECT SUM(b.amount) FROM bill b JOIN part_payment p ON p.bill_id = b.bill_id"
    answer = run(SHOP, sql, allow=["fan_out_sum"])
    assert answer.verdict == "pass"
    assert answer.final_sql == sql


def test_without_execution_findings_are_static(run: Run) -> None:
    sql = "SELECT SUM(b.amount) FROM bill b JOIN part_payment p ON p.bill_id = b.bill_id"
    answer = run(SHOP, sql, execute=False)
    finding = next(f for f in answer.findings if f.rule == "fan_out_sum")
    assert finding.measured == {}
    assert answer.rows == ()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nope FROM team",
        "SELECT t.name FROM team t JOIN missing m ON m.x = t.team_id",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT * FROM n LIMIT 3",
        "SELECT name FROM team t, team u",
        "SELECT (SELECT name FROM team) FROM player",
        "VALUES (1), (1)",
        "SELECT value FROM json_each('[1,1,2]')",
        "SELECT t.name FROM team AS qualify, team t",
    ],
)
def test_what_is_unknown_is_no_exception(sql: str, run: Run) -> None:
    assert run(CLUB, sql).verdict is not None


def test_what_is_doubted_of_two_readings_is_said_once(run: Run) -> None:
    answer = run(CLUB, "SELECT DISTINCT team_id FROM player ORDER BY goals LIMIT 3")
    (finding,) = (f for f in answer.findings if f.rule == "limit_before_dedup")
    assert [r.name for r in finding.repairs] == ["remove_distinct", "distinct_after_limit"]
    assert finding.message.count("The repair is only suggested") == 1
