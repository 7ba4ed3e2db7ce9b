"""The setting `today`: what SQLite's date functions say under a clock that stands still."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from modularsql.config import Settings, load
from modularsql.engines.connect import connect
from modularsql.engines.sqlite import SqliteEngine
from modularsql.errors import InputError
from modularsql.records import Failure, Limits
from modularsql.rows import Rows

LIMITS = Limits(seconds=10)
MODERN = sqlite3.sqlite_version_info >= (3, 43)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "visits.sqlite")) as connection:
        connection.executescript(
            "CREATE TABLE visit(d TEXT); INSERT INTO visit VALUES ('2020-01-05'), (NULL);"
            "CREATE INDEX by_day ON visit(date(d));"
            "CREATE INDEX by_year ON visit(strftime('%Y', d));"
        )
    return tmp_path / "visits.sqlite"


@pytest.fixture
def engine(file: Path) -> Iterator[SqliteEngine]:
    with closing(SqliteEngine(file, Settings(today="2020-01-10 06:00"))) as opened:
        yield opened


def value(engine: SqliteEngine, sql: str) -> Any:
    outcome = engine.execute(sql, limits=LIMITS)
    assert isinstance(outcome, Rows), outcome
    return outcome.rows[0][0]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("date('now')", "2020-01-10"),
        ("date()", "2020-01-10"),
        ("date(' NOW ', '-30 day')", "2019-12-11"),
        ("time('now')", "06:00:00"),
        ("datetime()", "2020-01-10 06:00:00"),
        ("CURRENT_DATE", "2020-01-10"),
        ("CURRENT_TIME", "06:00:00"),
        ("current_timestamp", "2020-01-10 06:00:00"),
        ("strftime('%Y')", "2020"),
        ("strftime('%Y-%m', 'now', 'start of year', '-1 day')", "2019-12"),
        ("julianday()", 2458858.75),
        ("julianday('now') - julianday('2020-01-05 06:00')", 5.0),
        ("strftime('%s', 'now')", "1578636000"),
        ("(SELECT COUNT(*) FROM visit WHERE d > date('now', '-30 day'))", 1),
        # What names its time is what it always was.
        ("date('2021-03-01', '-1 day')", "2021-02-28"),
        ("date(NULL)", None),
        ("date('no date')", None),
        ("strftime('now')", "now"),
        ("(SELECT date(d) FROM visit WHERE date(d) = '2020-01-05')", "2020-01-05"),
        ("(SELECT COUNT(*) FROM visit WHERE strftime('%Y', d) = '2020')", 1),
    ],
)
def test_now_is_the_day_that_was_set(engine: SqliteEngine, sql: str, expected: Any) -> None:
    assert value(engine, f"SELECT {sql}") == expected


@pytest.mark.skipif(not MODERN, reason="functions of SQLite 3.43")
def test_newer_functions_know_it_too(engine: SqliteEngine) -> None:
    assert value(engine, "SELECT unixepoch()") == 1578636000
    assert value(engine, "SELECT timediff('now', '2020-01-09 06:00')").startswith("+0000-00-01")
    assert value(engine, "SELECT datetime('subsec')").startswith("2020-01-10 06:00:00")


@pytest.mark.parametrize(
    "sql",
    [
        "date('2021-03-05', '+1 month')",
        "time('12:30')",
        "strftime('%j', '2020-02-01')",
        "strftime()",
    ],
)
def test_all_else_is_as_without_it(file: Path, engine: SqliteEngine, sql: str) -> None:
    with closing(SqliteEngine(file)) as usual:
        found, wanted = (one.execute(f"SELECT {sql}", limits=LIMITS) for one in (engine, usual))
    if isinstance(wanted, Failure):
        assert isinstance(found, Failure)
    else:
        assert isinstance(found, Rows)
        assert found.rows == wanted.rows


def test_a_date_is_a_date(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert load({"today": "2024-05-31"}, environ={}).today == "2024-05-31"
    for wrong in ("yesterday", "31.5.2024", "now"):
        with pytest.raises(InputError, match="must be a date"):
            load({"today": wrong}, environ={})


def test_other_databases_say_that_they_cannot(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "t.duckdb")).close()
    with pytest.raises(InputError, match="stops the clock of SQLite only"):
        connect(tmp_path / "t.duckdb", Settings(today="2024-05-31"))
