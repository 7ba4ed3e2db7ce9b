"""What the database expects of a query that did not run to its end, before anybody waits for it."""

from collections.abc import Callable

import pytest

from modularsql import Answer, Guard, Settings
from modularsql.ports import Engine
from modularsql.records import Evidence, Finding, Severity

Make = Callable[..., Engine]
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)"
SCRIPT = (
    "CREATE TABLE p(id INTEGER PRIMARY KEY, v INTEGER)",
    f"INSERT INTO p {NUMBERS} SELECT i, i % 3 FROM n",
    "CREATE TABLE c(id INTEGER PRIMARY KEY, p INTEGER NOT NULL, v INTEGER)",
    "INSERT INTO c SELECT id, id, v FROM p",
)
ANALYZE = {"sqlite": "ANALYZE", "duckdb": "ANALYZE", "postgres": "ANALYZE"}
CROSSED = "SELECT SUM(p.v) FROM p, c"


@pytest.fixture
def analyzed(make_near: Make) -> Engine:
    """Two tables of 900 rows, of which the database knows how many they are."""
    dialect = make_near(*SCRIPT[:1]).dialect
    return make_near(*SCRIPT, ANALYZE.get(dialect, "ANALYZE TABLE p, c"), name="analyzed.db")


def asked(engine: Engine, sql: str, **settings: float) -> Answer:
    """What is said of a query that is not to run."""
    return Guard(engine, "grain", Settings(**settings)).run(sql, execute=False)  # type: ignore[arg-type]


def explosions(answer: Answer) -> list[Finding]:
    return [finding for finding in answer.findings if finding.rule == "row_explosion"]


def test_an_explosion_is_foreseen_where_the_engine_estimates(analyzed: Engine) -> None:
    found = explosions(asked(analyzed, CROSSED))
    if analyzed.dialect == "sqlite":
        assert found == [], "its plans hold no numbers"
        return
    (one,) = found
    assert (one.severity, one.evidence) == (Severity.INFO, Evidence.ASSUMED)
    assert one.measured["approximate"] is True
    assert one.measured["rows_before"] == pytest.approx(900, rel=0.05)
    assert one.measured["rows_after"] == pytest.approx(810_000, rel=0.1)
    assert "810,000 rows where the largest table read has about 900" in one.message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(p.v) FROM p JOIN c ON c.p = p.id",
        "SELECT p.id FROM p, c LIMIT 5",
        "SELECT SUM(v) FROM p",
        "SELECT p.id FROM p, c WHERE p.id = 7 AND c.id = 9",
        "SELECT p.id, nothing FROM p, c",
    ],
    ids=["a key", "a limit", "no join", "conditions on both", "no such column"],
)
def test_it_is_silent_where_nothing_explodes(analyzed: Engine, sql: str) -> None:
    assert explosions(asked(analyzed, sql)) == []


def test_it_asks_for_no_more_than_the_settings_say(analyzed: Engine) -> None:
    assert explosions(asked(analyzed, CROSSED, explosion_min_rows=1_000_000)) == []
    assert explosions(asked(analyzed, CROSSED, explosion_factor=1_000.0)) == []


def test_a_time_out_says_how_many_rows_are_expected(analyzed: Engine) -> None:
    sql = "SELECT SUM(a.v + b.v + c.v + d.v) FROM p a, p b, c, c d"
    answer = Guard(analyzed, "grain", Settings(timeout=1.0)).run(sql)
    (found,) = (f for f in answer.findings if f.rule == "timeout")
    if analyzed.dialect == "sqlite":
        assert "expects" not in found.message
        return
    assert "656,000,000,000 rows" in found.message
    assert found.measured["expected_most"] == pytest.approx(900**4, rel=0.1)
    assert explosions(answer)


def test_a_query_that_ran_is_counted_and_its_plan_not_asked(analyzed: Engine) -> None:
    answer = Guard(analyzed, "grain", Settings()).run(
        "SELECT p.id, c.id FROM p, c WHERE p.id < 100"
    )
    (found,) = explosions(answer)
    assert (found.severity, found.measured["rows_after"]) == (Severity.WARNING, 99 * 900)


def test_who_allows_an_explosion_hears_of_none_ahead(analyzed: Engine) -> None:
    answer = Guard(analyzed, "grain").run(CROSSED, execute=False, allow=("row_explosion",))
    assert explosions(answer) == []
