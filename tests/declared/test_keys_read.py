"""Key files and schema scripts from disk: the kind is told from the content."""

import json
from pathlib import Path

import pytest

from modularsql.declared.read import read_keys, read_schema
from modularsql.errors import InputError

TOML = '# ours\n[tables.orders]\nprimary_key = ["id"]\n'
TABLES = {
    "db_id": "shop",
    "table_names_original": ["orders"],
    "column_names_original": [[-1, "*"], [0, "id"]],
    "primary_keys": [1],
}
MANIFEST = {
    "metadata": {},
    "nodes": {
        "model.p.orders": {"resource_type": "model", "name": "orders", "schema": "main"},
        "test.p.unique": {
            "resource_type": "test",
            "attached_node": "model.p.orders",
            "test_metadata": {"name": "unique", "kwargs": {"column_name": "id"}},
        },
    },
}


@pytest.mark.parametrize(
    "text",
    [
        TOML,
        TOML.removeprefix("# ours\n"),
        json.dumps(TABLES),
        json.dumps([TABLES, {**TABLES, "db_id": "other"}], indent=2),
        json.dumps(MANIFEST),
        "\ufeff" + TOML,
    ],
)
def test_each_kind_of_key_file_is_told_from_its_content(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys"
    path.write_text(text, encoding="utf-8")
    (table,) = read_keys(path, "shop").catalog
    assert table.name == "orders"
    assert [key.columns for key in table.keys] == [("id",)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"[1, 2]", "is JSON that says nothing of keys"),
        (b"{}", "is JSON that says nothing of keys"),
        (b"[]", "is JSON that says nothing of keys"),
        (b'{"a": \n 1', "is no JSON: Expecting ',' delimiter (line 2, column 3)"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"a = " + b"[" * 100_000, "is nested too deeply"),
        (b"CREATE TABLE t (a int);", "is SQL, no key file"),
        (b"hello", "is no TOML: Expected '=' after a key"),
        (b"SQLite format 3\0", "is a SQLite database, not text"),
        (b"\x1f\x8bxyz", "is compressed, not text"),
    ],
)
def test_another_file_is_an_error_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "keys"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_keys(path)
    assert f"{path} {message}" in str(caught.value)
    assert caught.value.hint
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file at"):
        read_keys(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is a folder"):
        read_keys(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_schema_is_read_in_any_encoding_that_shells_write(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "schema.sql"
    path.write_text(
        "CREATE TABLE t (a INT); INSERT INTO t VALUES ('K\u00f6ln');", encoding=encoding
    )
    assert [table.name for table in read_schema(path, "sqlite").catalog] == ["t"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"SELECT 1", "creates no table that can be read as sqlite (check the dialect"),
        (b"CREATE TABLE t (", "creates no table that can be read as sqlite: line 1: CREATE TABLE"),
        (b"PGDMP\1", "is a binary dump, not text (write its schema out: pg_restore"),
    ],
)
def test_a_schema_without_a_table_is_an_error(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "schema.sql"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_schema(path, "sqlite")
    assert message in str(caught.value)
