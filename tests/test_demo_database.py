"""The demo's database is what its script builds, and its queries do what `queries.toml` says."""

import importlib.util
import sqlite3
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from modularsql import Guard, connect
from modularsql.guard.verdict import remaining
from modularsql.records import Severity

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "src" / "modularsql" / "demo"
QUERIES: dict[str, dict[str, str]] = {
    query["title"]: query
    for query in tomllib.loads((DEMO / "queries.toml").read_text("utf-8"))["query"]
}
FIELDS = {"title", "question", "sql", "shows"}
ROWS = {
    "category": 7,
    "tag": 6,
    "product": 24,
    "product_tag": 30,
    "customer": 30,
    "sales_order": 80,
    "order_line": 197,
    "payment": 101,
    "review": 85,
}
KEYS = {
    "category": ["category_id"],
    "tag": ["tag_id"],
    "product": ["product_id"],
    "product_tag": ["product_id", "tag_id"],
    "customer": ["customer_id"],
    "sales_order": ["order_id"],
    "order_line": ["order_id", "line_no"],
    "payment": ["payment_id"],
    "review": ["review_id"],
}
PARENTS = {
    "product": {"category"},
    "product_tag": {"product", "tag"},
    "sales_order": {"customer"},
    "order_line": {"sales_order", "product"},
    "payment": {"sales_order"},
    "review": {"product", "customer"},
}

Row = tuple[Any, ...]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "make_demo_db", ROOT / "scripts" / "make_demo_db.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def shop() -> Iterator[sqlite3.Connection]:
    with closing(_open(DEMO / "shop.sqlite")) as connection:
        yield connection


def test_the_shipped_file_holds_what_the_script_builds(
    script: ModuleType, shop: sqlite3.Connection, tmp_path: Path
) -> None:
    script.build(tmp_path / "new.sqlite")
    with closing(_open(tmp_path / "new.sqlite")) as new:
        assert list(new.iterdump()) == list(shop.iterdump())


def test_two_builds_are_the_same_bytes(script: ModuleType, tmp_path: Path) -> None:
    for name in ("one", "two", "two"):  # the third replaces a file that is there
        script.build(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_file_is_small_and_packed(shop: sqlite3.Connection) -> None:
    assert (DEMO / "shop.sqlite").stat().st_size < 120_000
    assert _rows(shop, "PRAGMA page_size")[0][0] <= 4096
    assert _rows(shop, "PRAGMA freelist_count") == [(0,)]
    assert _rows(shop, "PRAGMA journal_mode") == [("delete",)]
    assert {table: _count(shop, table) for table in ROWS} == ROWS
    assert _tables(shop) == set(ROWS)


def test_declared_keys_hold(shop: sqlite3.Connection) -> None:
    assert _rows(shop, "PRAGMA integrity_check") == [("ok",)]
    assert _rows(shop, "PRAGMA foreign_key_check") == []
    for table, key in KEYS.items():
        columns = _rows(shop, f"PRAGMA table_info({table})")
        places = sorted((place, name) for _, name, _, _, _, place in columns if place)
        assert [name for _, name in places] == key


@pytest.mark.parametrize("table", ROWS)
def test_foreign_keys_are_declared(shop: sqlite3.Connection, table: str) -> None:
    found = _rows(shop, f"PRAGMA foreign_key_list({table})")
    assert {parent for _, _, parent, *_ in found} == PARENTS.get(table, set())


def test_the_shop_is_consistent(shop: sqlite3.Connection) -> None:
    wrong_totals = """
        SELECT 1 FROM sales_order AS o WHERE o.total <>
          (SELECT SUM(quantity * unit_price) FROM order_line WHERE order_id = o.order_id)"""
    wrong_payments = """
        SELECT 1 FROM sales_order AS o
        WHERE CASE WHEN o.status = 'cancelled' THEN 0 ELSE o.total END <>
          (SELECT COALESCE(SUM(amount), 0) FROM payment WHERE order_id = o.order_id)"""
    assert _rows(shop, wrong_totals) == []
    assert _rows(shop, wrong_payments) == []


def test_some_parents_have_no_children(shop: sqlite3.Connection) -> None:
    idle = "SELECT 1 FROM customer WHERE customer_id NOT IN (SELECT customer_id FROM sales_order)"
    unsold = "SELECT name FROM product WHERE product_id NOT IN (SELECT product_id FROM order_line)"
    assert len(_rows(shop, idle)) >= 3
    assert _rows(shop, unsold) == [("Coffee roaster for the stove",)]


def test_every_query_is_complete() -> None:
    assert len(QUERIES) == 6
    for query in QUERIES.values():
        assert set(query) == FIELDS
        assert all(text.strip() for text in query.values())


def test_a_join_repeats_rows_and_distinct_gives_the_right_ones(shop: sqlite3.Connection) -> None:
    sql = _sql("Repeated rows after a join")
    right = """
        SELECT c.name, c.email FROM customer AS c
        WHERE c.city = 'Bergen' AND EXISTS (
          SELECT 1 FROM sales_order AS o JOIN order_line AS l ON l.order_id = o.order_id
          WHERE o.customer_id = c.customer_id AND l.product_id IN
            (SELECT product_id FROM review WHERE stars = 5))"""
    found = _rows(shop, sql)
    assert _dup_ratio(found) >= 0.85
    assert sorted(_rows(shop, _distinct(sql))) == sorted(_rows(shop, right))
    assert 5 <= len(set(found)) < len(_rows(shop, "SELECT 1 FROM customer WHERE city = 'Bergen'"))


def test_under_a_limit_distinct_brings_in_other_rows(shop: sqlite3.Connection) -> None:
    sql = _sql("Repeated rows under a LIMIT")
    found = _rows(shop, sql)
    assert len(found) == 10
    assert set(found) == {("Lever espresso machine", 6900)}
    assert _dup_ratio(found) == pytest.approx(0.9)
    other = _rows(shop, _distinct(sql))
    assert len(set(other)) == 10
    assert len({price for _, price in other}) == 10, "a tie would leave the order open"


def test_distinct_loses_one_of_two_namesakes(shop: sqlite3.Connection) -> None:
    sql = _sql("A DISTINCT that loses a person")
    people = _rows(shop, sql.replace("DISTINCT ", ""))
    assert len(people) == len(_rows(shop, sql)) + 1
    assert 0 < _dup_ratio(people) <= 0.08
    assert people.count(("Kari Solheim",)) == 2
    assert "GROUP BY" not in sql
    assert len(people) == _rows(shop, "SELECT COUNT(*) FROM customer WHERE newsletter = 1")[0][0]


def test_the_sum_is_inflated_by_instalments(shop: sqlite3.Connection) -> None:
    found = _rows(shop, _sql("An inflated sum"))
    once = """
        SELECT SUM(total) FROM sales_order AS o WHERE EXISTS
          (SELECT 1 FROM payment AS p WHERE p.order_id = o.order_id AND p.method = 'card')"""
    right = _rows(shop, once)
    assert len(found) == 1
    assert found[0][0] >= 1.25 * right[0][0]
    assert right == _rows(shop, "SELECT SUM(amount) FROM payment WHERE method = 'card'")


def test_a_missing_predicate_explodes(shop: sqlite3.Connection) -> None:
    sql = _sql("Every order with every customer")
    found = _rows(shop, sql)
    assert len(found) == ROWS["sales_order"] * ROWS["customer"] == 2400
    assert len(found) >= 10 * max(ROWS["sales_order"], ROWS["customer"])
    assert _dup_ratio(found) < 0.1, "only the explosion is to be seen, not repeated rows"
    joined = sql.replace("ORDER BY", "WHERE c.customer_id = o.customer_id ORDER BY")
    assert len(_rows(shop, joined)) == ROWS["sales_order"]


def test_the_healthy_query_adds_every_line_once(shop: sqlite3.Connection) -> None:
    found = _rows(shop, _sql("A healthy query"))
    assert len(found) == len(set(found)) == ROWS["category"]
    total = _rows(shop, "SELECT SUM(total) FROM sales_order WHERE status <> 'cancelled'")
    assert sum(sold for _, sold in found) == total[0][0]


GUARDED = {  # repairs that --fix applies, rules that stay loud, rows before and after
    "Repeated rows after a join": (["semi_join"], set(), 184, 8),
    "Repeated rows under a LIMIT": ([], {"duplicate_rows", "fan_out_rows"}, 10, 10),
    "A DISTINCT that loses a person": (["remove_distinct"], set(), 17, 18),
    "An inflated sum": (["semi_join"], set(), 1, 1),
    "Every order with every customer": (["add_join_predicate"], set(), 2400, 80),
    "A healthy query": ([], set(), 7, 7),
}


@pytest.mark.parametrize("title", QUERIES)
def test_the_guard_does_with_each_query_what_its_text_says(title: str) -> None:
    applied, loud, before, after = GUARDED[title]
    with Guard(connect(DEMO / "shop.sqlite")) as guard:
        question = QUERIES[title]["question"]
        found = guard.run(_sql(title), question=question)
        fixed = guard.run(_sql(title), question=question, fix=True)
    assert (len(found.rows), len(fixed.rows)) == (before, after)
    assert list(fixed.applied) == applied
    left = remaining(fixed.findings, fixed.applied)
    assert {f.rule for f in left if f.severity != Severity.INFO} == loud
    assert (fixed.final_sql == fixed.sql) == (not applied)


def test_the_repaired_sum_counts_each_order_once(shop: sqlite3.Connection) -> None:
    with Guard(connect(DEMO / "shop.sqlite")) as guard:
        fixed = guard.run(_sql("An inflated sum"), fix=True)
    paid = _rows(shop, "SELECT SUM(amount) FROM payment WHERE method = 'card'")
    assert list(fixed.rows) == paid
    ((inflated,),) = _rows(shop, _sql("An inflated sum"))
    assert 0.45 < paid[0][0] / inflated < 0.55, "the text says: about half"


def test_the_repaired_list_gives_each_order_its_own_customer(shop: sqlite3.Connection) -> None:
    sql = _sql("Every order with every customer")
    with Guard(connect(DEMO / "shop.sqlite")) as guard:
        fixed = guard.run(sql, fix=True)
    right = """
        SELECT order_id, ordered_on, (SELECT name FROM customer AS c
          WHERE c.customer_id = o.customer_id) FROM sales_order AS o ORDER BY order_id"""
    assert list(fixed.rows) == _rows(shop, right)


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)


def _rows(connection: sqlite3.Connection, sql: str) -> list[Row]:
    return connection.execute(sql).fetchall()


def _tables(connection: sqlite3.Connection) -> set[str]:
    found = _rows(connection, "SELECT name FROM sqlite_master WHERE type = 'table'")
    return {name for (name,) in found}


def _count(connection: sqlite3.Connection, table: str) -> int:
    count: int = _rows(connection, f"SELECT COUNT(*) FROM {table}")[0][0]
    return count


def _dup_ratio(rows: list[Row]) -> float:
    return (len(rows) - len(set(rows))) / len(rows)


def _sql(title: str) -> str:
    return QUERIES[title]["sql"]


def _distinct(sql: str) -> str:
    return sql.replace("SELECT ", "SELECT DISTINCT ", 1)
