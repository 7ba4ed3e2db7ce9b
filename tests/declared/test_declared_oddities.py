"""Whatever the text, the answer is a value or an `InputError`, never another exception."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modularsql.declared.dbt import read_manifest
from modularsql.declared.ddl import read_ddl
from modularsql.declared.keyfile import read_keyfile
from modularsql.declared.tables_json import is_tables_json, read_tables_json
from modularsql.errors import InputError

WORDS = (
    "CREATE TABLE VIEW UNIQUE INDEX ALTER DROP ADD RENAME TO COLUMN CONSTRAINT PRIMARY KEY FOREIGN "
    "REFERENCES NOT NULL DEFAULT COLLATE AS SELECT FROM ON USING LIKE IF EXISTS GENERATED IDENTITY "
    "CHECK MODIFY CHANGE PARTITION OF INHERITS COPY stdin DELIMITER USE SET search_path WITHOUT "
    "ROWID ENGINE = MyISAM ( ) ( ) , , ; ; . a b t t 'x' \"q\" `w` [z] 1 $$ $tag$ /* */ -- \\. \n "
    "* < > VIRTUAL TEMP ONLY"
).split(" ")
DIALECTS = ["sqlite", "postgres", "mysql", "duckdb", "snowflake", "bigquery", "tsql"]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=30), st.sampled_from(DIALECTS))
def test_any_words_read_as_ddl(words: list[str], dialect: str) -> None:
    start = "CREATE TABLE t (a INT PRIMARY KEY, b TEXT UNIQUE, c INT REFERENCES t (a));\n"
    declared = read_ddl(start + " ".join(words), dialect)
    assert all("\n" not in problem for problem in declared.problems)


FIELDS = (
    "name alias schema resource_type config contract enforced constraints columns type to "
    "to_columns test_metadata kwargs column_name field depends_on nodes attached_node"
).split()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "a", "ref('a')", "x.y"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(VALUES, VALUES, st.sampled_from(["unique", "not_null", "relationships"]))
def test_any_nodes_read_as_a_manifest(one: Any, other: Any, kind: str) -> None:
    nodes = {
        "a": {"resource_type": "model", "name": "a", "config": one, "columns": other},
        "b": {"resource_type": "test", "test_metadata": {"name": kind, "kwargs": one}},
        "c": other,
    }
    read_manifest({"nodes": nodes, "sources": {"d": one}, "disabled": {"e": other}}, "f")


@settings(max_examples=150, deadline=None)
@given(VALUES, VALUES, VALUES)
def test_any_lists_read_as_tables_json(columns: Any, primary: Any, foreign: Any) -> None:
    value = {
        "db_id": "d",
        "table_names_original": ["a", "b"],
        "column_names_original": columns,
        "column_types": foreign,
        "primary_keys": primary,
        "foreign_keys": foreign,
    }
    assert is_tables_json(value)
    with suppress(InputError):
        read_tables_json(value, None, "f")


@settings(max_examples=150, deadline=None)
@given(VALUES, st.sampled_from(["primary_key", "unique", "not_null", "foreign_keys", "x"]))
def test_any_value_reads_as_a_part_of_a_key_file(value: Any, part: str) -> None:
    with suppress(InputError):
        read_keyfile(f"[tables.t]\n{part} = {toml(value)}", "f")


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps("" if value is None else value)


def test_deep_nesting_is_no_crash() -> None:
    deep = "(" * 20_000 + ")" * 20_000
    assert read_ddl(f"CREATE TABLE t (a INT DEFAULT {deep})", "sqlite").catalog.tables
    assert read_ddl(f"CREATE VIEW v AS SELECT {deep}", "sqlite").problems


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_empty_script_is_an_empty_catalog(dialect: str) -> None:
    assert read_ddl("", dialect).catalog.tables == ()
