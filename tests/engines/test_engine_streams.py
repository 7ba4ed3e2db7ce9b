"""Engines that hand over whole results without keeping them."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from modularsql.engines.duckdb import DuckDBEngine
from modularsql.engines.sqlite import SqliteEngine
from modularsql.errors import InputError, SetupError
from modularsql.ports import Streaming
from modularsql.records import Failure, FailureKind, Limits
from modularsql.rows import Row

LIMITS = Limits(seconds=20.0, max_rows=3, max_bytes=100)
COUNT = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5000) "


def count(rows: Iterable[Row]) -> int:
    return sum(1 for _ in rows)


@pytest.fixture(params=["sqlite", "duckdb"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> SqliteEngine | DuckDBEngine:
    file = tmp_path / f"some.{request.param}"
    if request.param == "duckdb":
        duckdb.connect(str(file)).close()
        return DuckDBEngine(file)
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t(a)")
    connection.close()
    return SqliteEngine(file)


def test_all_rows_come_by_whatever_the_caps(engine: SqliteEngine | DuckDBEngine) -> None:
    assert isinstance(engine, Streaming)
    assert engine.fold(count, COUNT + "SELECT x FROM n", limits=LIMITS) == 5000
    assert engine.fold(max, COUNT + "SELECT x FROM n", limits=LIMITS) == (5000,)
    engine.close()
    with pytest.raises(InputError):
        engine.fold(count, "SELECT 1", limits=LIMITS)


def pairs(one: Iterable[Row], other: Iterable[Row]) -> int:
    return sum(left == right for left, right in zip(one, other, strict=True))


def test_two_results_are_read_side_by_side(engine: SqliteEngine | DuckDBEngine) -> None:
    same, other = (
        COUNT + "SELECT x FROM n",
        COUNT + "SELECT CASE x WHEN 77 THEN 78 ELSE x END FROM n",
    )
    assert engine.fold(pairs, same, other, limits=LIMITS) == 4999
    for sqls in ((same, "SELECT nope"), ("SELECT nope", same)):
        assert isinstance(engine.fold(pairs, *sqls, limits=LIMITS), Failure)
    assert engine.fold(pairs, same, same, limits=LIMITS) == 5000


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT nope", FailureKind.ERROR),
        (COUNT.replace("WHERE x < 5000", "") + "SELECT x FROM n", FailureKind.TIMEOUT),
    ],
)
def test_what_may_not_run_is_a_failure(
    engine: SqliteEngine | DuckDBEngine, sql: str, kind: FailureKind
) -> None:
    found = engine.fold(count, sql, limits=Limits(seconds=0.5, max_rows=3, max_bytes=100))
    assert isinstance(found, Failure)
    assert found.kind == kind


def test_nothing_is_written(engine: SqliteEngine | DuckDBEngine) -> None:
    assert isinstance(engine.fold(count, "CREATE TABLE u(a INTEGER)", limits=LIMITS), Failure)
    assert isinstance(engine.fold(count, "SELECT a FROM u", limits=LIMITS), Failure)


def test_text_that_is_not_utf8_starts_the_reading_again(tmp_path: Path) -> None:
    file = tmp_path / "odd.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t(a TEXT)")
        connection.executemany("INSERT INTO t VALUES (?)", [("fine",)] * 10)
        connection.execute("INSERT INTO t VALUES (CAST(X'416CE964' AS TEXT))")
    connection.close()
    found: Any = SqliteEngine(file).fold(list, "SELECT a FROM t", limits=LIMITS)
    assert found == [("fine",)] * 10 + [("Al\udce9d",)]


def fails(rows: Iterable[Row]) -> int:
    raise SetupError("it has no rows to speak of", "give it some", "odd")


def exits(rows: Iterable[Row]) -> int:
    os._exit(3)


def sleeps(rows: Iterable[Row]) -> int:
    time.sleep(30)
    return 0


def threads_and_process(rows: Iterable[Row]) -> tuple[int, int]:
    return sum(1 for _ in rows) * threading.active_count(), os.getpid()


@pytest.fixture
def sqlite_engine(tmp_path: Path) -> Iterator[SqliteEngine]:
    with closing(sqlite3.connect(tmp_path / "empty.sqlite")) as made:
        made.execute("CREATE TABLE t(a)")
    with closing(SqliteEngine(tmp_path / "empty.sqlite")) as opened:
        yield opened


def test_rows_of_sqlite_are_read_by_a_process_with_one_thread(sqlite_engine: SqliteEngine) -> None:
    found = sqlite_engine.fold(threads_and_process, "SELECT 1", limits=LIMITS)
    assert not isinstance(found, Failure)
    threads, process = found
    assert threads == 1
    assert process != os.getpid()


def test_what_goes_wrong_in_that_process_is_told(sqlite_engine: SqliteEngine) -> None:
    with pytest.raises(SetupError, match="no rows to speak of") as caught:
        sqlite_engine.fold(fails, "SELECT 1", limits=LIMITS)
    assert caught.value.kind == "odd"
    ended = sqlite_engine.fold(exits, "SELECT 1", limits=LIMITS)
    assert isinstance(ended, Failure)
    assert (ended.kind, "exit 3" in ended.message) == (FailureKind.DIED, True)


def test_it_is_killed_where_it_does_not_stop(sqlite_engine: SqliteEngine) -> None:
    start = time.monotonic()
    late = sqlite_engine.fold(sleeps, "SELECT 1", limits=Limits(seconds=1))
    assert isinstance(late, Failure)
    assert late.kind == FailureKind.TIMEOUT
    assert time.monotonic() - start < 5
    assert sqlite_engine.fold(count, "SELECT 1", limits=LIMITS) == 1
