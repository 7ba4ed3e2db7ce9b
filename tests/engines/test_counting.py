"""Counting a result that was cut is a probe: priced, paid for, estimated where that suffices."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.engines.outcomes import near_counts_outside

from modularsql import Guard, Settings
from modularsql.guard.counting import Counts
from modularsql.guard.session import Session
from modularsql.ports import Engine, Outcome
from modularsql.records import Failure, FailureKind, Limits, Params, Safety
from modularsql.rows import Rows
from modularsql.sql.dialects import dialect_of

Make = Callable[..., Engine]
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)"
SCRIPT = (
    "CREATE TABLE p(id INTEGER PRIMARY KEY, v INTEGER)",
    f"INSERT INTO p {NUMBERS} SELECT i, i % 300 FROM n",
    "CREATE TABLE c(p INTEGER NOT NULL)",
    "INSERT INTO c SELECT id FROM p",
    "INSERT INTO c SELECT id FROM p",
    "INSERT INTO c SELECT id FROM p",
    # So that PostgreSQL and MariaDB know how many rows there are.
    "ANALYZE{}",
)
LIST = "SELECT p.v FROM p JOIN c ON c.p = p.id"
"""2,700 rows of 300 values."""
WRITTEN = {"sqlite": "", "duckdb": "", "postgres": "", "mysql": " TABLE p, c"}


class Clocked:
    """An engine on which the query takes its seconds, and all else a quarter of one."""

    def __init__(self, engine: Engine, seconds: float) -> None:
        self._engine = engine
        self._seconds = seconds
        self.name, self.dialect = engine.name, engine.dialect
        self.catalog, self.close = engine.catalog, engine.close
        self.compares_bytes = engine.compares_bytes
        self.now = 0.0
        self.asked: list[str] = []

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        self.now += 0.25 if self.asked else self._seconds
        self.asked.append(sql)
        return self._engine.execute(sql, params, limits=limits)

    def counted(self) -> bool:
        """Whether a counting query was sent, or its estimate."""
        return any("COALESCE(SUM(n), 0)" in sql for sql in self.asked if "EXPLAIN" not in sql)


@pytest.fixture
def begun(make_near: Make) -> Callable[..., tuple[Session, Rows, Clocked]]:
    """A session after its query, of whose rows 100 were kept."""

    def call(seconds: float, sql: str = LIST, fix: bool = False, **limits: float):  # type: ignore[no-untyped-def]
        *made, analyze = SCRIPT
        dialect = make_near(*made).dialect
        engine = make_near(*made, analyze.format(WRITTEN[dialect]), name="analyzed.db")
        clocked = Clocked(engine, seconds)
        given = Limits(seconds=1_000_000, max_rows=100, **limits)  # type: ignore[arg-type]
        session = Session(
            engine=clocked, params=None, limits=given, clock=lambda: clocked.now, fix=fix
        )
        rows = session.run(sql)
        assert isinstance(rows, Rows)
        assert rows.truncated
        return session, rows, clocked

    return call


Begun = Callable[..., tuple[Session, Rows, Clocked]]


def test_what_suffices_for_it_is_counted_and_paid_for(begun: Begun) -> None:
    session, rows, engine = begun(0.01, probe_seconds=5.0)
    before = session.left_for_probes()
    assert session.counts(LIST, rows) == Counts(rows=2_700, distinct=300, pushed_down=True)
    assert before - session.left_for_probes() >= 0.25
    assert engine.counted()


def test_a_count_dearer_than_the_query_is_not_made_unless_allowed(begun: Begun) -> None:
    session, rows, engine = begun(1_000.0, probe_seconds=0.0, probe_times=1.0)
    found = session.counts(LIST, rows)
    assert isinstance(found, Failure)
    assert found.kind == FailureKind.TIMEOUT
    assert found.message.startswith("estimated ")
    assert "probe_times" in found.message
    assert not engine.counted()


def test_who_allows_it_has_it_counted(begun: Begun) -> None:
    session, rows, _ = begun(100.0, probe_times=1_000_000.0)
    assert session.counts(LIST, rows) == Counts(rows=2_700, distinct=300, pushed_down=True)


def test_repairs_need_it_so_who_asks_for_them_has_allowed_it(begun: Begun) -> None:
    session, rows, _ = begun(100.0, fix=True, probe_seconds=0.0, probe_times=0.0)
    assert session.counts(LIST, rows) == Counts(rows=2_700, distinct=300, pushed_down=True)


def test_a_query_that_was_cut_is_priced_to_its_end(begun: Begun) -> None:
    """A hundred rows took a second; where the engine expects many more, so much is to come."""
    session, _, engine = begun(1.0, "SELECT a.p FROM c a, c b, c d", probe_seconds=1_000.0)
    assert (session.whole() > 1_000) == (engine.dialect != "sqlite")


def test_what_took_long_is_not_run_once_more_to_count_it(begun: Begun) -> None:
    session, rows, engine = begun(30.0, probe_seconds=5.0)
    found = session.counts(LIST, rows)
    assert isinstance(found, Failure)
    assert not engine.counted()


def test_an_estimate_of_distinct_rows_says_by_how_much_it_may_err(
    begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, rows, engine = begun(0.4, probe_seconds=10.0)
    monkeypatch.setattr(Session, "expected", lambda *_, **__: 1e6)
    found = session.counts(LIST, rows)
    if not dialect_of(engine.dialect).near_distinct:
        assert isinstance(found, Failure)
        return
    assert isinstance(found, Counts)
    assert (found.rows, found.pushed_down) == (2_700, True)
    assert found.error == dialect_of(engine.dialect).near_distinct_error
    assert found.distinct == pytest.approx(300, rel=0.03)


def test_hashes_are_of_bytes_so_folded_texts_are_not_estimated(
    begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, rows, engine = begun(0.4, probe_seconds=10.0)
    if engine.dialect not in ("sqlite", "duckdb"):
        pytest.skip("it has no collation NOCASE")
    monkeypatch.setattr(Session, "expected", lambda *_, **__: 1e6)
    folded = LIST.replace("p.v", "CAST(p.v AS VARCHAR) COLLATE NOCASE")
    assert isinstance(session.counts(folded, rows), Failure)


def test_nothing_is_estimated_where_the_engine_knows_of_a_collation(
    begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a column, or inside a view or macro, which the query does not show."""
    session, rows, engine = begun(0.4, probe_seconds=10.0)
    monkeypatch.setattr(Session, "expected", lambda *_, **__: 1e6)
    monkeypatch.setattr(engine, "compares_bytes", lambda: False)
    assert isinstance(session.counts(LIST, rows), Failure)


@pytest.mark.parametrize("size", [1, 700, 50_000])
def test_an_estimate_stays_within_its_error(make_near: Make, size: int) -> None:
    """At 95 %: of 40 at most a few are outside."""
    engine = make_near(*SCRIPT[:1])
    if not dialect_of(engine.dialect).near_distinct:
        pytest.skip("it has no estimate of distinct values")
    values = "SELECT i + {first} AS a, NULL AS b FROM range({size}) r(i)"
    assert near_counts_outside(engine, values, size, 40) <= 5


@pytest.mark.parametrize(
    ("whole", "expected", "tried"),
    [(0.9, 0.9, True), (2.0, 0.3, True), (2.0, 0.5, False), (0.9, 1.1, False)],
)
def test_a_changed_query_is_tried_where_the_query_would_fit_or_far_less(
    begun: Begun, monkeypatch: pytest.MonkeyPatch, whole: float, expected: float, tried: bool
) -> None:
    session, _, engine = begun(0.1, probe_seconds=1.0)
    monkeypatch.setattr(Session, "whole", lambda *_: whole)
    monkeypatch.setattr(Session, "expected", lambda *_, **__: expected)
    outcome = session.attempt("SELECT 1")
    assert isinstance(outcome, Rows) == tried
    assert (engine.asked[-1] == "SELECT 1") == tried


def test_what_was_not_counted_is_said_with_the_rows_at_hand(make_near: Make) -> None:
    engine = Clocked(make_near(*SCRIPT[:-1]), 0.0)
    settings = Settings(max_rows=100, probe_seconds=0.0, probe_times=0.0)
    answer = Guard(engine, "grain", settings).run("SELECT c.p - c.p AS nought FROM c")
    assert answer.probe is not None
    assert answer.probe.states == ("truncated", "probe_skipped")
    (said,) = (f for f in answer.findings if f.rule == "probe_skipped")
    assert "probe_times" in said.message
    assert said.message.endswith("Of 100 rows at hand 1 are distinct.")
    assert said.measured["not_measured"]
    assert not engine.counted()


def test_repairs_of_what_was_not_counted_are_suggested_and_not_run(
    make_near: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = Failure(kind=FailureKind.TIMEOUT, message="estimated 9 s")
    monkeypatch.setattr(Session, "counts", lambda *_: lost)
    engine = Clocked(make_near(*SCRIPT[:-1]), 0.0)
    sql = "SELECT p.id FROM p JOIN c ON c.p = p.id"
    settings = Settings(max_rows=100, timeout=600.0, probe_seconds=500.0)
    answer = Guard(engine, "grain", settings).run(sql)
    (found,) = (f for f in answer.findings if f.rule == "fan_out_rows")
    repair = found.repairs[0]
    assert repair.safety == Safety.SUGGESTED
    assert "it was not run, since the result was not counted" in found.message
    assert repair.sql not in engine.asked


def test_an_estimate_repeats_only_where_its_upper_end_does() -> None:
    from modularsql.guard.probe import is_repetitive

    counts = Counts(rows=1_000, distinct=199, pushed_down=True)
    assert is_repetitive(counts, 0.8)
    assert not is_repetitive(replace(counts, error=0.01), 0.8)
