"""What is SQLite's own: text that is not UTF-8, functions, virtual tables, quirks of its keys."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modularsql.catalog import Key, Table
from modularsql.config import Settings
from modularsql.engines.sqlite import SqliteEngine
from modularsql.records import Evidence, Failure, FailureKind, Limits
from modularsql.rows import Rows

New = Callable[..., SqliteEngine]
LIMITS = Limits(seconds=10)


@pytest.fixture
def new(kinds: Any, folder: Path, close_later: Callable[..., SqliteEngine]) -> New:
    def build(*statements: str, **settings: Any) -> SqliteEngine:
        kinds["sqlite"].build(folder / "t.db", statements)
        return close_later(SqliteEngine(folder / "t.db", Settings(**settings)))

    return build


def rows(engine: SqliteEngine, sql: str, params: Any = None) -> list[tuple[Any, ...]]:
    outcome = engine.execute(sql, params, limits=LIMITS)
    assert isinstance(outcome, Rows), outcome
    return outcome.rows


def kind_of(engine: SqliteEngine, sql: str) -> FailureKind:
    outcome = engine.execute(sql, limits=LIMITS)
    assert isinstance(outcome, Failure), outcome
    return outcome.kind


def only_table(engine: SqliteEngine) -> Table:
    [table] = engine.catalog()
    return table


def test_text_that_is_not_utf_8_survives(new: New) -> None:
    """Case E15 of the collection: one bad byte must not end a whole evaluation."""
    engine = new(
        "CREATE TABLE pl(id INTEGER PRIMARY KEY, nm TEXT)",
        "INSERT INTO pl VALUES (1, CAST(X'416CE964' AS TEXT)), (2, 'Aléd'), (3, NULL)",
    )
    [bad, good, none] = rows(engine, "SELECT nm FROM pl ORDER BY id")
    assert bad[0].encode("utf-8", "surrogateescape") == b"Al\xe9d"
    assert (good, none) == (("Aléd",), (None,))
    assert rows(engine, "SELECT count(DISTINCT nm) FROM pl") == [(2,)]
    assert rows(engine, "SELECT CAST(X'ED A0 80' AS TEXT)".replace(" A0 80", "A080")) == [
        ("\udced\udca0\udc80",)
    ]


def test_names_that_are_not_utf_8_are_listed(new: New, folder: Path) -> None:
    engine = new("CREATE TABLE t(abcd INTEGER)", "CREATE TABLE wxyz(a INTEGER)")
    engine.close()
    path = folder / "t.db"
    path.write_bytes(path.read_bytes().replace(b"abcd", b"ab\xe9d").replace(b"wxyz", b"wx\xe9z"))
    with contextlib.closing(SqliteEngine(path)) as engine:
        first, second = engine.catalog()
        assert first.columns[0].name == "ab\udce9d"
        assert second.name == "wx\udce9z"
        assert second.problem
        assert isinstance(engine.execute("SELECT * FROM t", limits=LIMITS), Rows | Failure)
        assert rows(engine, "SELECT 1") == [(1,)]


def test_a_database_in_utf_16_reads_the_same(new: New) -> None:
    engine = new("PRAGMA encoding = 'UTF-16'", "CREATE TABLE t(x)", "INSERT INTO t VALUES ('ü😀')")
    assert rows(engine, "SELECT x FROM t") == [("ü😀",)]


def test_a_cell_keeps_the_type_it_was_stored_with(new: New) -> None:
    engine = new("CREATE TABLE t(x INTEGER)", "INSERT INTO t VALUES (1), ('a'), (2.5), (x'00')")
    assert rows(engine, "SELECT x FROM t") == [(1,), ("a",), (2.5,), (b"\0",)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT json_extract('{\"a\": [1, 2]}', '$.a[1]')",
        "SELECT '{\"a\": 2}' ->> 'a'",
        "SELECT value FROM json_each('[2]')",
        "SELECT count(*) FROM json_tree('[1]')",
        "SELECT json_array_length(json_array(1, 2))",
        "SELECT count(*) FROM pragma_table_info('t')",
        "SELECT max(2, 1)",
        "SELECT CAST(strftime('%s', '1970-01-01 00:00:02') AS INTEGER)",
        "SELECT length(printf('%d%s', 1, 'x'))",
        "SELECT CAST(substr(group_concat(a), 1, 1) AS INTEGER) + 1 FROM t WHERE a = 1",
        "SELECT 2 WHERE 'abc' LIKE 'A%' AND 'abc' GLOB 'a*'",
        "SELECT sum(a) FROM t WHERE a = 2",
        "SELECT ntile(1) OVER (ORDER BY a) + 1 FROM t LIMIT 1",
        "SELECT g FROM computed",
        "SELECT up FROM viewed",
        "SELECT count(*) FROM words WHERE words MATCH 'hello'",
        "SELECT length(highlight(words, 0, '', '')) - 3 FROM words WHERE words MATCH 'hello' "
        "ORDER BY bm25(words) LIMIT 1",
        "SELECT count(*) + 1 FROM old_words WHERE x MATCH 'hello'",
        "SELECT count(*) FROM boxes WHERE a <= 1",
        "SELECT count(*) FROM box_view",
    ],
)
def test_functions_and_tables_of_sqlite_can_be_read(new: New, sql: str) -> None:
    """Each of them as the first query: SQLite opens virtual tables under the authorizer."""
    engine = new(
        "CREATE TABLE t(a INTEGER, b TEXT)",
        "INSERT INTO t VALUES (1, 'x'), (2, 'y')",
        "CREATE TABLE computed(a INTEGER, g AS (abs(a)) STORED, v AS (upper('x')))",
        "INSERT INTO computed VALUES (-2)",
        "CREATE INDEX by_lower ON t(lower(b))",
        "CREATE VIEW viewed AS SELECT length(group_concat(upper(b), '')) AS up FROM t",
        "CREATE VIRTUAL TABLE words USING fts5(x)",
        "INSERT INTO words VALUES ('hello'), ('hello')",
        "CREATE VIRTUAL TABLE old_words USING fts4(x)",
        "INSERT INTO old_words VALUES ('hello')",
        "CREATE VIRTUAL TABLE boxes USING rtree(id, a, b)",
        "INSERT INTO boxes VALUES (1, 0, 1), (2, 1, 2), (3, 5, 6)",
        "CREATE VIEW box_view AS SELECT * FROM boxes WHERE a < 5",
    )
    assert rows(engine, sql) == [(2,)]


def test_virtual_tables_are_in_the_catalog(new: New) -> None:
    engine = new(
        "CREATE VIRTUAL TABLE words USING fts5(title, body)",
        "CREATE VIRTUAL TABLE boxes USING rtree(id, a, b)",
    )
    found = {t.name: t for t in engine.catalog()}
    assert [c.name for c in found["words"].columns] == ["title", "body"]
    assert [c.name for c in found["boxes"].columns] == ["id", "a", "b"]
    for name in ("words", "boxes"):
        assert (found[name].keys, found[name].row_id, found[name].problem) == ((), None, None)


def test_a_text_primary_key_may_hold_nulls(new: New) -> None:
    engine = new("CREATE TABLE t(k TEXT PRIMARY KEY)", "INSERT INTO t VALUES (NULL), (NULL)")
    assert only_table(engine).keys == (Key(columns=("k",), kind="primary", null_distinct=True),)
    assert only_table(engine).columns[0].nullable


@pytest.mark.parametrize(
    ("ddl", "null_distinct", "row_id"),
    [
        ("CREATE TABLE t(k INTEGER PRIMARY KEY)", False, "rowid"),
        ("CREATE TABLE t(k INTEGER PRIMARY KEY AUTOINCREMENT)", False, "rowid"),
        ("CREATE TABLE t(k INTEGER, PRIMARY KEY (k))", False, "rowid"),
        ("CREATE TABLE t(k INTEGER PRIMARY KEY DESC)", True, "rowid"),
        ("CREATE TABLE t(k INT PRIMARY KEY)", True, "rowid"),
        ("CREATE TABLE t(k INT NOT NULL PRIMARY KEY)", False, "rowid"),
        ("CREATE TABLE t(k TEXT PRIMARY KEY) WITHOUT ROWID", False, None),
        ("CREATE TABLE t(k TEXT PRIMARY KEY) STRICT", False, "rowid"),
        ("CREATE TABLE t(k INT PRIMARY KEY, rowid)", True, "_rowid_"),
    ],
)
def test_which_primary_keys_hold_no_null(
    new: New, ddl: str, null_distinct: bool, row_id: str | None
) -> None:
    engine = new(ddl)
    table = only_table(engine)
    assert table.keys == (Key(columns=("k",), kind="primary", null_distinct=null_distinct),)
    assert table.row_id == row_id
    with contextlib.closing(sqlite3.connect(engine.name)) as connection:
        try:
            connection.execute("INSERT INTO t(k) VALUES (NULL)")
            holds_null = connection.execute("SELECT count(*) FROM t WHERE k IS NULL").fetchone()
        except sqlite3.IntegrityError:
            holds_null = (0,)
    assert holds_null == (int(null_distinct),)


def test_a_partial_index_is_no_key(new: New) -> None:
    engine = new("CREATE TABLE t(a INTEGER)", "CREATE UNIQUE INDEX i ON t(a) WHERE a > 0")
    assert only_table(engine).keys == ()


@pytest.mark.parametrize(
    ("ddl", "is_key"),
    [
        ("CREATE TABLE t(a TEXT COLLATE NOCASE UNIQUE)", True),
        ("CREATE TABLE t(a TEXT COLLATE NOCASE, UNIQUE (a COLLATE BINARY))", False),
        ("CREATE TABLE t(a TEXT, UNIQUE (a COLLATE NOCASE))", True),
        ("CREATE TABLE t(a TEXT COLLATE NOCASE, UNIQUE (a COLLATE RTRIM))", False),
        ("CREATE TABLE t(a TEXT COLLATE NOCASE, PRIMARY KEY (a COLLATE BINARY))", False),
        ("CREATE TABLE t(a TEXT COLLATE BINARY PRIMARY KEY)", True),
        ("CREATE TABLE t([a] TEXT COLLATE [NOCASE] PRIMARY KEY)", True),
    ],
)
def test_a_key_must_be_as_strict_as_its_columns_compare(new: New, ddl: str, is_key: bool) -> None:
    assert bool(only_table(new(ddl)).keys) == is_key


def test_ddl_that_cannot_be_parsed_makes_collations_unsure(
    new: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    from modularsql.sql.parse import Unparsed

    monkeypatch.setattr("modularsql.sql.parse.parse_text", lambda *_: Unparsed(reason="a test"))
    engine = new("CREATE TABLE t(a TEXT COLLATE NOCASE, b TEXT UNIQUE)")
    assert [c.collation for c in only_table(engine).columns] == ["?", "?"]
    assert only_table(engine).keys == ()


def test_foreign_keys_may_point_nowhere_and_are_not_enforced(new: New) -> None:
    engine = new(
        "CREATE TABLE parent(a INTEGER, b INTEGER, PRIMARY KEY (a, b))",
        "CREATE TABLE t(no_table INTEGER REFERENCES gone(id), "
        "no_column INTEGER REFERENCES parent(gone), too_few INTEGER REFERENCES parent, "
        "fine INTEGER REFERENCES PARENT(A))",
    )
    found = {f.columns[0]: f for f in (engine.catalog().table("t") or Table(name="")).foreign_keys}
    assert {name: f.resolved for name, f in found.items()} == {
        "no_table": False,
        "no_column": False,
        "too_few": False,
        "fine": True,
    }
    assert found["fine"].target == "parent"
    assert found["fine"].target_columns == ("A",)
    assert {f.evidence for f in found.values()} == {Evidence.ASSERTED}


def test_a_query_that_names_a_collation_compares_by_it(new: New) -> None:
    """`compares_bytes` speaks of the schema; who counts rows must look at the query as well."""
    engine = new("CREATE TABLE t(x TEXT)", "INSERT INTO t VALUES ('a'), ('A')")
    assert engine.compares_bytes()
    assert rows(engine, "SELECT DISTINCT x COLLATE NOCASE FROM t") == [("a",)]


def test_ctrl_c_ends_a_query_and_is_no_time_out(new: New) -> None:
    engine = new()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        engine.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
            limits=LIMITS,
        )
    assert time.monotonic() - start < 3
    assert rows(engine, "SELECT 1") == [(1,)]


def test_slow_steps_do_not_stretch_the_time_limit(new: New) -> None:
    engine = new()
    start = time.monotonic()
    outcome = engine.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT max(randomblob(16000000)) FROM n",
        limits=Limits(seconds=0.3),
    )
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.TIMEOUT
    assert time.monotonic() - start < 1.5


NO_ROOM = """
import resource, sys
from modularsql.engines.connect import connect
from modularsql.records import Limits
engine = connect(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
sql = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
       "SELECT length(x) FROM (SELECT randomblob(1000) AS x FROM n ORDER BY x) LIMIT 1")
print(engine.execute(sql, limits=Limits(seconds=20)))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bounds files by the system")
def test_a_sort_without_room_on_disk_is_too_large(new: New) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", NO_ROOM, new().name],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "TOO_LARGE" in ran.stdout


LARGE_CELLS = """
import resource, sys
from modularsql.engines.connect import connect
from modularsql.records import Limits
engine = connect(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (400 * 2**20, 400 * 2**20))
sql = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
       "SELECT zeroblob(10000000) FROM n")
outcome = engine.execute(sql, limits=Limits(seconds=20, max_bytes=40_000_000))
print(len(outcome.rows), outcome.truncated)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bounds memory by the system")
def test_large_cells_beyond_the_cap_on_bytes_are_never_in_memory(new: New) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LARGE_CELLS, new().name],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout == "3 True\n"


def test_no_memory_left_is_too_large(new: New, monkeypatch: pytest.MonkeyPatch) -> None:
    def first_rows(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("modularsql.engines.sqlite.first_rows", first_rows)
    assert kind_of(new(), "SELECT 1") == FailureKind.TOO_LARGE
