"""Faults that people met in public, by the id of their case: part P, and some of G, N, E.

The inputs are our own; `guard` and `path` are the small SQLite database of conftest.py. What
DuckDB has to say to the same is on the pages; part S is in test_public_cases_harm.py.
"""

from pathlib import Path
from typing import Any

import pytest

from modularsql import Answer, Guard, Settings, Verdict, connect
from modularsql.records import Severity


def rules(answer: Answer) -> list[str]:
    return [finding.rule for finding in answer.findings]


@pytest.mark.parametrize(
    "names",
    [
        "[Free Meal (K-12)], [a-b], [order] FROM [my school] AS s",
        "`Free Meal (K-12)`, `a-b`, `order` FROM `my school` AS s",
        '"Free Meal (K-12)", "a-b", "order" FROM "my school" AS s',
        's.[Free Meal (K-12)], `s`."a-b", s.`order` FROM [my school] s',
        '`Free Meal (K-12)` AS "SELECT x", "a""b", [a-b] AS [DISTINCT] FROM "main"."my school"',
        "*, `order` AS 'it''s' FROM 'my school'",
    ],
)
def test_p01_quoted_names_survive_the_patch(guard: Guard, names: str) -> None:
    answer = guard.run(f"SELECT {names}", fix=True)
    assert answer.final_sql == f"SELECT DISTINCT {names}"
    assert len(answer.rows) == 1
    assert answer.verdict == Verdict.REPAIR


@pytest.mark.parametrize(
    "query",
    [
        "SELECT r.'a-b' FROM 'my school' r",
        "SELECT r.'order', r.'Free Meal (K-12)' FROM `my school` r",
    ],
)
def test_p02_a_single_quoted_column_is_a_column(guard: Guard, query: str) -> None:
    answer = guard.run(query, fix=True)
    assert answer.final_sql == query.replace("SELECT", "SELECT DISTINCT")
    assert answer.rows in ([("x",)], [(7, 3)])


@pytest.mark.parametrize(
    "order", ["y", "y DESC", "ranked.y", "x, y", "x + y", "abs(y)", "-y", "max(x, y)"]
)
def test_p04_no_distinct_under_an_order_by_what_is_not_selected(guard: Guard, order: str) -> None:
    answer = guard.run(f"SELECT x FROM ranked ORDER BY {order}", fix=True)
    assert answer.applied == ()
    assert len(answer.rows) == 5
    assert "ordered by a column that it does not select" in answer.notes[0]


@pytest.mark.parametrize(
    ("item", "order"),
    [
        ("upper(s) AS z", "upper(s) DESC"),
        ("upper(s) AS z", "UPPER( s )"),
        ("upper(s) AS z", "z"),
        ("upper(s) AS z", "Z COLLATE NOCASE"),
        ("i + 1", "i + 1"),
        ("i + 1", "1"),
        ("u.i", "i"),
        ("i", "u.i"),
        ("u.*", "u.s"),
    ],
)
def test_p05_an_order_by_the_selected_expression_is_recognised(
    guard: Guard, item: str, order: str
) -> None:
    answer = guard.run(f"SELECT {item} FROM t u, one, one o WHERE i = 1 ORDER BY {order}", fix=True)
    assert answer.applied == ("inject_distinct",)
    assert len(answer.rows) == 1


@pytest.mark.parametrize(
    "query",
    [
        "-- tag\nSELECT i FROM t",
        "/* tag */ WITH x AS (SELECT i FROM t) SELECT i FROM x",
        "/* tag */ WITH x AS (SELECT i FROM t) SELECT i FROM x UNION ALL SELECT i FROM x",
        "  VALUES (1), (2), (3)",
        "SELECT i FROM t LIMIT 100",
        "SELECT i FROM t ORDER BY i -- LIMIT 2",
    ],
)
def test_p07_every_shape_of_a_query_is_capped_by_fetching(path: Path, query: str) -> None:
    with Guard(connect(path), "p1-p2", Settings(max_rows=2)) as guard:
        answer = guard.run(query)
    assert list(answer.rows) == [(1,), (2,)]
    assert answer.truncated
    assert answer.probe is not None
    assert answer.probe.rows in (3, 6)
    assert answer.final_sql == query


@pytest.mark.parametrize(
    "reply",
    [
        "```sql\nSELECT i FROM t\n```",
        "```\nSELECT i FROM t;\n```",
        "~~~SQL\nSELECT i FROM t\n~~~",
        "sql\nSELECT i FROM t;",
        "**\n```sql\nSELECT i FROM t\n```\n**",
        "SQLQuery: SELECT i FROM t\nSQLResult: 1, 2",
        "Here it is:\nSELECT i FROM t;\nThis lists them, doesn't it?",
        "SELECT i FROM t;\n\nThis isn't sorted.",
        "SELECT i FROM t;<|im_end|>",
        "The query `SELECT i FROM t` does it.",
        "Either:\n```sql\nSELECT i FROM t\n```\nor:\n```sql\nSELECT s FROM t\n```",
        "> **Answer:** SELECT i FROM t",
        "<think>Which table?</think>\n<sql>SELECT i FROM t</sql>",
    ],
)
def test_p08_the_sql_of_a_reply_is_found(guard: Guard, reply: str) -> None:
    answer = guard.run(reply)
    assert answer.final_sql == "SELECT i FROM t"
    assert len(answer.rows) == 3
    assert rules(answer) == ["sql_extracted"]


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot answer",
        "Sorry, I would select it from t.",
        "",
        "42",
        '{"sql": null}',
        "```\n\n```",
    ],
)
def test_p08_a_reply_without_sql_is_not_run(guard: Guard, reply: str) -> None:
    answer = guard.run(reply)
    assert rules(answer) == ["no_sql"]
    assert answer.verdict == Verdict.ANNOTATE
    assert answer.final_sql == reply


@pytest.mark.parametrize("end", [";", ";;", " ; ", ";\n-- end", "; -- end;", " /* ; */ ;", ""])
def test_p09_semicolons_at_the_end_are_no_second_statement(guard: Guard, end: str) -> None:
    answer = guard.run("SELECT i FROM t" + end)
    assert answer.verdict == Verdict.PASS
    assert answer.final_sql == "SELECT i FROM t" + end
    assert len(answer.rows) == 3


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT i FROM t", "SELECT s FROM t"),
        ("SELECT i FROM t", "WITH x AS (SELECT 1) SELECT * FROM x"),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "VALUES (1)"),
        ("SELECT ';' AS s", "PRAGMA table_info(t)"),
    ],
)
def test_p09_two_statements_are_refused_and_shown(guard: Guard, first: str, second: str) -> None:
    answer = guard.run(f"{first};\n{second};")
    assert answer.verdict == Verdict.REFUSE
    assert rules(answer) == ["multi_statement"]
    assert f"(1) {first}; (2) {second}" in answer.findings[0].message


@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT c.x+1 FROM n AS c WHERE c.x<4) "
        "SELECT SUM(x) FROM n",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4) "
        "SELECT SUM(n.x) FROM n",
        "WITH RECURSIVE n AS (SELECT 1 AS x UNION SELECT x+1 FROM n LIMIT 4) SELECT SUM(x) FROM n",
    ],
)
def test_p11_a_recursive_query_is_left_alone(guard: Guard, query: str) -> None:
    answer = guard.run(query, fix=True)
    assert (answer.verdict, answer.final_sql) == (Verdict.PASS, query)
    assert list(answer.rows) == [(10,)]


@pytest.mark.parametrize(
    ("query", "repaired"),
    [
        ("SELECT DISTINCT a FROM one UNION ALL SELECT a FROM one",
         "SELECT DISTINCT a FROM one UNION SELECT a FROM one"),
        ("SELECT a FROM one UNION ALL SELECT a FROM one ORDER BY 1",
         "SELECT a FROM one UNION SELECT a FROM one ORDER BY 1"),
        ("SELECT a FROM one UNION ALL SELECT a FROM one LIMIT 10", None),
        ("SELECT a FROM one UNION SELECT a FROM one", None),
        ("SELECT a FROM one EXCEPT SELECT 2", None),
        ("SELECT a FROM one INTERSECT SELECT a FROM one", None),
    ],
)  # fmt: skip
def test_p12_a_set_operation_is_made_distinct_as_a_whole(
    guard: Guard, query: str, repaired: str | None
) -> None:
    answer = guard.run(query, fix=True)
    assert answer.final_sql == (repaired or query)
    assert repaired is None or list(answer.rows) == [(1,)]


def test_p14_a_name_that_our_parser_takes_for_a_keyword_still_runs(guard: Guard) -> None:
    answer = guard.run("SELECT qualify.i FROM t AS qualify", fix=True)
    assert answer.verdict == Verdict.UNDECIDED
    assert len(answer.rows) == 3
    assert answer.final_sql == answer.sql


def test_p14_a_query_that_only_our_parser_accepts_is_an_error(guard: Guard) -> None:
    answer = guard.run("SELECT i FROM order")
    assert rules(answer) == ["exec_error"]


def test_p14_a_write_that_our_parser_does_not_understand_is_refused(guard: Guard) -> None:
    answer = guard.run("DELETE FROM t AS qualify WHERE qualify.i = 1")
    assert answer.verdict == Verdict.REFUSE


@pytest.mark.parametrize(
    "query",
    [
        "SELECT i IS NOT 1 FROM t ORDER BY i LIMIT 0, 5",
        "PRAGMA table_info(t)",
        "select  I , 's' \"x\" ,`s`from[t]where i<>9 and not i!=1 or i==2",
        "SELECT CAST(i AS int), i || '', -i, +i, i IS 1, 1e0, 0x1F, x'00' FROM t -- c",
        "SELECT i FROM t WHERE s GLOB 'a' OR s LIKE 'b' ESCAPE '!' OR s BETWEEN 'a' AND 'b'",
        "\n\tSELECT\r\n  i -- first\r\nFROM\r\n  t\r\n;\r\n",
    ],
)
def test_p15_what_is_not_repaired_comes_back_to_the_byte(guard: Guard, query: str) -> None:
    answer = guard.run(query, fix=True)
    assert answer.failure is None
    assert answer.final_sql == query


@pytest.mark.parametrize("limit", ["LIMIT 5", "LIMIT 5 OFFSET 0", "LIMIT 0, 5", "LIMIT 2 + 3"])
def test_g18_distinct_never_lets_other_rows_into_a_limit(guard: Guard, limit: str) -> None:
    query = f"SELECT track FROM play ORDER BY at DESC {limit}"
    answer = guard.run(query, fix=True)
    assert answer.probe is not None
    assert (answer.probe.status, answer.probe.dup_ratio) == ("duplicates", 0.8)
    assert answer.final_sql == query
    assert list(answer.rows) == [("A",)] * 5
    distinct = guard.run(query.replace("SELECT", "SELECT DISTINCT"), fix=True)
    assert list(distinct.rows) == [("A",), ("B",), ("C",)]


def test_n04_copies_that_are_the_answer_come_back_unless_a_fix_is_asked_for(guard: Guard) -> None:
    answer = guard.run("SELECT a FROM one", question="The value of each of the five readings?")
    assert len(answer.rows) == 5
    assert answer.final_sql == answer.sql
    assert [repair.name for repair in answer.findings[0].repairs] == ["inject_distinct"]


def test_n06_an_empty_result_is_no_fault(guard: Guard) -> None:
    answer = guard.run("SELECT i FROM t WHERE i = 99", fix=True)
    assert rules(answer) == ["empty_result"]
    assert {finding.severity for finding in answer.findings} == {Severity.INFO}
    assert (answer.verdict, answer.final_sql) == (Verdict.ANNOTATE, answer.sql)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(DISTINCT i) FROM t WHERE s = 'DISTINCT'",
        "SELECT 'SELECT DISTINCT' AS distinct_id FROM t",
        "SELECT i FROM t WHERE i IS NOT DISTINCT FROM 1",
        "SELECT i FROM (SELECT DISTINCT i FROM t)",
        "SELECT -- DISTINCT\n i FROM t",
        "SELECT [DISTINCT] FROM (SELECT 1 AS [DISTINCT])",
        "SELECT DISTINCT i FROM t",
    ],
)
def test_e16_only_a_distinct_of_the_query_itself_is_ever_touched(guard: Guard, query: str) -> None:
    wide: dict[str, Any] = {"tau_remove": 1.0, "tau_inject": 1.0}
    eager = Guard(guard.engine, "p1-p2", Settings(**wide))
    assert eager.run(query, fix=True).final_sql == query


def test_e16_the_query_stays_what_it_was_behind_a_comment(guard: Guard) -> None:
    query = "-- how many\nSELECT DISTINCT 1 -- once\nFROM t -- all"
    eager = Guard(guard.engine, "p1-p2", Settings(tau_remove=1.0))
    answer = eager.run(query, fix=True)
    assert answer.final_sql == "-- how many\nSELECT 1 -- once\nFROM t -- all"
    assert len(answer.rows) == 3
