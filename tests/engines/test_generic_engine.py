"""Databases behind SQLAlchemy: refused where nothing keeps a query from writing, bounded else.

Here with SQLite's dialect; `test_clickhouse.py` is another.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from tests.engines.outcomes import LIMITS, rows

from modularsql.config import Settings
from modularsql.engines import capabilities
from modularsql.engines.base import Clock
from modularsql.engines.capabilities import CAPABILITIES, UNKNOWN
from modularsql.engines.connect import connect
from modularsql.engines.generic import GenericEngine
from modularsql.errors import InputError, SetupError
from modularsql.guard.run import Guard
from modularsql.ports import catalog_of
from modularsql.records import Evidence, Failure, FailureKind, Limits
from modularsql.rows import Rows
from modularsql.sql.parse import is_known

MAKE = (
    "CREATE TABLE parent(id INTEGER PRIMARY KEY, total INTEGER)",
    "CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent(id))",
    "INSERT INTO parent VALUES (1, 100), (2, 50)",
    "INSERT INTO child VALUES (1, 1), (2, 1), (3, 2)",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "g.db", isolation_level=None)) as connection:
        for statement in MAKE:
            connection.execute(statement)
    return tmp_path / "g.db"


@pytest.fixture
def engine(path: Path) -> Iterator[GenericEngine]:
    with closing(GenericEngine(f"sqlite:///{path}")) as opened:
        yield opened


def kind(engine: GenericEngine, sql: str, limits: Limits = LIMITS) -> FailureKind:
    outcome = engine.execute(sql, limits=limits)
    assert isinstance(outcome, Failure), outcome
    return outcome.kind


def test_a_query_runs_and_what_does_more_is_refused(engine: GenericEngine) -> None:
    assert rows(engine, "SELECT total FROM parent WHERE id = ?", [2]) == [(50,)]
    for sql in (
        "INSERT INTO parent VALUES (3, 1)",
        "SELECT 1; SELECT 2",
        "SELECT id INTO x FROM parent",
        "WITH q AS (SELECT 1) DELETE FROM parent",
        "PRAGMA user_version = 5",
        "SELEC 1",
    ):
        assert kind(engine, sql) == FailureKind.REFUSED, sql
    assert kind(engine, "SELECT nope FROM parent") == FailureKind.ERROR
    assert rows(engine, "SELECT count(*) FROM parent") == [(2,)]


def test_the_database_itself_keeps_queries_from_writing(engine: GenericEngine) -> None:
    with (
        engine._connection(engine_clock()) as connection,
        pytest.raises(Exception, match="readonly"),
    ):
        connection.exec_driver_sql("DELETE FROM parent")


def engine_clock() -> Any:

    return Clock(5)


def test_time_rows_and_cells_are_bounded(engine: GenericEngine) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n"
    assert kind(engine, endless.format("count(*)"), Limits(seconds=0.3)) == FailureKind.TIMEOUT
    cut = engine.execute(endless.format("i"), limits=Limits(seconds=10, max_rows=10))
    assert isinstance(cut, Rows)
    assert (len(cut.rows), cut.truncated) == (10, True)
    assert kind(engine, "SELECT hex(zeroblob(20000000))") == FailureKind.TOO_LARGE


def test_the_inspector_fills_the_catalog_with_what_is_only_asserted(engine: GenericEngine) -> None:
    catalog = engine.catalog()
    child = catalog.table("child")
    assert child is not None
    assert [k.columns for k in child.keys] == [("id",)]
    assert {k.evidence for k in child.keys} == {Evidence.ASSERTED}
    [foreign] = child.foreign_keys
    assert (foreign.target, foreign.resolved) == ("parent", True)


def test_names_that_are_folded_to_capitals_stand_as_the_database_holds_them(
    engine: GenericEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLAlchemy gives those of Oracle and Snowflake in small letters."""
    monkeypatch.setattr(engine._engine.dialect, "requires_name_normalize", True)
    child = engine.catalog().table("child")
    assert child is not None
    assert (child.name, [c.name for c in child.columns]) == ("CHILD", ["ID", "PARENT"])
    assert [k.columns for k in child.keys] == [("ID",)]
    [foreign] = child.foreign_keys
    assert (foreign.columns, foreign.target, foreign.resolved) == (("PARENT",), "PARENT", True)


def test_the_guard_works_on_it(engine: GenericEngine) -> None:
    sql = "SELECT SUM(p.total) FROM parent p JOIN child c ON c.parent = p.id"
    answer = Guard(engine, "grain").run(sql)
    assert [(f.rule, f.measured.get("factor")) for f in answer.findings] == [("fan_out_sum", 1.5)]


def test_what_can_be_written_to_is_refused_unless_accepted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capabilities, "CAPABILITIES", {})
    monkeypatch.setattr("modularsql.engines.generic.CAPABILITIES", {})
    with pytest.raises(SetupError) as caught:
        GenericEngine(f"sqlite:///{path}")
    assert caught.value.kind == "unenforced"
    with closing(GenericEngine(f"sqlite:///{path}", Settings(unenforced="accept"))) as engine:
        assert rows(engine, "SELECT count(*) FROM parent") == [(2,)]
        assert "that it only reads" in engine.warnings()[0]


def test_a_session_that_does_not_become_read_only_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = capabilities.Capabilities(dialect="sqlite", proof="SELECT 0", read_only=True)
    monkeypatch.setattr("modularsql.engines.generic.CAPABILITIES", {"sqlite": liar})
    with pytest.raises(SetupError, match="cannot be made read-only"):
        GenericEngine(f"sqlite:///{path}")


def test_an_unknown_dialect_is_told_and_secrets_are_kept() -> None:
    with pytest.raises((SetupError, InputError)) as caught:
        connect("nosuchkind://user:s3cret@host/db?password=s3cret")
    assert caught.value.kind == "driver"
    assert "s3cret" not in str(caught.value)


class Firebird(SQLiteDialect_pysqlite):
    """A dialect that SQLAlchemy knows and our parser does not."""

    name = "firebird"
    supports_statement_cache = True


def test_a_dialect_that_our_parser_does_not_know_is_read_as_what_most_share(path: Path) -> None:
    registry.register("firebird", __name__, "Firebird")
    accepted = Settings(unenforced="accept")
    with closing(GenericEngine(f"firebird:///{path}", accepted)) as engine:
        assert engine.dialect == ""
        sql = "SELECT SUM(p.total) FROM parent p JOIN child c ON c.parent = p.id"
        answer = Guard(engine, "grain").run(sql, fix=True)
        assert [(f.rule, f.measured["factor"]) for f in answer.findings] == [("fan_out_sum", 1.5)]
        assert answer.rows == [(150,)]


@pytest.mark.parametrize("name", CAPABILITIES)
def test_every_entry_names_a_dialect_that_our_parser_knows(name: str) -> None:
    entry = CAPABILITIES[name]
    assert is_known(entry.dialect)
    assert not entry.read_only or entry.begin
    assert "that it only reads" in UNKNOWN.missing()


def test_tables_of_other_schemas_are_looked_into_where_a_query_names_them(
    engine: GenericEngine, path: Path
) -> None:
    away = path.with_name("away.db")
    with closing(sqlite3.connect(away, isolation_level=None)) as connection:
        for statement in MAKE:
            connection.execute(
                statement.replace("parent(id", "boss(id").replace("parent V", "boss V")
            )
    attach = f"ATTACH '{away}' AS away"
    event.listen(engine._engine, "connect", lambda raw, _: raw.execute(attach))
    sql = "SELECT SUM(b.total) FROM away.boss b JOIN child c ON c.parent = b.id"
    answer = Guard(engine).run(sql, fix=True)
    assert (answer.rows, answer.notes) == ([(150,)], ())
    assert {table.schema for table in engine.catalog()} == {"main"}
    child = catalog_of(engine, frozenset({"away", "nowhere"})).table("child", "away")
    assert child is not None
    (key,) = child.foreign_keys
    assert (key.target_schema, key.target, key.resolved) == ("away", "boss", True)
    lost = Guard(engine).run(sql.replace("away.", "nowhere.")).failure
    assert lost is not None
    assert "nowhere.boss" in lost.message
