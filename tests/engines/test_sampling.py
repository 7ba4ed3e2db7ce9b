"""Factors that are too dear to count are estimated, on every engine, and marked as estimates."""

from collections.abc import Callable

import pytest

from modularsql.guard import factor
from modularsql.guard.factor import Measured
from modularsql.guard.grain import look
from modularsql.guard.session import Session
from modularsql.ports import Engine, Outcome
from modularsql.records import Evidence, Limits, Params, Severity
from modularsql.rows import Rows
from modularsql.sql.dialects import dialect_of
from modularsql.sql.statement import Statement, read_statement

Make = Callable[..., Engine]
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
SCRIPT = (
    "CREATE TABLE p(id INTEGER PRIMARY KEY, v INTEGER NOT NULL)",
    "CREATE TABLE c(p INTEGER NOT NULL, w INTEGER NOT NULL)",
    f"INSERT INTO p {NUMBERS.format(900)} SELECT i, i FROM n",
    # The row 10 * a + b of p has b rows of c; that of b = 0 has none.
    f"INSERT INTO c {NUMBERS.format(900)} "
    "SELECT n.i, k.d FROM n JOIN (SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL "
    "SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 "
    "UNION ALL SELECT 8) AS k ON k.d < n.i % 10",
    "CREATE TABLE single(p INTEGER NOT NULL)",
    "INSERT INTO single SELECT id FROM p",
    "INSERT INTO single VALUES (0), (0)",  # so it has no key, and yet joins each row of p once
)
BIG = {"sqlite": "INTEGER", "duckdb": "BIGINT", "postgres": "BIGINT", "mysql": "SIGNED"}


@pytest.fixture(autouse=True)
def _few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factor, "ENOUGH", 300)


class Listed:
    """An engine that keeps what it was asked."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.name, self.dialect = engine.name, engine.dialect
        self.catalog, self.compares_bytes = engine.catalog, engine.compares_bytes
        self.close = engine.close
        self.asked: list[str] = []

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        self.asked.append(sql)
        return self._engine.execute(sql, params, limits=limits)


def measured(engine: Engine, sql: str, times: float, params: Params = None) -> Measured | None:
    """What is said of a sum, were the query one of 100 seconds whose probes take `times` that."""
    limits = Limits(seconds=10_000, probe_seconds=0, probe_times=times)
    session = Session(engine=engine, params=params, limits=limits)
    assert isinstance(session.run(sql, params), Rows)
    session.own = 100.0
    statement = read_statement(sql, engine.dialect, 100_000)
    assert isinstance(statement, Statement)
    seen = look(statement, session)
    return next((one for one in seen.issues if one.issue.rule == "fan_out_sum"), None)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(p.v) FROM p JOIN c ON c.p = p.id",
        "SELECT p.v % 2, SUM(p.v) FROM p JOIN c ON c.p = p.id GROUP BY p.v % 2",
        "SELECT SUM(p.v) FROM c LEFT JOIN p ON c.p = p.id",
        "WITH d AS (SELECT * FROM c) SELECT SUM(p.v) FROM p JOIN d ON d.p = p.id",
    ],
    ids=["all", "in groups", "padded", "a CTE"],
)
def test_a_factor_that_is_too_dear_to_count_is_estimated_and_says_so(
    make_near: Make, sql: str
) -> None:
    engine = Listed(make_near(*SCRIPT))
    found = measured(engine, sql, times=0.6)
    assert found is not None
    assert found.borne_out
    assert found.distinct is None
    assert found.finding.severity == Severity.ERROR
    facts = found.finding.measured
    assert facts["approximate"] is True
    assert facts["sample"]["confidence"] == 0.95
    assert facts["sample"]["one_in"] > 1
    assert "a sample of" in found.finding.message
    outcome = engine.execute(facts["sql"], limits=Limits())
    assert isinstance(outcome, Rows)
    rows, different = map(int, outcome.rows[0])
    assert facts["factor"] == pytest.approx(rows / different, rel=2 * facts["sample"]["error"])
    assert facts["rows_after"] == pytest.approx(rows, rel=0.3)
    assert engine.asked.count(facts["sql"]) == 1, "it was not counted before"


def test_a_sample_without_a_repeat_proves_nothing_and_says_so(make_near: Make) -> None:
    sql = "SELECT SUM(p.v) FROM p JOIN single o ON o.p = p.id WHERE p.v > 0"
    engine = make_near(*SCRIPT)
    found = measured(engine, sql, times=0.6)
    assert found is not None
    assert not found.borne_out
    assert (found.finding.severity, found.finding.evidence) == (Severity.INFO, Evidence.ASSUMED)
    assert "none repeats" in found.finding.message
    assert "factor" not in found.finding.measured
    assert found.finding.measured["not_measured"].startswith("estimated ")


def test_what_may_take_longer_is_counted(make_near: Make) -> None:
    found = measured(make_near(*SCRIPT), "SELECT SUM(p.v) FROM p JOIN c ON c.p = p.id", times=50)
    assert found is not None
    assert "approximate" not in found.finding.measured
    assert found.distinct == 810


def test_without_time_for_probes_nothing_is_asked(make_near: Make) -> None:
    engine = Listed(make_near(*SCRIPT))
    sql = "SELECT SUM(p.v) FROM p JOIN c ON c.p = p.id"
    found = measured(engine, sql, times=0)
    assert found is not None
    assert found.finding.measured["not_measured"] == "out of time"
    assert [asked for asked in engine.asked if not asked.startswith("EXPLAIN")] == [sql]


@pytest.mark.parametrize(
    "id_",
    ["i", "5000000000 + i", "i * 4294967296", "9223372036854775807 - i", "-5000000000 - i"],
)
def test_one_in_ten_is_about_a_tenth_whatever_the_ids_are(make_near: Make, id_: str) -> None:
    engine = make_near(*SCRIPT)
    hashed = dialect_of(engine.dialect).row_hash.format("id")
    ids = f"SELECT {id_} AS id FROM (SELECT CAST(id AS {BIG[engine.dialect]}) AS i FROM p) AS n"
    sql = f"SELECT COUNT(*) FROM ({ids}) AS r WHERE {hashed} % 10 = 0"
    outcome = engine.execute(sql, limits=Limits())
    assert isinstance(outcome, Rows)
    assert 45 < int(outcome.rows[0][0]) < 180
