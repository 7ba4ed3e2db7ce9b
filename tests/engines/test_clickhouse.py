"""ClickHouse in the process (chDB), behind SQLAlchemy: run where its package is installed."""

from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from typing import get_args

import pytest
import sqlalchemy
from tests.engines.outcomes import LIMITS, near_counts_outside, rows
from tests.engines.test_dialects import LACKING, MAY_BE, YES_OR_NO

from modularsql.engines.connect import connect
from modularsql.engines.generic import GenericEngine
from modularsql.guard.counting import Counts, counting, counts_in, near_counting
from modularsql.guard.run import Guard
from modularsql.guard.session import Session
from modularsql.records import Answer, Failure, FailureKind, Limits
from modularsql.rows import Rows
from modularsql.sql.dialects import Construct, dialect_of

pytestmark = pytest.mark.skipif(
    find_spec("chdb_sqlalchemy") is None, reason="chdb-sqlalchemy is not installed"
)
TABLES = {
    "parent(id Int32, total Int32)": "VALUES (1, 100), (2, 50)",
    "child(id Int32, parent Int32)": "VALUES (1, 1), (2, 1), (3, 2)",
    "t(id Int32, g Nullable(Int32), s String)": "VALUES (1, 1, 'a'), (2, 1, 'A'), (3, NULL, 'b')",
    "u(id Int32, t Int32)": "VALUES (1, 1), (2, 7)",
}
CLICKHOUSE = dialect_of("clickhouse")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GenericEngine]:
    url = f"chdb:///{tmp_path_factory.mktemp('clickhouse')}/data"
    with sqlalchemy.create_engine(url).connect() as connection:
        connection.exec_driver_sql("CREATE DATABASE IF NOT EXISTS default")
        for table, values in TABLES.items():
            connection.exec_driver_sql(f"CREATE TABLE {table} ENGINE = MergeTree ORDER BY id")
            connection.exec_driver_sql(f"INSERT INTO {table.partition('(')[0]} {values}")
        connection.exec_driver_sql(
            "CREATE TABLE version(id Int32, x Int32) ENGINE = ReplacingMergeTree ORDER BY id"
        )
        for values in ("(1, 5), (2, 5)", "(1, 7)"):
            connection.exec_driver_sql(f"INSERT INTO version VALUES {values}")
    with closing(connect(url)) as opened:
        assert isinstance(opened, GenericEngine)
        yield opened


def guarded(engine: GenericEngine, sql: str) -> Answer:
    return Guard(engine, "grain").run(sql)


def test_a_query_runs_and_what_does_more_is_refused(engine: GenericEngine) -> None:
    assert rows(engine, "SELECT total FROM parent ORDER BY id") == [(100,), (50,)]
    for sql in (
        "SELECT * FROM file('/etc/passwd', 'LineAsString')",
        "SELECT 1 SETTINGS readonly = 0",
    ):
        outcome = engine.execute(sql, limits=LIMITS)
        assert isinstance(outcome, Failure)
        assert outcome.kind in (FailureKind.ERROR, FailureKind.REFUSED)


def test_what_it_calls_a_primary_key_lets_rows_repeat(engine: GenericEngine) -> None:
    parent = engine.catalog().table("parent")
    assert parent is not None
    assert parent.keys == ()


def test_a_fan_out_is_measured(engine: GenericEngine) -> None:
    answer = guarded(engine, "SELECT SUM(p.total) FROM parent p JOIN child c ON c.parent = p.id")
    assert answer.rows == [(250,)]
    assert [(f.rule, f.measured["factor"]) for f in answer.findings] == [("fan_out_sum", 1.5)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT t.id, COUNT(*) FROM t LEFT JOIN u ON u.t = t.id GROUP BY t.id",
        "SELECT t.id FROM t LEFT JOIN u ON u.t = t.id WHERE u.id >= 0",
        "SELECT t.id FROM t WHERE t.id NOT IN (SELECT u.id FROM t LEFT JOIN u ON u.t = t.id)",
        "SELECT MAX(u.id) FROM u RIGHT JOIN t ON u.t = t.id",
    ],
)
def test_padded_rows_look_like_others_so_nothing_is_said_of_them(
    engine: GenericEngine, sql: str
) -> None:
    """Elsewhere COUNT(*) counts a NULL for a row, and a condition drops it."""
    answer = guarded(engine, sql)
    assert [f.rule for f in answer.findings if f.rule != "empty_result"] == []
    assert "not known: which rows an outer join pads with default values" in answer.notes


def test_rows_of_the_side_that_is_not_padded_are_measured(engine: GenericEngine) -> None:
    """Each of them is a row; one that may be padded is not told from what pads it."""
    join = "FROM parent p LEFT JOIN child c ON c.parent = p.id"
    [kept] = guarded(engine, f"SELECT SUM(p.total) {join}").findings
    assert (kept.rule, kept.measured["factor"]) == ("fan_out_sum", 1.5)
    [padded] = guarded(engine, f"SELECT SUM(c.id) {join}").findings
    assert padded.severity == "info"
    assert "factor" not in padded.measured


@pytest.mark.parametrize(
    ("sql", "repaired", "found"),
    [
        (
            "SELECT SUM(p.total) FROM parent p JOIN child c ON c.parent = p.id AND c.id < 3",
            "SELECT SUM(p.total) FROM parent p WHERE p.id IN "
            "(SELECT c.parent FROM child c WHERE c.id < 3)",
            [(100,)],
        ),
        (
            "SELECT SUM(p.total) FROM parent p JOIN child c ON c.parent = p.id "
            "JOIN child d ON d.parent = p.id",
            "SELECT SUM(p.total) FROM parent p WHERE p.id IN (SELECT c.parent FROM child c) "
            "AND p.id IN (SELECT d.parent FROM child d)",
            [(150,)],
        ),
    ],
)
def test_what_only_filters_becomes_in(
    engine: GenericEngine, sql: str, repaired: str, found: list[tuple[int]]
) -> None:
    """EXISTS may not use the query around it, and IN knows equalities only."""
    answer = Guard(engine, "grain").run(sql, fix=True)
    assert (answer.final_sql, answer.rows) == (repaired, found), answer.notes


def test_other_joins_stay_where_exists_may_not_say_them(engine: GenericEngine) -> None:
    sql = "SELECT SUM(p.total) FROM parent p JOIN child c ON c.parent = p.id AND c.id <> p.total"
    answer = Guard(engine, "grain").run(sql, fix=True)
    assert "only IN could say it here" in " ".join(answer.notes)
    assert answer.rows == [(150,)]


@pytest.mark.parametrize("table", ["version v FINAL", "version AS v FINAL"])
def test_the_last_versions_of_a_table_are_its_rows(engine: GenericEngine, table: str) -> None:
    sql = f"SELECT SUM(v.x) FROM {table} JOIN child c ON c.parent = v.id"
    answer = Guard(engine, "grain").run(sql, fix=True)
    assert answer.final_sql == (
        f"SELECT SUM(v.x) FROM {table} WHERE v.id IN (SELECT c.parent FROM child c)"
    )
    assert answer.rows == [(12,)]
    assert [f.rule for f in answer.findings] == ["fan_out_sum"]


def test_a_null_does_not_undo_not_in(engine: GenericEngine) -> None:
    answer = guarded(engine, "SELECT id FROM t WHERE id NOT IN (SELECT g FROM t)")
    assert (answer.rows, answer.findings) == ([(2,), (3,)], ())


@pytest.mark.parametrize("shown", ["tags", "upper(tags)", "x"])
def test_what_array_join_brings_is_shown(engine: GenericEngine, shown: str) -> None:
    joined = "tags AS x" if shown == "x" else "tags"
    answer = Guard(engine, "grain").run(
        f"SELECT id, {shown} FROM (SELECT id, ['a', 'a'] AS tags FROM parent) ARRAY JOIN {joined}",
        fix=True,
    )
    assert [f for f in answer.findings if f.rule != "truncated"] == []
    assert len(answer.rows) == 4


NOT_IN_ALL_BUILDS = {"correlated_exists"}
"""Newer ones have it; not to use it holds for all."""


@pytest.mark.parametrize("name", YES_OR_NO)
def test_an_entry_is_what_it_does(engine: GenericEngine, name: str) -> None:
    entry, seen = getattr(CLICKHOUSE, name), YES_OR_NO[name](engine)
    assert entry == seen or name in (MAY_BE if entry else NOT_IN_ALL_BUILDS)


@pytest.mark.parametrize("construct", get_args(Construct))
def test_it_lacks_what_it_refuses(engine: GenericEngine, construct: Construct) -> None:
    taken = isinstance(engine.execute(LACKING[construct], limits=LIMITS), Rows)
    assert (construct in CLICKHOUSE.lacks) == (not taken)


def test_null_sorts_last_and_bare_columns_are_refused(engine: GenericEngine) -> None:
    for how in ("ASC", "DESC"):
        sql = f"SELECT g FROM t WHERE id > 1 ORDER BY g {how}"
        assert rows(engine, sql) == [(1,), (None,)]
    outcome = engine.execute("SELECT id, s FROM t GROUP BY id", limits=LIMITS)
    assert isinstance(outcome, Failure)


LIST = "SELECT number % {} AS n, IF(number % 3 = 0, NULL, number % 7) AS s FROM numbers({})"


@pytest.mark.parametrize("size", [1, 700, 50_000, 1_000_000])
def test_an_estimate_of_distinct_rows_stays_within_its_error(
    engine: GenericEngine, size: int
) -> None:
    """At 95 %: of 20 at most a few are outside."""
    values = "SELECT number + {first} AS a, NULL AS b FROM numbers({size})"
    assert near_counts_outside(engine, values, size, 20) <= 3


def test_null_is_one_value_in_an_estimate_and_in_a_count(engine: GenericEngine) -> None:
    sql = LIST.format(5, 100_000)
    for query in (counting(sql, 2, "clickhouse"), near_counting(sql, 2, "clickhouse")):
        outcome = engine.execute(query, limits=Limits())
        assert isinstance(outcome, Rows), outcome
        assert counts_in(outcome).distinct == pytest.approx(40, abs=1)


def test_where_counting_takes_too_long_it_is_estimated(
    engine: GenericEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(engine=engine, params=None, limits=Limits(seconds=60, max_rows=100))
    sql = LIST.format(5, 100_000)
    outcome = session.run(sql)
    assert isinstance(outcome, Rows)
    monkeypatch.setattr(Session, "expected", lambda *_, **__: 1e6)
    found = session.counts(sql, outcome)
    assert isinstance(found, Counts)
    assert (found.rows, found.error) == (100_000, CLICKHOUSE.near_distinct_error)
    assert found.distinct == pytest.approx(40, abs=1)
