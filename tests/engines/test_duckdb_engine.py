"""What is DuckDB's own: its types, its one instance of a file in a process, its write-ahead log."""

import contextlib
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pytest

from modularsql.config import Settings
from modularsql.engines.duckdb import DuckDBEngine
from modularsql.errors import SetupError
from modularsql.records import Failure, FailureKind, Limits
from modularsql.rows import Rows, distinct_rows

New = Callable[..., DuckDBEngine]
LIMITS = Limits(seconds=10)


@pytest.fixture
def path(kinds: Any, folder: Path) -> Path:
    kinds["duckdb"].build(
        folder / "t.db", ["CREATE TABLE t(x INTEGER)", "INSERT INTO t VALUES (1)"]
    )
    return folder / "t.db"


@pytest.fixture
def engine(path: Path) -> Iterator[DuckDBEngine]:
    with contextlib.closing(DuckDBEngine(path)) as engine:
        yield engine


def rows(engine: DuckDBEngine, sql: str, params: Any = None) -> list[tuple[Any, ...]]:
    outcome = engine.execute(sql, params, limits=LIMITS)
    assert isinstance(outcome, Rows), outcome
    return outcome.rows


@pytest.mark.parametrize(
    ("sql", "value", "type_"),
    [
        ("true", True, "BOOLEAN"),
        ("1::TINYINT", 1, "TINYINT"),
        ("170141183460469231731687303715884105727", 2**127 - 1, "HUGEINT"),
        ("18446744073709551615::UBIGINT", 2**64 - 1, "UBIGINT"),
        ("1.10::DECIMAL(10, 2)", Decimal("1.10"), "DECIMAL(10,2)"),
        ("12345678901234567890.5::DECIMAL(38, 1)", Decimal("12345678901234567890.5"), None),
        ("0.5::FLOAT", 0.5, "FLOAT"),
        ("DATE '2024-02-29'", date(2024, 2, 29), "DATE"),
        ("TIME '01:02:03.000004'", time(1, 2, 3, 4), "TIME"),
        ("TIMESTAMP '2024-02-29 01:02:03'", datetime(2024, 2, 29, 1, 2, 3), "TIMESTAMP"),
        ("DATE '10000-01-01'", "10000-01-01", "DATE"),
        ("INTERVAL 36 HOUR", timedelta(hours=36), "INTERVAL"),
        ("'00000000-0000-0000-0000-00000000002a'::UUID", UUID(int=42), "UUID"),
        ("'101'::BIT", "101", "BIT"),
        ("'\\x00\\xFF'::BLOB", b"\0\xff", "BLOB"),
        ("'{\"a\": 1}'::JSON", '{"a": 1}', "JSON"),
        ("'b'::ENUM('a', 'b')", "b", "ENUM('a', 'b')"),
        ("[1, NULL, 3]", [1, None, 3], "INTEGER[]"),
        ("[1, 2]::INTEGER[2]", (1, 2), "INTEGER[2]"),
        ("{'a': 1, 'b': [NULL, 'x']}", {"a": 1, "b": [None, "x"]}, None),
        ("MAP {'k': 1.5::DOUBLE}", {"k": 1.5}, "MAP(VARCHAR, DOUBLE)"),
        ("NULL::VARCHAR", None, "VARCHAR"),
        ("'a' || chr(0) || '😀'", "a\0😀", "VARCHAR"),
    ],
)
def test_a_value_keeps_its_type(
    engine: DuckDBEngine, sql: str, value: object, type_: str | None
) -> None:
    outcome = engine.execute(f"SELECT {sql}", limits=LIMITS)
    assert isinstance(outcome, Rows), outcome
    assert outcome.rows == [(value,)]
    assert type(outcome.rows[0][0]) is type(value)
    assert type_ in (None, outcome.types[0])


def test_a_time_with_a_zone_can_be_read(engine: DuckDBEngine) -> None:
    [(value,)] = rows(engine, "SELECT TIMESTAMPTZ '2024-02-29 12:00:00+00'")
    assert isinstance(value, datetime)
    assert value.timestamp() == 1709208000


@pytest.mark.parametrize(
    "sql",
    [
        "'nan'::DOUBLE",
        "'nan'::FLOAT",
        "['nan'::DOUBLE]",
        "{'a': ['nan'::DOUBLE]}",
        "MAP {1: 'nan'::DOUBLE}",
    ],
)
def test_nan_equals_nan_as_in_the_database(engine: DuckDBEngine, sql: str) -> None:
    found = rows(engine, f"SELECT {sql} AS x FROM range(3) UNION ALL SELECT {sql}")
    assert rows(engine, f"SELECT count(*) FROM (SELECT DISTINCT {sql} AS x FROM range(3))") == [
        (1,)
    ]
    assert len(found) == 4
    assert len(distinct_rows(found)) == 1


def test_infinite_numbers_and_nulls_beside_nan(engine: DuckDBEngine) -> None:
    found = rows(engine, "SELECT 'inf'::DOUBLE, '-inf'::DOUBLE, NULL::DOUBLE, 'nan'::DOUBLE, 1.5")
    assert found[0][:3] == (math.inf, -math.inf, None)
    assert math.isnan(found[0][3])


def test_a_value_that_python_cannot_hold_is_an_error_of_the_query(engine: DuckDBEngine) -> None:
    outcome = engine.execute("SELECT INTERVAL '100000000 years'", limits=LIMITS)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.ERROR
    assert rows(engine, "SELECT 1") == [(1,)]


def test_every_type_there_is_can_be_read(engine: DuckDBEngine) -> None:
    for (name,) in rows(engine, "SELECT column_name FROM (DESCRIBE FROM test_all_types())"):
        assert len(rows(engine, f'SELECT "{name}" FROM test_all_types()')) == 3, name


@pytest.mark.parametrize(
    "sql",
    [
        "FROM t",
        "TABLE t",
        "SELECT x FROM (DESCRIBE t) AS d, t",
        "SELECT x FROM (SHOW TABLES) AS s, t",
        "WITH q AS MATERIALIZED (SELECT x FROM t) SELECT * FROM q",
        "SELECT * FROM query_table('t')",
        "SELECT list_sum(list_transform([1], lambda i: i * x)) FROM t",
        "SELECT unnest([1])",
        "SELECT max(x) FILTER (x = 1) FROM t",
        "SELECT * FROM (PIVOT t ON x IN (1) USING count(*))",
        "SELECT count(*) FROM pragma_table_info('t')",
        "SELECT CAST(json_extract('{\"a\": 1}', '$.a') AS INTEGER)",
        "SELECT CAST(strftime(DATE '2001-01-01', '%-d') AS INTEGER)",
    ],
)
def test_forms_of_duckdb_that_read_run(engine: DuckDBEngine, sql: str) -> None:
    assert rows(engine, sql)[0][-1] == 1


def test_a_plan_that_is_measured_is_one_of_a_read(engine: DuckDBEngine) -> None:
    assert "explain" in str(engine.execute("EXPLAIN ANALYZE SELECT x FROM t", limits=LIMITS))


@pytest.mark.skipif(sys.platform != "linux", reason="threads are listed in /proc")
def test_an_open_file_has_no_threads_but_those_of_the_settings(path: Path) -> None:
    def threads() -> int:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208 (names are all that is wanted)

    before = threads()
    with contextlib.closing(DuckDBEngine(path, Settings(threads=3))) as engine:
        assert rows(engine, "SELECT count(*) FROM range(1000000)") == [(1000000,)]
        assert threads() - before <= 3


def test_a_file_that_this_program_has_open_with_other_settings_is_a_setup_error(path: Path) -> None:
    with duckdb.connect(str(path)):
        with pytest.raises(SetupError, match="open in this program already") as caught:
            DuckDBEngine(path)
        assert caught.value.kind == "in_use"
    first = DuckDBEngine(path)
    with pytest.raises(SetupError) as caught:
        DuckDBEngine(path, Settings(memory_mb=64))
    assert caught.value.kind == "in_use"
    second = DuckDBEngine(path, Settings(timeout=1))
    first.close()
    assert rows(second, "SELECT x FROM t") == [(1,)]
    second.close()
    DuckDBEngine(path, Settings(memory_mb=64)).close()
    duckdb.connect(str(path)).close()


def test_settings_cannot_be_changed(engine: DuckDBEngine) -> None:
    wanted = {
        "access_mode": "read_only",
        "enable_external_access": "false",
        "lock_configuration": "true",
        "autoload_known_extensions": "false",
        "threads": "2",
    }
    found = rows(engine, "SELECT name, value FROM duckdb_settings()")
    assert wanted.items() <= {name: str(value).lower() for name, value in found}.items()


def test_the_write_ahead_log_is_read_and_left_as_it_is(
    path: Path, other_process: Any, untouched: Callable[[], AbstractContextManager[None]]
) -> None:
    other_process(
        "import duckdb; c = duckdb.connect(path); c.execute('INSERT INTO t VALUES (2)')", path
    )()
    assert Path(f"{path}.wal").stat().st_size > 0
    (path.parent / "link.db").symlink_to(path)
    for name in (path, path.parent / "link.db"):
        with untouched(), contextlib.closing(DuckDBEngine(name)) as engine:
            assert rows(engine, "SELECT x FROM t ORDER BY x") == [(1,), (2,)]
            engine.execute("SELECT * FROM checkpoint()", limits=LIMITS)


def test_a_query_spills_to_a_folder_of_its_own_that_is_removed(
    path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    temp = folder.parent / "temp"
    monkeypatch.setattr(tempfile, "tempdir", str(temp))
    engine = DuckDBEngine(path, Settings(memory_mb=32, threads=1))
    sql = "SELECT i, hash(i) AS h, repeat('x', 20) AS t FROM range(1000000) AS r(i) ORDER BY h"
    with ThreadPoolExecutor(1) as thread:
        query = thread.submit(engine.execute, sql, limits=Limits(seconds=20, max_rows=1))
        seen: set[Path] = set()
        while not query.done():
            seen.update(p for p in folder.parent.rglob("*") if p.is_file())
    assert isinstance(query.result(), Rows)
    spilled = {p for p in seen if p != path}
    assert spilled
    assert {p.parents[1] for p in spilled} == {temp}
    engine.close()
    assert list(temp.iterdir()) == []


def test_a_collation_in_a_macro_means_no_comparing_by_bytes(kinds: Any, folder: Path) -> None:
    kinds["duckdb"].build(
        folder / "m.db", ["CREATE MACRO folded(x) AS CAST(x AS VARCHAR) COLLATE NOCASE"]
    )
    with contextlib.closing(DuckDBEngine(folder / "m.db")) as engine:
        assert not engine.compares_bytes()


def test_nothing_temporary_outlives_a_query(engine: DuckDBEngine) -> None:
    """Should a statement ever slip through: each query has a connection of its own."""
    with engine._cursor(_clock()) as cursor:
        cursor.execute("CREATE TEMP TABLE t AS SELECT 99 AS x")
        assert cursor.execute("SELECT x FROM t").fetchall() == [(99,)]
    assert rows(engine, "SELECT x FROM t") == [(1,)]


def _clock() -> Any:
    from modularsql.engines.base import Clock

    return Clock(10)


def test_a_name_that_is_not_utf_8_is_a_setup_error(path: Path) -> None:
    odd = path.with_name(os.fsdecode(b"caf\xe9.db"))
    path.rename(odd)
    with pytest.raises(SetupError) as caught:
        DuckDBEngine(odd)
    assert caught.value.kind == "not_a_database"


def test_two_engines_on_two_files_do_not_share_a_spill_folder(
    path: Path, kinds: Any, folder: Path
) -> None:
    kinds["duckdb"].build(folder / "u.db", ["CREATE TABLE u(x INTEGER)"])
    with (
        contextlib.closing(DuckDBEngine(path)) as first,
        contextlib.closing(DuckDBEngine(folder / "u.db")) as second,
    ):
        where = "SELECT current_setting('temp_directory')"
        assert rows(first, where) != rows(second, where)
