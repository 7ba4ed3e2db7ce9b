"""What gives a gold query away, on a small database."""

import sqlite3
from pathlib import Path

import pytest
from tests.evaluation.pairs import ran, result

from modularsql import connect
from modularsql.config import Settings
from modularsql.evaluation.shape import read_shape
from modularsql.evaluation.smelling import smell, smell_of_prediction
from modularsql.evaluation.smells import TITLES, Gold, Smell, smells
from modularsql.evaluation.ties import keyed_query
from modularsql.records import Failure, FailureKind, Finding, Severity

TRACK = """
CREATE TABLE lap(d TEXT, ms INTEGER, speed TEXT, year TEXT);
INSERT INTO lap VALUES ('a',NULL,'9.5','2012'),('b',90,'10.2','2013'),('c',80,'11.0','2013');
"""


def smelt(sql: str, *findings: Finding) -> tuple[Smell, ...]:
    outcome = ran(TRACK, sql)
    query = keyed_query(sql, "sqlite", outcome.columns)
    keyed = None if query is None else ran(TRACK, query)
    return smells(Gold(sql=sql, dialect="sqlite", outcome=outcome, findings=findings, keyed=keyed))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT d FROM lap", ()),
        ("SELECT d FROM lap WHERE ms > 900", (Smell.EMPTY,)),
        ("SELECT MAX(ms) FROM lap WHERE d = 'z'", (Smell.EMPTY,)),
        # E10: which of the two years comes first is chance.
        ("SELECT d FROM lap ORDER BY year DESC LIMIT 1", (Smell.CUT_AT_TIE,)),
        ("SELECT d FROM lap ORDER BY year DESC LIMIT 2", ()),
        ("SELECT year FROM lap ORDER BY year DESC LIMIT 1", ()),
        ("SELECT d FROM lap ORDER BY year LIMIT 1 OFFSET 1", (Smell.CUT_AT_TIE,)),
        # E12
        ("SELECT d FROM lap ORDER BY speed DESC LIMIT 1", (Smell.NUMERIC_TEXT,)),
        ("SELECT d FROM lap ORDER BY CAST(speed AS REAL) DESC LIMIT 1", ()),
        ("SELECT MAX(speed) FROM lap", (Smell.NUMERIC_TEXT,)),
        ("SELECT MAX(CAST(speed AS REAL)) FROM lap", ()),
        ("SELECT d, year FROM lap ORDER BY year", ()),
        # E18
        ("SELECT COUNT(*) FROM lap WHERE d > date('now', '-30 day')", (Smell.TODAY,)),
        ("SELECT strftime('%Y', 'NOW') FROM lap", (Smell.TODAY,)),
        ("SELECT d FROM lap WHERE d > CURRENT_TIMESTAMP", (Smell.TODAY,)),
        ("SELECT d FROM lap WHERE d > date()", (Smell.TODAY,)),
        ("SELECT julianday() - julianday('2020-01-01')", (Smell.TODAY,)),
        ("SELECT date('2020-01-01'), datetime('2020-01-01')", ()),
        ("SELECT d FROM lap WHERE d <> 'now'", ()),
        ("SELECT d FROM lap ORDER BY random() LIMIT 3", (Smell.RANDOM,)),
        ("SELECT d FROM lap LIMIT 1", (Smell.ROW_ORDER,)),
        ("SELECT d FROM lap LIMIT 9", ()),
        ("SELECT d FROM lap WHERE ms = (SELECT ms FROM lap LIMIT 1) OR 1", (Smell.ROW_ORDER,)),
    ],
)
def test_a_smell_is_seen_where_it_is_and_nowhere_else(
    sql: str, expected: tuple[Smell, ...]
) -> None:
    assert smelt(sql) == expected


@pytest.mark.parametrize(
    ("dialect", "sql", "expected"),
    [
        ("duckdb", "SELECT now()", (Smell.TODAY,)),
        ("duckdb", "SELECT today(), localtimestamp", (Smell.TODAY,)),
        ("duckdb", "SELECT get_current_timestamp()", (Smell.TODAY,)),
        ("duckdb", "SELECT date(d) FROM lap", ()),
        ("duckdb", "SELECT uuid()", (Smell.RANDOM,)),
        ("duckdb", "SELECT d FROM lap USING SAMPLE 10", (Smell.RANDOM,)),
        ("postgres", "SELECT now(), CURRENT_DATE", (Smell.TODAY,)),
        ("postgres", "SELECT clock_timestamp()", (Smell.TODAY,)),
        ("postgres", "SELECT d FROM lap TABLESAMPLE BERNOULLI (10)", (Smell.RANDOM,)),
        ("postgres", "SELECT d FROM lap ORDER BY random()", (Smell.RANDOM,)),
        ("mysql", "SELECT curdate(), sysdate()", (Smell.TODAY,)),
        ("mysql", "SELECT utc_timestamp()", (Smell.TODAY,)),
        ("mysql", "SELECT date(d), unix_timestamp('2020-01-01') FROM lap", ()),
        ("mysql", "SELECT unix_timestamp()", (Smell.TODAY,)),
        ("mysql", "SELECT rand(), uuid()", (Smell.RANDOM,)),
    ],
)
def test_each_database_has_its_own_ways_to_today_and_to_chance(
    dialect: str, sql: str, expected: tuple[Smell, ...]
) -> None:
    assert smells(Gold(sql=sql, dialect=dialect, outcome=result((1,)))) == expected


def test_what_the_guard_says_counts_when_it_is_loud() -> None:
    loud = Finding(rule="fan_out_sum", severity=Severity.ERROR, message="")
    quiet = Finding(rule="fan_out_sum", severity=Severity.INFO, message="")
    bare = Finding(rule="bare_column", severity=Severity.WARNING, message="")
    assert smelt("SELECT d FROM lap", loud) == (Smell.FAN_OUT,)
    assert smelt("SELECT d FROM lap", quiet) == ()
    assert smelt("SELECT d FROM lap", bare) == (Smell.ROW_ORDER,)


E11 = [
    ("SELECT d FROM lap ORDER BY ms LIMIT 1", True),
    ("SELECT ms FROM lap ORDER BY 1 LIMIT 2", True),
    ("SELECT d FROM lap WHERE ms IS NOT NULL ORDER BY ms LIMIT 1", False),
    ("SELECT d FROM lap WHERE ms IS NULL ORDER BY ms LIMIT 1", False),
    ("SELECT d FROM lap ORDER BY ms NULLS FIRST LIMIT 1", False),
    ("SELECT d FROM lap ORDER BY ms LIMIT 9", False),
    ("SELECT d FROM lap ORDER BY ms", False),
    ("SELECT nope FROM lap ORDER BY ms LIMIT 1", False),
    ("ORDER BY", False),
]


@pytest.mark.parametrize(("sql", "expected"), E11)
def test_null_on_top_is_a_smell_of_gold_and_of_a_prediction(
    sql: str, expected: bool, tmp_path: Path
) -> None:
    path, settings = tmp_path / "track.sqlite", Settings()
    with sqlite3.connect(path) as connection:
        connection.executescript(TRACK)
    connection.close()
    engine = connect(path)
    outcome = engine.execute(sql, limits=settings.scoring_limits())
    of_gold = smell(engine, sql, outcome, lambda _: None, settings)
    of_prediction = smell_of_prediction(engine, sql, outcome, settings)
    engine.close()
    assert (Smell.NULL_FIRST_CUT in of_gold) is expected
    assert of_prediction == ((Smell.NULL_FIRST_CUT,) if expected else ())


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        (FailureKind.TIMEOUT, Smell.TIMEOUT),
        (FailureKind.ERROR, Smell.ERROR),
        (FailureKind.REFUSED, Smell.ERROR),
    ],
)
def test_gold_that_gives_no_rows_is_named(kind: FailureKind, named: Smell) -> None:
    failed = Failure(kind=kind, message="no")
    assert smells(Gold(sql="SELECT 1", dialect="sqlite", outcome=failed)) == (named,)


def test_gold_that_does_not_parse_is_judged_by_its_rows() -> None:
    assert smells(Gold(sql="SELECT (", dialect="sqlite", outcome=result())) == (Smell.EMPTY,)


def test_every_smell_has_words() -> None:
    assert set(TITLES) == set(Smell)


def test_the_shape_knows_limit_and_extremes() -> None:
    shape = read_shape(
        "SELECT d, MAX(ms) m, 1 FROM lap GROUP BY d LIMIT 3", "sqlite", ("d", "m", "1")
    )
    assert shape is not None
    assert (shape.limit, shape.extremes) == (3, (1,))
