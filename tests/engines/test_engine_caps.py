"""A result is cut at the caps on rows and bytes; a cell that alone is too large is a failure."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from modularsql.engines.base import LONGEST_SQL
from modularsql.ports import Engine, Outcome
from modularsql.records import Failure, FailureKind, Limits
from modularsql.rows import Rows

Make = Callable[..., Engine]
LONG = "CREATE TABLE long_ones(t VARCHAR)"
FILL = (
    "INSERT INTO long_ones WITH RECURSIVE n(i, t) AS (SELECT 0, CAST('0123456789' AS VARCHAR) "
    "UNION ALL SELECT i + 1, t || t FROM n WHERE i < {doublings}) SELECT t FROM n"
)


def rows(outcome: Outcome) -> Rows:
    assert isinstance(outcome, Rows), outcome
    return outcome


def failure(outcome: Outcome) -> Failure:
    assert isinstance(outcome, Failure), outcome
    return outcome


@pytest.mark.parametrize("cap", [1, 2, 255, 256, 257, 999])
def test_rows_beyond_the_cap_are_left_out(shop: Engine, limits: Limits, cap: int) -> None:
    outcome = rows(shop.execute("SELECT x FROM a ORDER BY x", limits=replace(limits, max_rows=cap)))
    assert outcome.rows == [(x,) for x in range(1, cap + 1)]
    assert outcome.truncated


@pytest.mark.parametrize("cap", [1_000, 1_001])
def test_a_result_that_fits_is_whole(shop: Engine, limits: Limits, cap: int) -> None:
    outcome = rows(shop.execute("SELECT x FROM a", limits=replace(limits, max_rows=cap)))
    assert len(outcome.rows) == 1_000
    assert not outcome.truncated


def test_a_cross_join_of_a_billion_rows_is_cut_at_once(shop: Engine, limits: Limits) -> None:
    sql = "SELECT a1.x FROM a AS a1, a AS a2, a AS a3"
    outcome = rows(shop.execute(sql, limits=replace(limits, max_rows=10)))
    assert len(outcome.rows) == 10
    assert outcome.truncated
    assert outcome.ms < 5_000
    assert rows(shop.execute("SELECT 1", limits=limits)).rows == [(1,)]


@pytest.mark.parametrize("column", ["t", "CAST(t AS BLOB)"])
def test_rows_beyond_the_bytes_are_left_out(make: Make, limits: Limits, column: str) -> None:
    engine = make(LONG, FILL.format(doublings=12))  # 10, 20, …, 40,960: 81,910 in all
    sql = f"SELECT {column} FROM long_ones ORDER BY length(t)"
    few = rows(engine.execute(sql, limits=replace(limits, max_bytes=10_000)))
    assert few.truncated
    assert [len(row[0]) for row in few.rows] == [10 * 2**i for i in range(9)]
    whole = rows(engine.execute(sql, limits=replace(limits, max_bytes=100_000)))
    assert (len(whole.rows), whole.truncated) == (13, False)


def test_bytes_are_counted_over_all_columns(make: Make, limits: Limits) -> None:
    engine = make(LONG, FILL.format(doublings=0))
    sql = "SELECT " + ", ".join(["long_ones.t"] * 10) + " FROM long_ones, long_ones AS l2"
    engine_limits = replace(limits, max_bytes=180)
    assert len(rows(engine.execute(sql, limits=engine_limits)).rows) == 1
    assert (
        failure(engine.execute(sql, limits=replace(limits, max_bytes=179))).kind
        == FailureKind.TOO_LARGE
    )


def test_one_row_beyond_the_bytes_is_a_failure(make: Make, limits: Limits) -> None:
    engine = make(LONG, FILL.format(doublings=12))
    sql = "SELECT t FROM long_ones ORDER BY length(t) DESC"
    outcome = failure(engine.execute(sql, limits=replace(limits, max_bytes=10_000)))
    assert outcome.kind == FailureKind.TOO_LARGE
    assert "10000" in outcome.message
    assert rows(engine.execute("SELECT 1", limits=limits)).rows == [(1,)]


def test_a_cell_beyond_its_cap_is_a_failure(make: Make, limits: Limits) -> None:
    engine = make(max_cell_bytes=21_000)
    build = FILL.removeprefix("INSERT INTO long_ones ")
    assert len(rows(engine.execute(build.format(doublings=11), limits=limits)).rows) == 12
    outcome = failure(engine.execute(build.format(doublings=12), limits=limits))
    assert outcome.kind == FailureKind.TOO_LARGE
    assert rows(engine.execute("SELECT 1", limits=limits)).rows == [(1,)]


def test_sql_beyond_its_cap_is_refused(shop: Engine, limits: Limits) -> None:
    longest = "SELECT '" + "x" * (LONGEST_SQL - len("SELECT ''")) + "'"
    assert rows(shop.execute(longest, limits=limits)).rows
    assert failure(shop.execute(longest + " ", limits=limits)).kind == FailureKind.REFUSED


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 3_000 + "1" + ")" * 3_000,
        "SELECT " + "NOT " * 5_000 + "1 = 1",
        "SELECT " + "+".join(["1"] * 5_000),
        "SELECT " + "abs(" * 3_000 + "1" + ")" * 3_000,
        "SELECT * FROM " + "(SELECT * FROM " * 1_500 + "a" + ") AS q" * 1_500,
    ],
    ids=["parentheses", "not", "plus", "calls", "subqueries"],
)
def test_sql_nested_too_deeply_is_a_failure_and_no_crash(
    shop: Engine, limits: Limits, sql: str
) -> None:
    outcome = shop.execute(sql, limits=limits)  # a server may take that much
    assert isinstance(outcome, Rows) or outcome.kind != FailureKind.DIED
    assert rows(shop.execute("SELECT 1", limits=limits)).rows == [(1,)]


@pytest.mark.parametrize(
    "sql",
    [
        " UNION ALL ".join(["SELECT 1"] * 501),
        "SELECT " + ", ".join(["1"] * 2_001),
        "SELECT 1 WHERE 1 IN (" + ", ".join(["1"] * 50_000) + ")",
        "SELECT * FROM " + ", ".join(f"a AS a{i}" for i in range(65)) + " LIMIT 1",
    ],
    ids=["compound", "columns", "list", "joins"],
)
def test_a_wide_query_ends_and_leaves_the_engine_usable(
    shop: Engine, limits: Limits, sql: str
) -> None:
    shop.execute(sql, limits=replace(limits, seconds=0.5))
    assert rows(shop.execute("SELECT 1", limits=limits)).rows == [(1,)]
