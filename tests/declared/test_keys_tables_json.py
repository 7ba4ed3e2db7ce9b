"""Spider's and BIRD's tables.json: what it says, and how much of it the data bears out."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from modularsql.catalog import ForeignKey, Key
from modularsql.declared.checks import Check, apply_results, checks
from modularsql.declared.ddl import catalog_of_ddl
from modularsql.declared.merge import merge
from modularsql.declared.read import read_keys
from modularsql.declared.tables_json import read_tables_json
from modularsql.engines.sqlite_catalog import read_catalog
from modularsql.errors import InputError
from modularsql.records import Evidence

DATA = Path(__file__).parents[2].parent / "shared" / "data"
SPIDER = DATA / "spider"
BIRD = DATA / "bird"


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "db_id": "shop",
        "table_names_original": ["Customer", "Orders"],
        "column_names_original": [[-1, "*"], [0, "Id"], [0, "Name"], [1, "No"], [1, "CustId"]],
        "column_types": ["text", "number", "text", "time", "number"],
        "primary_keys": [1, 3],
        "foreign_keys": [[4, 1]],
        **changes,
    }


def test_names_in_plain_words_are_descriptions_beside_what_a_database_declares() -> None:
    words = entry(
        table_names=["client", "purchases"],
        column_names=[[-1, "*"], [0, "client number"], [0, "name"], [1, "no"], [1, "client"]],
    )
    said = read_tables_json([words], "shop", "tables.json")
    database = catalog_of_ddl("CREATE TABLE customer (id INTEGER, name TEXT, more TEXT)", "sqlite")
    merged = merge(database, said)
    (customer,) = merged.catalog.tables
    assert customer.description == "client"
    assert [c.description for c in customer.columns] == ["client number", "name", ""]
    (plain, _) = read_tables_json([entry()], "shop", "tables.json").catalog.tables
    assert {plain.description, *(c.description for c in plain.columns)} == {""}


def test_numbers_become_names_and_all_of_it_is_asserted() -> None:
    declared = read_tables_json([entry()], "shop", "tables.json")
    customer, orders = declared.catalog.tables
    assert [(c.name, c.type) for c in orders.columns] == [("No", ""), ("CustId", "NUMERIC")]
    assert customer.columns[0].not_null is Evidence.ASSERTED
    assert customer.keys == (
        Key(columns=("Id",), kind="primary", null_distinct=False, evidence=Evidence.ASSERTED),
    )
    assert orders.foreign_keys == (
        ForeignKey(
            columns=("CustId",),
            target="Customer",
            target_columns=("Id",),
            evidence=Evidence.ASSERTED,
        ),
    )


def test_a_list_of_numbers_is_one_key_of_several_columns() -> None:
    declared = read_tables_json(entry(primary_keys=[[3, 4]]), None, "tables.json")
    assert [key.columns for key in declared.catalog.tables[1].keys] == [("No", "CustId")]


def test_two_primary_keys_of_a_table_are_two_keys() -> None:
    declared = read_tables_json(entry(primary_keys=[3, 4]), None, "tables.json")
    assert [(k.columns, k.kind) for k in declared.catalog.tables[1].keys] == [
        (("No",), "primary"),
        (("CustId",), "unique"),
    ]
    assert declared.problems == ("Orders: a second primary key (CustId), taken too",)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"primary_keys": [99]}, "primary_keys[0] is 99: no columns of one table"),
        ({"primary_keys": [0]}, "primary_keys[0] is 0: no columns of one table"),
        ({"primary_keys": [[1, 3]]}, "primary_keys[0] is [1, 3]: no columns of one table"),
        ({"primary_keys": [[]]}, "primary_keys[0] is []: no columns of one table"),
        ({"foreign_keys": [[4]]}, "foreign_keys[0] is [4]: no pair of two columns"),
        ({"foreign_keys": [[4, 4]]}, "foreign_keys[0] is [4, 4]: no pair of two columns"),
        ({"foreign_keys": [[4, -1]]}, "foreign_keys[0] is [4, -1]: no pair of two columns"),
        ({"foreign_keys": ["x"]}, "foreign_keys[0] is 'x': no pair of two columns"),
    ],
)
def test_a_number_that_is_no_column_is_listed(changes: dict[str, Any], problem: str) -> None:
    declared = read_tables_json([entry(**changes)], "shop", "tables.json")
    assert declared.problems == (problem,)


@pytest.mark.parametrize(
    ("value", "database", "message"),
    [
        ([entry(), entry(db_id="b")], None, r"f.json describes 2 databases \(shop, b, …\)"),
        ([entry()], "shpo", r"f.json has no database 'shpo' \(it has 1, e.g. shop\)"),
        (entry(table_names_original=[1]), None, "f.json, database shop: table_names_original"),
        (
            entry(column_names_original=[[7, "x"]]),
            None,
            r"column_names_original\[0\] is \[7, 'x'\]",
        ),
        (entry(column_names_original=[["x"]]), None, r"column_names_original\[0\] is \['x'\]"),
        (entry(column_names_original=None), None, "column_names_original is no list of list"),
        (entry(primary_keys=7), None, "primary_keys is no list"),
    ],
)
def test_another_shape_is_an_error_that_names_the_place(
    value: Any, database: str | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_tables_json(value, database, "f.json")


def run(check: Check, connection: sqlite3.Connection) -> int:
    count = connection.execute(check.sql).fetchone()[0]
    assert isinstance(count, int)
    return count


@pytest.mark.skipif(not SPIDER.is_dir(), reason="needs ../shared/data/spider")
def test_spider_s_data_breaks_about_a_ninth_of_the_primary_keys_said_of_it() -> None:
    entries = json.loads((SPIDER / "tables.json").read_text(encoding="utf-8"))
    said = broken = foreign = orphaned = 0
    for one in entries:
        name = one["db_id"]
        path = SPIDER / "database" / name / f"{name}.sqlite"
        if not path.exists():
            continue
        declared = read_tables_json(entries, name, "tables.json")
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            catalog = read_catalog(db)
            results = {check: run(check, db) for check in checks(declared.catalog)}
            merged = merge(catalog, declared)
        assert merged.problems == ()
        left = apply_results(declared.catalog, results)
        assert len(left.problems) == sum(1 for count in results.values() if count)
        counts = [n for check, n in results.items() if isinstance(check.claim, Key)]
        said, broken = said + len(counts), broken + sum(1 for n in counts if n)
        counts = [n for check, n in results.items() if isinstance(check.claim, ForeignKey)]
        foreign, orphaned = foreign + len(counts), orphaned + sum(1 for n in counts if n)
    assert said > 700
    assert 0.09 < broken / said < 0.13, f"{broken} of {said}"  # 85 of 774 when this was written
    assert 0.01 < orphaned / foreign < 0.05, f"{orphaned} of {foreign}"  # 20 of 766


@pytest.mark.skipif(not BIRD.is_dir(), reason="needs ../shared/data/bird")
def test_the_keys_said_of_superhero_hold() -> None:
    declared = read_keys(BIRD / "dev_tables.json", "superhero")
    (path,) = (BIRD / "databases" / "superhero").glob("*.sqlite")
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        merged = merge(read_catalog(db), declared)
        counts = [run(check, db) for check in checks(merged.catalog)]
    assert merged.problems == ()
    assert set(counts) == {0}
