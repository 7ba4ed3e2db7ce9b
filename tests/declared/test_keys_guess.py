"""Foreign keys guessed from names: only ever assumed, and silent where two tables fit."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from modularsql.catalog import Catalog
from modularsql.declared.ddl import catalog_of_ddl
from modularsql.declared.guess import guess_foreign_keys
from modularsql.declared.merge import merge
from modularsql.declared.tables_json import read_tables_json
from modularsql.engines.sqlite_catalog import read_catalog
from modularsql.records import Evidence

SPIDER = Path(__file__).parents[2].parent / "shared" / "data" / "spider"


def guessed(ddl: str) -> list[str]:
    before = catalog_of_ddl(ddl, "sqlite")
    after = guess_foreign_keys(before)
    for old, new in zip(before, after, strict=True):
        assert replace(new, foreign_keys=old.foreign_keys) == old
        assert new.foreign_keys[: len(old.foreign_keys)] == old.foreign_keys
        added = new.foreign_keys[len(old.foreign_keys) :]
        assert {key.evidence for key in added} <= {Evidence.ASSUMED}
    return [
        f"{table.name}.{key.columns[0]} > {key.target}.{key.target_columns[0]}"
        for table in after
        for key in table.foreign_keys
        if key.evidence is Evidence.ASSUMED
    ]


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [
        ("customer (customer_id INTEGER PRIMARY KEY)", "o (customer_id INT)", "customer_id"),
        ("customers (id INTEGER PRIMARY KEY)", "o (customer_id INT)", "customer_id"),
        ("Customer (Id INTEGER PRIMARY KEY)", "o (CustomerId INT)", "CustomerId"),
        ("customer (id INTEGER PRIMARY KEY)", "o (CUSTOMERID INT)", "CUSTOMERID"),
        (
            "customer (customer_id INTEGER PRIMARY KEY)",
            "o (bill_customer_id INT)",
            "bill_customer_id",
        ),
        ("team (id INTEGER PRIMARY KEY)", "o (homeTeamId INT)", "homeTeamId"),
        ("countries (code TEXT PRIMARY KEY NOT NULL)", "o (country_code TEXT)", "country_code"),
        ("people (SSN INTEGER PRIMARY KEY)", "o (ssn BIGINT)", "ssn"),
        ("addresses (address_id INTEGER PRIMARY KEY)", "o (address_id)", "address_id"),
    ],
)
def test_a_name_that_ends_in_the_key_s_name_is_taken_for_a_reference(
    parent: str, child: str, expected: str
) -> None:
    (found,) = guessed(f"CREATE TABLE {parent}; CREATE TABLE {child}")
    assert found.startswith(f"o.{expected} > ")


@pytest.mark.parametrize(
    "ddl",
    [
        "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE o (id INT)",
        "CREATE TABLE p (code TEXT PRIMARY KEY); CREATE TABLE o (zip_code TEXT)",
        "CREATE TABLE p (p_id TEXT NOT NULL PRIMARY KEY); CREATE TABLE o (p_id INT)",
        "CREATE TABLE p (p_id INT, q INT, PRIMARY KEY (p_id, q)); CREATE TABLE o (p_id INT)",
        "CREATE TABLE p (p_id INT UNIQUE); CREATE TABLE o (p_id INT)",
        "CREATE TABLE p (p_id INTEGER PRIMARY KEY); CREATE TABLE o (p_id INT REFERENCES p)",
        "CREATE TABLE a (x_id INTEGER PRIMARY KEY); CREATE TABLE b (x_id INTEGER PRIMARY KEY)",
        "CREATE TABLE a (x_id INTEGER PRIMARY KEY); CREATE TABLE b (x_id INTEGER PRIMARY KEY);"
        " CREATE TABLE o (x_id INT)",
    ],
)
def test_nothing_is_guessed_from_a_name_that_means_nothing_or_two_things(ddl: str) -> None:
    assert guessed(ddl) == []


def test_the_table_that_the_key_is_named_after_wins() -> None:
    found = guessed(
        "CREATE TABLE singer (singer_id INTEGER PRIMARY KEY);"
        "CREATE TABLE profile (singer_id INTEGER PRIMARY KEY);"
        "CREATE TABLE song (singer_id INT)"
    )
    assert found == ["profile.singer_id > singer.singer_id", "song.singer_id > singer.singer_id"]


def test_a_table_may_refer_to_itself_by_a_longer_name() -> None:
    ddl = "CREATE TABLE employee (employee_id INTEGER PRIMARY KEY, boss_employee_id INT)"
    assert guessed(ddl) == ["employee.boss_employee_id > employee.employee_id"]


Edge = tuple[str, str, str, str]


def edges(catalog: Catalog) -> set[Edge]:
    return {
        (table.name, key.columns[0].casefold(), key.target, key.target_columns[0].casefold())
        for table in catalog
        for key in table.foreign_keys
        if len(key.columns) == 1 and key.resolved
    }


@pytest.mark.skipif(not SPIDER.is_dir(), reason="needs ../shared/data/spider")
def test_on_spider_nine_guesses_in_ten_are_declared_foreign_keys() -> None:
    entries = json.loads((SPIDER / "tables.json").read_text(encoding="utf-8"))
    right = made = declared = 0
    for entry in entries:
        name = entry["db_id"]
        path = SPIDER / "database" / name / f"{name}.sqlite"
        if not path.exists():
            continue
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            catalog = merge(read_catalog(db), read_tables_json(entry, name, "tables.json")).catalog
        bare = replace(catalog, tables=tuple(replace(t, foreign_keys=()) for t in catalog))
        known, found = edges(catalog), edges(guess_foreign_keys(bare))
        right, made, declared = right + len(known & found), made + len(found), declared + len(known)
    assert right / made > 0.85, f"{right} of {made}"
    assert right / declared > 0.6, f"{right} of {declared}"
