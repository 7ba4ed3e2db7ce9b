"""Keys from a file beside those of the database: believed as far as the data upholds them."""

import sqlite3
from pathlib import Path

import pytest

from modularsql import Settings
from modularsql.errors import InputError
from modularsql.service.guarding import GuardRequest, guard

SQL = "SELECT SUM(b.amount) FROM bill b JOIN note n ON n.bill = b.id"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "bills.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE bill (id INTEGER, amount INTEGER); CREATE TABLE note (bill INTEGER);"
            "INSERT INTO bill VALUES (1, 10), (2, 20); INSERT INTO note VALUES (1), (2);"
        )
    connection.close()
    return path


def run(database: Path, keys: str, sql: str = SQL) -> "list[str]":
    file = database.parent / "keys.toml"
    file.write_text(keys)
    request = GuardRequest(target=str(database), sql=sql, settings=Settings(), keys=file)
    return list(guard(request).notes)


def test_a_key_that_holds_is_believed_without_a_word(database: Path) -> None:
    assert run(database, "[tables.note]\nunique = [['bill']]\n") == []


def test_a_key_that_the_data_violates_is_dropped_and_named(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("INSERT INTO note VALUES (2)")
    connection.close()
    notes = run(database, "[tables.note]\nunique = [['bill']]\n")
    assert len(notes) == 1
    assert "note" in notes[0]


def test_a_key_of_a_table_that_is_not_there_is_named(database: Path) -> None:
    assert any("nope" in note for note in run(database, "[tables.nope]\nunique = [['a']]\n"))


def test_a_file_that_cannot_be_read_is_an_input_error(database: Path) -> None:
    request = GuardRequest(
        target=str(database), sql=SQL, settings=Settings(), keys=database.parent / "none.toml"
    )
    with pytest.raises(InputError):
        guard(request)
