"""Parts G and N of the cases from public reports, as they stand in `../shared`: found and repaired.

The rules' and rewrites' pages hold the same faults in our own words; here the reports' own inputs
are run, with their questions. Skipped where the cases are not beside the checkout.
"""

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from modularsql import Answer, Guard, connect
from modularsql.records import Safety, Severity

FILE = Path(__file__).parents[3] / "shared" / "cases" / "cases.json"
CASES: dict[str, dict[str, Any]] = (
    {case["id"]: case for case in json.loads(FILE.read_text())} if FILE.exists() else {}
)
pytestmark = pytest.mark.skipif(not CASES, reason=f"no cases at {FILE}")

REPAIRED = {
    "G01": ("fan_out_sum", "semi_join"),
    "G02": ("chasm", "count_distinct"),
    "G03": ("fan_out_sum", "aggregate_before_join"),
    "G04": ("two_grains_in_one_select", "count_distinct"),
    "G05": ("distinct_aggregate_of_values", "aggregate_before_join"),
    "G07": ("fan_out_rows", "semi_join"),
    "G08": ("entity_merge", "semi_join"),
    "G10": ("count_star_of_outer_join", "count_child_key"),
    "G13": ("cartesian", "add_join_predicate"),
    "G16": ("count_of_case_else", "drop_else_zero"),
    "G19": ("union_drops_rows", "union_to_union_all"),
    "G21": ("chasm", "split_chasm"),
    "G23": ("fan_out_count", "count_distinct"),
    "G27": ("not_in_null", "not_in_to_not_exists"),
    "G29": ("fan_out_sum", "semi_join"),
}
"""Where one repair is right: the rule and the rewrite."""

READINGS = {
    "G11": ("outer_join_undone", ["move_filter_to_on"]),
    "G12": ("inner_join_drops_groups", ["keep_groups"]),
    "G18": ("limit_before_dedup", ["remove_distinct", "distinct_after_limit"]),
    "G25": ("dirty_key", ["distinct_source"]),
    "G26": ("bare_column", ["top_of_group", "group_bare_columns"]),
}
"""Where the query alone leaves it open: the rule and the readings that are offered."""

JOINED_BY_ALIAS = "SELECT r.txt FROM quest t JOIN remark r ON r.q=t.id"
"""G15 as repaired. The report's right query also asks for question 1, of which the suspect says
nothing: a condition that was never written is not the guard's to add."""

SETTLED = {
    "G11": ("move_filter_to_on", None),  # "if it has one"
    "G12": ("keep_groups", "Number of programmes of each channel, also of those without any."),
    "G18": ("remove_distinct", None),  # "the 5 latest plays"
    "G26": ("top_of_group", None),  # "for each city, who spent the most"
}
"""Where the question says which reading is meant (None: the report's own question)."""

HOLDS_THE_RIGHT_ONE = ("G11", "G12", "G18", "G25", "G26")
SILENT = ("N01", "N03", "N04", "N06", "N07", "N09", "N10", "N12")


def guarded(name: str, folder: Path, sql: str, **more: str | None) -> Answer:
    path = folder / "case.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(CASES[name]["setup"])
    connection.close()
    question = more.get("question", CASES[name].get("question"))
    with Guard(connect(path), "grain") as guard:
        return guard.run(sql, fix=True, question=question)


def bag(rows: Any) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in rows)


@pytest.mark.parametrize("name", REPAIRED)
def test_the_right_rows_come_back(name: str, tmp_path: Path) -> None:
    rule, rewrite = REPAIRED[name]
    answer = guarded(name, tmp_path, CASES[name]["suspect"])
    assert rule in {f.rule for f in answer.findings if f.severity != Severity.INFO}
    assert set(answer.applied) == {rewrite}
    assert bag(answer.rows) == bag(CASES[name]["right_rows"])


def test_a_condition_on_the_wrong_table_gets_the_right_one(tmp_path: Path) -> None:
    answer = guarded("G15", tmp_path, CASES["G15"]["suspect"])
    assert (answer.applied, answer.final_sql) == (("correct_alias",), JOINED_BY_ALIAS)
    assert bag(answer.rows) >= bag(CASES["G15"]["right_rows"])


@pytest.mark.parametrize("name", READINGS)
def test_what_a_person_must_decide_is_only_suggested(name: str, tmp_path: Path) -> None:
    rule, rewrites = READINGS[name]
    sql = CASES[name]["suspect"]
    answer = guarded(name, tmp_path, sql, question=None)
    assert (answer.applied, answer.final_sql) == ((), sql)
    [finding] = [f for f in answer.findings if f.rule == rule]
    assert [(r.name, r.safety) for r in finding.repairs] == [
        (rewrite, Safety.SUGGESTED) for rewrite in rewrites
    ]


@pytest.mark.parametrize("name", SETTLED)
def test_a_question_may_say_which_reading_is_meant(name: str, tmp_path: Path) -> None:
    rewrite, question = SETTLED[name]
    asked = CASES[name]["question"] if question is None else question
    answer = guarded(name, tmp_path, CASES[name]["suspect"], question=asked)
    assert answer.applied == (rewrite,)
    assert bag(answer.rows) == bag(CASES[name]["right_rows"])
    [repair] = [r for f in answer.findings for r in f.repairs if r.name == rewrite]
    assert repair.safety == Safety.MEASURED


@pytest.mark.parametrize("name", ["G12", "G25"])
def test_where_the_question_says_nothing_it_stays_open(name: str, tmp_path: Path) -> None:
    sql = CASES[name]["suspect"]
    answer = guarded(name, tmp_path, sql)
    assert (answer.applied, answer.final_sql) == ((), sql)


@pytest.mark.parametrize("name", HOLDS_THE_RIGHT_ONE)
def test_one_of_the_readings_is_the_right_one(name: str, tmp_path: Path) -> None:
    answer = guarded(name, tmp_path, CASES[name]["suspect"], question=None)
    readings = [repair.sql for finding in answer.findings for repair in finding.repairs]
    with Guard(connect(tmp_path / "case.sqlite"), "off") as guard:
        results = [bag(guard.run(sql).rows) for sql in readings]
    assert bag(CASES[name]["right_rows"]) in results


@pytest.mark.parametrize("name", SILENT)
def test_what_is_right_is_left_alone(name: str, tmp_path: Path) -> None:
    sql = CASES[name]["right"]
    answer = guarded(name, tmp_path, sql)
    assert answer.final_sql == sql
    assert [f.rule for f in answer.findings if f.severity != Severity.INFO] == []
