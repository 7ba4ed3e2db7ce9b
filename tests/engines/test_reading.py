"""What servers are not asked: told from any text, also a hostile one, and within short."""

import time

import pytest

from modularsql.engines import mysql_rules, postgres
from modularsql.engines.reading import Manner, refusal_of
from modularsql.records import Failure

MANNERS = [postgres.MANNER, mysql_rules.MANNER]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "abs(" * 20_000 + "1" + ")" * 20_000,
        "SELECT " + "abs(" * 20_000,
        "SELECT " + ")" * 50_000,
        "EXPLAIN " * 20_000 + "SELECT 1",
        "EXPLAIN (" * 10_000 + "SELECT 1" + ")" * 10_000,
        "EXPLAIN (VERBOSE) " * 10_000 + "SELECT 1",
        "WITH " + ", ".join(f"a{i}(x) AS (SELECT 1)" for i in range(4_000)) + " SELECT 1",
        "SELECT 1" + " /**/ " * 20_000,
        "SELECT 1" + " ;" * 40_000,
        "SELECT " + "FOR " * 20_000,
    ],
    ids=lambda text: text[:16],
)
@pytest.mark.parametrize("manner", MANNERS, ids=lambda manner: manner.dialect)
def test_no_text_is_slow_to_refuse(text: str, manner: Manner) -> None:
    start = time.process_time()
    answer = refusal_of(text, manner, lambda name, _: name == "sleep")
    assert answer is None or isinstance(answer, Failure)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("manner", MANNERS, ids=lambda manner: manner.dialect)
@pytest.mark.parametrize("sql", ["SELECT abs(sleep(9))", "WITH a(x) AS (SELECT sleep(9)) SELECT 1"])
def test_a_function_that_acts_is_found_at_any_depth(sql: str, manner: Manner) -> None:
    answer = refusal_of(sql, manner, lambda name, _: name == "sleep")
    assert isinstance(answer, Failure)
    assert "sleep()" in answer.message


def test_an_alias_with_columns_is_surely_no_function() -> None:
    said: dict[str, bool] = {}

    def acts(name: str, sure: bool) -> bool:
        said[name] = sure
        return False

    sql = "WITH a(x) AS (SELECT f(g(1))) SELECT * FROM (SELECT 1) b(y), t AS c(z)"
    assert refusal_of(sql, postgres.MANNER, acts) is None
    assert {name for name, sure in said.items() if sure} == {"f", "g"}


def test_the_columns_of_a_json_table_are_surely_no_function() -> None:
    said: dict[str, bool] = {}

    def acts(name: str, sure: bool) -> bool:
        said[name] = sure
        return False

    sql = "SELECT x FROM JSON_TABLE(f(y), '$[*]' COLUMNS (x INT PATH '$')) AS j"
    assert refusal_of(sql, mysql_rules.MANNER, acts) is None
    assert said["columns"] is False
    assert said["f"] is True
