"""Values keep their types, parameters are bound, and a result says what it is."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from modularsql.ports import Engine
from modularsql.records import Failure, FailureKind, Limits
from modularsql.rows import Rows

Make = Callable[..., Engine]


def rows(engine: Engine, sql: str, params: Any = None) -> list[tuple[Any, ...]]:
    outcome = engine.execute(sql, params, limits=Limits(seconds=10))
    assert isinstance(outcome, Rows), outcome
    return outcome.rows


def failure(engine: Engine, sql: str, params: Any = None) -> Failure:
    outcome = engine.execute(sql, params, limits=Limits(seconds=10))
    assert isinstance(outcome, Failure), outcome
    return outcome


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        2**31,
        2**53 + 1,
        2**63 - 1,
        -(2**63),
        0.1,
        1.0,
        -0.0,
        5e-324,
        1.7976931348623157e308,
        None,
        "",
        "text",
        "it's",
        "a\0b",
        "line\nbreak\ttab",
        "😀 ünï",
        "e\u0301",
        b"",
        b"\0\xff\xfe",
        "x" * 100_000,
        b"x" * 100_000,
    ],
    ids=lambda value: repr(value)[:20].replace("\\", "").replace("\0", ""),
)
def test_a_value_comes_back_as_it_went_in(shop: Engine, value: object) -> None:
    [(back,)] = rows(shop, "SELECT ?", [value])
    assert (back, type(back)) == (value, type(value))
    assert math.copysign(1, back) == math.copysign(1, value) if isinstance(value, float) else True


def test_an_infinite_number_stays_one(shop: Engine) -> None:
    assert rows(shop, "SELECT ?, ?", [math.inf, -math.inf]) == [(math.inf, -math.inf)]


def test_stored_values_come_back(make: Make) -> None:
    engine = make(
        "CREATE TABLE t(i INTEGER, f DOUBLE PRECISION, s VARCHAR(9), b BLOB)",
        "INSERT INTO t VALUES (1, 0.5, 'a', NULL), (NULL, NULL, NULL, NULL)",
    )
    assert rows(engine, "SELECT i, f, s, b FROM t ORDER BY i NULLS LAST") == [
        (1, 0.5, "a", None),
        (None, None, None, None),
    ]


def test_a_result_says_its_columns_types_and_time(shop: Engine, limits: Limits) -> None:
    outcome = shop.execute("SELECT id, name AS who FROM customer WHERE id = 1", limits=limits)
    assert isinstance(outcome, Rows)
    assert outcome.columns == ("id", "who")
    assert len(outcome.types) == 2
    known = ((None, None), ("INTEGER", "VARCHAR"), ("int4", "varchar"), ("int", "varchar"))
    assert outcome.types in known
    assert outcome.rows == [(1, "Ann")]
    assert outcome.truncated is False
    assert 0 < outcome.ms < limits.seconds * 1000


def test_column_names_may_repeat_or_be_odd(shop: Engine, limits: Limits) -> None:
    sql = 'SELECT 1 AS a, 2 AS a, 3 AS "A b", 4 AS "😀" FROM customer WHERE id = 1'
    outcome = shop.execute(sql, limits=limits)
    assert isinstance(outcome, Rows)
    assert outcome.columns == ("a", "a", "A b", "😀")
    assert outcome.rows == [(1, 2, 3, 4)]


def test_a_result_without_rows_has_columns(shop: Engine, limits: Limits) -> None:
    outcome = shop.execute("SELECT id, name FROM customer WHERE 1 = 0", limits=limits)
    assert isinstance(outcome, Rows)
    assert (outcome.columns, outcome.rows) == (("id", "name"), [])


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ("SELECT id FROM customer WHERE name = ? AND id < ?", ["Ann", 3]),
        ("SELECT id FROM customer WHERE name = ? AND id < ?", ("Ann", 3)),
        ("SELECT id FROM customer WHERE name = $who AND id < $below", {"who": "Ann", "below": 3}),
    ],
    ids=["list", "tuple", "names"],
)
def test_parameters_are_bound(shop: Engine, sql: str, params: Any) -> None:
    assert rows(shop, sql, params) == [(1,)]


@pytest.mark.parametrize("nothing", [None, [], (), {}], ids=repr)
def test_no_parameters_are_no_parameters(shop: Engine, nothing: Any) -> None:
    assert rows(shop, "SELECT 1", nothing) == [(1,)]


def test_a_parameter_is_never_read_as_sql(shop: Engine) -> None:
    assert rows(shop, "SELECT count(*) FROM customer WHERE name = ?", ["' OR 1=1 --"]) == [(0,)]


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ("SELECT ?", None),
        ("SELECT ?, ?", [1]),
        ("SELECT $a", None),
        ("SELECT $a, $b", {"a": 1}),
        ("SELECT ?", [1, 2]),
    ],
)
def test_a_parameter_without_a_value_is_told_from_an_error(
    shop: Engine, sql: str, params: Any
) -> None:
    assert failure(shop, sql, params).kind == FailureKind.UNBOUND
    assert rows(shop, "SELECT 1") == [(1,)]


@pytest.mark.parametrize(
    ("sql", "params", "said"),
    [
        ("SELECT ?", None, "without values"),
        ("SELECT $a, $b", {"a": 1}, "without values (b)"),
        ("SELECT ?, ?, ?", [1], "without values (2, 3)"),
        ("SELECT ?", [1, 2], "no parameter 2"),
        ("SELECT 1", [5], "no parameter 1"),
        ("SELECT $a", {"a": 1, "b": 2}, "no parameter b"),
        ("SELECT 1", {"b": 2}, "no parameter b"),
    ],
)
def test_a_value_too_many_is_told_from_one_too_few(
    shop: Engine, sql: str, params: Any, said: str
) -> None:
    found = failure(shop, sql, params)
    assert found.kind == FailureKind.UNBOUND
    assert said in found.message, found


@pytest.mark.parametrize(
    "odd",
    [object, 10**40, "lone \ud800 surrogate", [1].__iter__(), 1j],
    ids=["class", "huge", "surrogate", "iterator", "complex"],
)
def test_a_parameter_of_an_odd_type_is_an_error_of_the_query(shop: Engine, odd: object) -> None:
    assert failure(shop, "SELECT ?", [odd]).kind == FailureKind.ERROR
    assert rows(shop, "SELECT 1") == [(1,)]


def test_a_parameter_that_cannot_travel_is_an_error_of_the_query(shop: Engine) -> None:
    assert failure(shop, "SELECT ?", [lambda: 1]).kind == FailureKind.ERROR
    assert rows(shop, "SELECT 1") == [(1,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELEC 1",
        "SELECT",
        "SELECT * FROM no_such_table",
        "SELECT no_such_column FROM customer",
        "SELECT no_such_function(1)",
        "SELECT 'unclosed",
        "SELECT (1",
        "SELECT 1 FROM customer GROUP BY",
        "SELECT '\ud800'",
        "😀",
    ],
    ids=ascii,
)
def test_wrong_sql_is_a_value_with_a_message(shop: Engine, sql: str) -> None:
    wrong = failure(shop, sql)
    assert wrong.kind in (FailureKind.ERROR, FailureKind.REFUSED)
    assert wrong.message
    assert rows(shop, "SELECT 1") == [(1,)]


@pytest.mark.parametrize("sql", ["", " ", ";", "-- nothing", "/* nothing */"], ids=repr)
def test_no_statement_is_refused(shop: Engine, sql: str) -> None:
    assert failure(shop, sql).kind == FailureKind.REFUSED


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS x;",
        "  SELECT 1 AS x -- note",
        "/* note */ SELECT 1 AS x",
        "SELECT 1 AS x; -- note",
        "WITH q AS (SELECT 1 AS x) SELECT x FROM q",
        "VALUES (1)",
        "SELECT 1 UNION SELECT 1",
        "SELECT count(*) FROM customer WHERE id = 1",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) "
        "SELECT min(i) FROM n",
        "SELECT row_number() OVER (ORDER BY id) FROM customer ORDER BY id LIMIT 1",
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM orders) THEN 1 ELSE 0 END",
        "SELECT length(trim(upper(coalesce(NULL, ' a '))))",
        "SELECT CAST(round(1.2) AS INTEGER)",
    ],
    ids=lambda sql: sql[:30],
)
def test_a_statement_that_reads_runs(shop: Engine, sql: str) -> None:
    assert rows(shop, sql) == [(1,)]


def test_a_plan_can_be_read(shop: Engine) -> None:
    assert rows(shop, "EXPLAIN SELECT id FROM customer")
