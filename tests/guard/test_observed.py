"""Keys that nobody declared, observed on the data where a finding hangs on them, and remembered."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from modularsql import Answer, Guard, connect
from modularsql.engines.isolated import IsolatedEngine
from modularsql.guard.observed import Memory, observe
from modularsql.guard.session import Session
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.registry import Analysis, issues
from modularsql.ports import Engine, Outcome, Versioned
from modularsql.records import Evidence, Failure, FailureKind, Limits, Params
from modularsql.sql.parse import Unparsed, parse_text

Open = Callable[..., Engine]

BARE = """
CREATE TABLE guest(code VARCHAR, age INTEGER, badge INTEGER);
INSERT INTO guest VALUES ('a', 30, 1), ('b', 40, NULL), ('c', 50, NULL), ('d', 50, 2);
CREATE TABLE stay(code VARCHAR, nights INTEGER, badge INTEGER, room INTEGER, day INTEGER);
INSERT INTO stay VALUES ('a', 2, 1, 1, 1), ('a', 3, 1, 1, 2), ('b', 5, NULL, 2, 1),
  (NULL, 1, 2, 2, 2);
CREATE TABLE plan(room INTEGER, day INTEGER, price INTEGER);
INSERT INTO plan VALUES (1, 1, 10), (1, 2, 20), (2, 1, 30), (2, 2, 40);
CREATE VIEW known AS SELECT code, age FROM guest;
"""
SUMMED = "SELECT SUM(s.nights) FROM stay s JOIN guest g ON g.code = s.code"


@pytest.fixture(params=["sqlite", "duckdb"])
def inn(request: pytest.FixtureRequest, open_database: Open) -> Engine:
    engine: Engine = open_database(request.param, BARE)
    return engine


class Asked:
    """An engine that keeps what it was asked, and says nothing to what begins like `deaf`."""

    def __init__(self, engine: Engine, deaf: str = "\0") -> None:
        self.engine, self.deaf = engine, deaf
        self.name, self.dialect = engine.name, engine.dialect
        self.close, self.catalog = engine.close, engine.catalog
        self.compares_bytes = engine.compares_bytes
        self.asked: list[str] = []
        self.seconds: list[float] = []

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        self.asked.append(sql)
        self.seconds.append(limits.seconds)
        if sql.startswith(self.deaf):
            return Failure(kind=FailureKind.TIMEOUT, message="stopped at the time limit")
        return self.engine.execute(sql, params, limits=limits)

    def version(self) -> Any:
        assert isinstance(self.engine, Versioned)
        return self.engine.version()

    def checks(self) -> int:
        """How many questions were about keys."""
        return sum("rows_against" in sql for sql in self.asked)


def observed(engine: Engine, sql: str, memory: Memory | None = None) -> dict[str, set[Any]]:
    """By table, the keys that are observed for a query: columns, and whether NULLs are apart."""
    tree = parse_text(sql, engine.dialect)
    assert not isinstance(tree, Unparsed)
    query = infer(tree, engine.catalog())
    assert query is not None
    found = issues(Analysis(query=query, catalog=engine.catalog()))
    session = Session(engine=engine, params=None, limits=Limits(), clock=lambda: 0.0)
    catalog = observe(found, session, memory or Memory())
    return {
        table.name: {(key.columns, key.null_distinct) for key in table.keys}
        for table in catalog or ()
        if any(key.evidence == Evidence.OBSERVED for key in table.keys)
    }


@pytest.mark.parametrize(("own", "seconds"), [(0.01, [0.5]), (0.05, [0.5]), (100.0, [])])
def test_keys_take_a_quarter_of_what_probes_may(
    open_database: Open, own: float, seconds: list[float]
) -> None:
    """What would take more (SQLite does not say; as long as the query) is not asked."""
    engine = Asked(open_database("sqlite", BARE))
    session = Session(
        engine=engine, params=None, limits=Limits(probe_seconds=2, seconds=900), clock=lambda: 0.0
    )
    session.run(SUMMED)
    session.own = own
    tree = parse_text(SUMMED, "sqlite")
    assert not isinstance(tree, Unparsed)
    query = infer(tree, engine.catalog())
    assert query is not None
    engine.seconds.clear()
    observe(issues(Analysis(query=query, catalog=engine.catalog())), session, Memory())
    assert sorted(set(engine.seconds)) == seconds


def run(engine: Engine, sql: str, **more: Any) -> Answer:
    return Guard(engine).run(sql, **more)


def test_only_what_the_query_joins_shows_or_counts_is_looked_at(inn: Engine) -> None:
    sql = "SELECT SUM(s.nights) FROM stay s JOIN guest g ON g.code = s.code"
    asked = Asked(inn)
    assert observed(asked, sql) == {
        "guest": {(("code",), False), (("code",), True)},
        "stay": {(("nights",), False), (("nights",), True)},
    }
    assert all("age" not in check and "room" not in check for check in asked.asked)


def test_several_columns_of_one_join_are_one_key(inn: Engine) -> None:
    sql = "SELECT SUM(s.nights) FROM stay s JOIN plan p ON p.room = s.room AND p.day = s.day"
    keys = observed(inn, sql)["plan"]
    assert keys == {(("room", "day"), False), (("room", "day"), True)}


def test_nulls_that_repeat_leave_a_key_among_the_others(inn: Engine) -> None:
    sql = "SELECT SUM(s.nights) FROM stay s JOIN guest g ON g.badge = s.badge"
    assert observed(inn, sql)["guest"] == {(("badge",), True)}


def test_what_is_found_to_be_a_key_is_no_doubt_any_more(inn: Engine) -> None:
    for sql in (
        "SELECT SUM(s.nights) FROM stay s JOIN known k ON k.code = s.code",
        "SELECT SUM(s.nights) FROM stay s JOIN guest g ON g.badge = s.badge",
        "SELECT g.age, (SELECT SUM(s.nights) FROM stay s JOIN known k ON k.code = s.code "
        "WHERE s.room > g.age) FROM guest g",
    ):
        answer = run(inn, sql)
        assert [f.rule for f in answer.findings if f.rule.startswith("fan_out")] == [], sql


def test_a_view_is_counted_by_a_key_that_was_observed(inn: Engine) -> None:
    answer = run(inn, "SELECT SUM(k.age) FROM known k JOIN stay s ON s.code = k.code")
    finding = next(f for f in answer.findings if f.rule == "fan_out_sum")
    assert (finding.measured["rows_before"], finding.measured["rows_after"]) == (2, 3)
    assert (finding.measured["value_now"], finding.measured["value_at_grain"]) == (100, 70)
    assert finding.measured["examples"] == [{"key": {"code": "a"}, "rows": 2}]


def test_a_repair_may_rest_on_an_observed_key(inn: Engine) -> None:
    sql = "SELECT COUNT(g.code), SUM(s.nights) FROM guest g JOIN stay s ON s.code = g.code"
    answer = run(inn, sql, fix=True)
    assert answer.applied == ("count_distinct",)
    assert answer.rows == [(2, 10)]


def test_distinct_is_not_called_needless_for_the_data_of_today(inn: Engine) -> None:
    sql = "SELECT DISTINCT k.code FROM known k JOIN stay s ON s.code = k.code"
    assert "needless_distinct" not in {f.rule for f in run(inn, sql).findings}


@pytest.mark.parametrize(("owner", "repaired"), [(2, True), (9, False)])
def test_a_foreign_key_suggested_by_names_counts_where_the_data_has_it(
    open_database: Open, owner: int, repaired: bool
) -> None:
    setup = """
    CREATE TABLE person(person_id INTEGER, name VARCHAR);
    CREATE TABLE pet(pet_id INTEGER PRIMARY KEY, person_id INTEGER, kind VARCHAR);
    INSERT INTO person VALUES (1, 'Ann'), (2, 'Bo');
    """
    setup += f"INSERT INTO pet VALUES (1, 1, 'cat'), (2, {owner}, 'dog'), (3, NULL, 'eel');"
    sql = "SELECT n.name, p.kind FROM person n, pet p"
    for kind in ("sqlite", "duckdb"):
        answer = run(open_database(kind, setup), sql, fix=True)
        assert answer.applied == (("add_join_predicate",) if repaired else ())
        assert len(answer.rows) == (2 if repaired else 6)


def test_a_query_without_open_findings_asks_nothing(inn: Engine) -> None:
    asked = Asked(inn)
    Guard(asked).run("SELECT code FROM guest WHERE age > 30")
    assert asked.checks() == 0


def test_what_has_no_answer_is_not_observed(inn: Engine) -> None:
    sql = "SELECT SUM(s.nights) FROM stay s JOIN guest g ON g.code = s.code"
    assert observed(Asked(inn, deaf="SELECT COALESCE(SUM"), sql) == {}


def test_answers_are_remembered_and_the_oldest_forgotten(inn: Engine) -> None:
    sql = "SELECT SUM(s.nights) FROM stay s JOIN guest g ON g.code = s.code"
    memory, asked = Memory(), Asked(inn)
    first = observed(asked, sql, memory)
    checks = asked.checks()
    assert checks > 0
    assert observed(asked, sql, memory) == first
    assert asked.checks() == checks
    small = Memory(2)
    for number in range(3):
        small.put(number, number)
    assert [small.get(number) for number in range(3)] == [None, (1,), (2,)]


def written(kind: str, path: Path, script: str) -> None:
    if kind == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.execute(script)
        return
    with sqlite3.connect(path) as writer:
        writer.executescript(script)
    writer.close()


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_write_makes_it_look_again(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"inn.{kind}"
    written(kind, path, BARE)
    sql = "SELECT SUM(s.nights) FROM stay s JOIN guest g ON g.code = s.code"
    memory = Memory()
    with Guard(connect(path)) as guard:
        assert "guest" in observed(guard.engine, sql, memory)
    written(kind, path, "UPDATE guest SET code = 'a' WHERE code = 'b'")
    with Guard(connect(path)) as guard:
        assert "guest" not in observed(guard.engine, sql, memory)


def test_every_commit_of_sqlite_is_another_version(tmp_path: Path) -> None:
    path = tmp_path / "inn.sqlite"
    written("sqlite", path, BARE)
    for mode in ("delete", "wal"):
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute(f"PRAGMA journal_mode = {mode}")
        engine = connect(path)
        assert isinstance(engine, Versioned)
        seen = {engine.version()}
        for number in range(20):
            writer.execute("UPDATE guest SET age = ? WHERE code = 'a'", (number,))
            seen.add(engine.version())
        assert engine.version() == engine.version()
        assert len(seen) == 21, mode
        engine.close()
        writer.close()


def test_a_worker_process_and_a_file_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "inn.sqlite"
    written("sqlite", path, BARE)
    with Guard(IsolatedEngine(path)) as guard:
        assert isinstance(guard.engine, Versioned)
        here = connect(path)
        assert isinstance(here, Versioned)
        assert guard.engine.version() == here.version()
        here.close()
        path.unlink()
        assert guard.engine.version() is None
