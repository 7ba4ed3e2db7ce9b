"""The public interface in Python: small, as listed, and a guard that never raises on bad SQL."""

import importlib
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import modularsql
from modularsql import Guard, InputError, ModularSqlError, Settings, SetupError, Verdict, connect


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT)")
        connection.executemany("INSERT INTO customer(name) VALUES (?)", [("Ann",)] * 9 + [("Bob",)])
    connection.close()
    return path


def test_what_is_listed_is_what_is_there() -> None:
    assert len(modularsql.__all__) <= 10
    assert modularsql.__all__ == sorted(modularsql.__all__)
    assert set(modularsql._HOMES) == set(modularsql.__all__)
    for name in modularsql.__all__:
        assert getattr(modularsql, name).__module__ == modularsql._HOMES[name]
    assert set(modularsql.__all__) <= set(dir(modularsql))


def test_a_star_import_brings_just_the_listed_names() -> None:
    names: dict[str, object] = {}
    exec("from modularsql import *", names)  # noqa: S102
    assert set(names) - {"__builtins__"} == set(modularsql.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'gaurd'"):
        modularsql.gaurd  # noqa: B018


def test_every_public_name_says_what_it_is() -> None:
    for name in modularsql.__all__:
        assert getattr(modularsql, name).__doc__, name


def test_importing_the_package_loads_no_driver() -> None:
    script = "import sys, modularsql; print(*sorted(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"sqlite3", "duckdb", "sqlglot", "pebble", "click"} & set(ran.stdout.split())


def test_a_guard_closes_its_engine_at_the_end(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = connect(shop)
    closed: list[bool] = []
    monkeypatch.setattr(engine, "close", lambda: closed.append(True))
    with Guard(engine) as guard:
        answer = guard.run("SELECT name FROM customer WHERE id = 10", question="who?")
        assert not closed
    assert (answer.verdict, answer.rows, answer.question) == (Verdict.PASS, [("Bob",)], "who?")
    assert closed


def test_the_default_policy_reads_the_keys(shop: Path) -> None:
    with sqlite3.connect(shop) as connection:
        connection.execute("CREATE TABLE visit(customer INTEGER REFERENCES customer(id))")
        connection.executemany("INSERT INTO visit VALUES (?)", [(1,), (1,), (10,)])
    connection.close()
    with Guard(connect(shop)) as guard:
        assert guard.policy.name == Settings().policy == "grain"
        alike = guard.run("SELECT name FROM customer", fix=True)
        assert (len(alike.rows), alike.applied) == (10, ())
        sql = "SELECT c.name FROM customer c JOIN visit v ON v.customer = c.id"
        offered = guard.run(sql)
        assert (offered.verdict, len(offered.rows)) == (Verdict.ANNOTATE, 3)
        fixed = guard.run(sql, fix=True)
    assert (fixed.verdict, fixed.rows) == (Verdict.REPAIR, [("Ann",), ("Bob",)])
    assert fixed.final_sql == offered.findings[0].repairs[0].sql


def test_a_repair_is_offered_and_with_fix_applied(shop: Path) -> None:
    with Guard(connect(str(shop)), policy="p1") as guard:
        offered = guard.run("SELECT name FROM customer")
        assert (offered.verdict, len(offered.rows)) == (Verdict.ANNOTATE, 10)
        assert offered.final_sql == offered.sql
        assert offered.findings[0].repairs[0].sql == "SELECT DISTINCT name FROM customer"
        fixed = guard.run("SELECT name FROM customer", fix=True)
        assert (fixed.verdict, len(fixed.rows)) == (Verdict.REPAIR, 2)
        assert fixed.final_sql == "SELECT DISTINCT name FROM customer"


BAD = [
    "",
    "\0",
    "\ud800",
    "SELECT",
    "SELEC 1",
    "SELECT * FROM nowhere",
    "SELECT 1; DROP TABLE customer",
    "DROP TABLE customer",
    "PRAGMA journal_mode = WAL",
    "ATTACH 'x' AS x",
    "SELECT " + "(" * 10_000,
    "SELECT '" + "x" * 2_000_000 + "'",
    "SELECT :a, ?",
    "no SQL at all",
    "```sql\n```",
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n",
    "SELECT zeroblob(1000000000)",
    "SELECT 'é' = '\N{PILE OF POO}' WHERE '\udcff'",
]


@pytest.mark.parametrize("sql", BAD, ids=lambda sql: ascii(sql[:30]))
def test_bad_sql_is_an_answer_and_never_an_exception(shop: Path, sql: str) -> None:
    before = shop.read_bytes()
    with Guard(connect(shop), settings=Settings(timeout=0.3, max_rows=100)) as guard:
        for fix in (False, True):
            answer = guard.run(sql, fix=fix)
            assert answer.verdict != Verdict.PASS
            assert answer.findings
            assert guard.run("SELECT 1").rows == [(1,)]
    assert shop.read_bytes() == before
    assert list(shop.parent.iterdir()) == [shop]


@pytest.mark.parametrize("params", [(), {}, [1, 2], {"b": 1}, {"a": object()}, [{1}], {1: 2}])
def test_parameters_that_do_not_fit_are_an_answer(shop: Path, params: object) -> None:
    with Guard(connect(shop)) as guard:
        answer = guard.run("SELECT :a", params=params)  # type: ignore[arg-type]
    assert answer.failure is not None


def test_threads_may_share_a_guard(shop: Path) -> None:
    wrong: list[object] = []

    def ask(number: int) -> None:
        for _ in range(20):
            answer = guard.run("SELECT ?, name FROM customer", params=[number])
            if {row[0] for row in answer.rows} != {number} or len(answer.rows) != 10:
                wrong.append(answer)

    with Guard(connect(shop)) as guard:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_what_cannot_be_used_is_one_error_with_a_next_step(tmp_path: Path) -> None:
    with pytest.raises(InputError) as missing:
        connect(tmp_path / "none.sqlite")
    assert missing.value.hint
    with pytest.raises(SetupError):
        connect("postgresql://host/shop")
    with pytest.raises(ModularSqlError):
        Guard(connect(tmp_path / "none.sqlite"))


def test_an_unknown_policy_is_refused(shop: Path) -> None:
    engine = connect(shop)
    with pytest.raises(InputError, match=r"known: .*paper"):
        Guard(engine, policy="best")
    engine.close()


def test_modules_are_where_the_table_says() -> None:
    for name, home in modularsql._HOMES.items():
        assert hasattr(importlib.import_module(home), name)
