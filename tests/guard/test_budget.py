"""What one guarded query asks of its engine: within one budget, and whatever the engine says."""

import time
from collections.abc import Callable, Iterator

import pytest

from modularsql import Answer, Guard, Limits, Settings, Verdict
from modularsql.catalog import Catalog
from modularsql.declared.keyfile import read_keyfile
from modularsql.guard import factor
from modularsql.guard.counting import counting
from modularsql.guard.findings import duplicates, explosion
from modularsql.guard.policy import find_policy
from modularsql.guard.run import STAGES
from modularsql.guard.session import Session
from modularsql.guard.verdict import verdict
from modularsql.ports import Engine, Outcome
from modularsql.records import Failure, FailureKind, Finding, Params, Repair, Safety, Severity
from modularsql.rows import Rows
from modularsql.service.keyed import KeyedEngine

COPIES = Rows(columns=("a",), types=(None,), rows=[(1,)] * 6)
ONCE = Rows(columns=("a",), types=(None,), rows=[(1,)])
TIMEOUT = Failure(kind=FailureKind.TIMEOUT, message="stopped at the time limit")


class Scripted:
    """An engine that gives the outcomes it was told to, in order, and keeps what it was asked."""

    name, dialect = "scripted", "sqlite"

    def __init__(self, *outcomes: Outcome, bytewise: bool = True) -> None:
        self.outcomes = iter(outcomes)
        self.asked: list[str] = []
        self.seconds: list[float] = []
        self.bytewise = bytewise
        self.closed = False

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        self.asked.append(sql)
        self.seconds.append(limits.seconds)
        return next(self.outcomes)

    def catalog(self) -> Catalog:
        return Catalog(dialect="sqlite")

    def compares_bytes(self) -> bool:
        return self.bytewise

    def close(self) -> None:
        self.closed = True


def run(engine: Scripted, sql: str = "SELECT a FROM t", policy: str = "p1-p2") -> Answer:
    settings = Settings(timeout=9)
    return Guard(engine, find_policy(policy, settings), settings).run(sql, fix=True)


def test_the_patch_gets_what_the_query_left_of_the_limit() -> None:
    engine = Scripted(COPIES, ONCE)
    assert run(engine).applied == ("inject_distinct",)
    assert engine.asked == ["SELECT a FROM t", "SELECT DISTINCT a FROM t"]
    assert 9 > engine.seconds[0] > engine.seconds[1] > 8


def test_a_query_without_copies_and_without_distinct_is_run_once() -> None:
    engine = Scripted(ONCE)
    assert run(engine).verdict == Verdict.PASS
    assert len(engine.asked) == 1


def test_what_was_found_is_not_paid_for_where_nothing_is_patched() -> None:
    engine = Scripted(COPIES)
    assert run(engine, policy="off").verdict == Verdict.ANNOTATE
    assert len(engine.asked) == 1


def test_a_patch_that_runs_out_of_time_leaves_the_answer_as_it_was() -> None:
    answer = run(Scripted(COPIES, TIMEOUT))
    assert (answer.applied, answer.final_sql, list(answer.rows)) == ((), answer.sql, COPIES.rows)
    assert answer.notes == (
        "inject_distinct was not applied: the patched query failed: stopped at the time limit",
    )


@pytest.mark.parametrize(
    "after",
    [
        Rows(columns=("a",), types=(None,), rows=[(2,)]),
        Rows(columns=("a",), types=(None,), rows=[(1,), (2,)]),
        Rows(columns=("a",), types=(None,), rows=[]),
        Rows(columns=("b",), types=(None,), rows=[(1,)]),
        Rows(columns=("a", "b"), types=(None, None), rows=[(1, 1)]),
    ],
    ids=["another row", "more rows", "no row", "another column", "more columns"],
)
def test_a_patch_that_returns_anything_else_is_not_kept(after: Rows) -> None:
    """As in a database that somebody writes to, or under random()."""
    answer = run(Scripted(COPIES, after))
    assert (answer.applied, list(answer.rows)) == ((), COPIES.rows)
    assert answer.notes[0].startswith("inject_distinct was not applied: ")


def test_a_count_that_fails_is_told_and_nothing_is_patched() -> None:
    engine = Scripted(COPIES, TIMEOUT, bytewise=False)
    answer = run(engine)
    assert answer.probe is not None
    assert (answer.probe.status, answer.probe.states) == ("ok", ("probe_skipped",))
    assert (answer.probe.rows, answer.probe.distinct_rows, answer.probe.dup_ratio) == (
        6,
        None,
        None,
    )
    assert [finding.rule for finding in answer.findings] == ["probe_skipped"]
    assert engine.asked[1] == counting("SELECT a FROM t", 1, "sqlite")


def test_an_empty_result_is_empty_even_where_it_cannot_be_counted() -> None:
    answer = run(Scripted(Rows(columns=("a",), types=(None,), rows=[]), TIMEOUT, bytewise=False))
    assert answer.probe is not None
    assert (answer.probe.status, answer.probe.rows) == ("empty", 0)


@pytest.mark.parametrize(
    ("kind", "status", "states", "rule", "word"),
    [
        (FailureKind.ERROR, "error", (), "exec_error", Verdict.ANNOTATE),
        (FailureKind.TIMEOUT, "timeout", (), "timeout", Verdict.ANNOTATE),
        (FailureKind.LOCKED, "error", ("locked",), "locked", Verdict.ANNOTATE),
        (FailureKind.REFUSED, "error", (), "refused", Verdict.REFUSE),
        (FailureKind.TOO_LARGE, "error", (), "too_large", Verdict.ANNOTATE),
        (FailureKind.DIED, "error", (), "exec_error", Verdict.ANNOTATE),
    ],
)
def test_every_failure_has_its_status_finding_and_verdict(
    kind: FailureKind, status: str, states: tuple[str, ...], rule: str, word: Verdict
) -> None:
    answer = run(Scripted(Failure(kind=kind, message="what happened.")))
    assert answer.probe is not None
    assert (answer.probe.status, answer.probe.states) == (status, states)
    assert answer.probe.error == "what happened."
    assert [(f.rule, f.severity) for f in answer.findings] == [(rule, Severity.ERROR)]
    assert ".." not in answer.findings[0].message
    assert (answer.verdict, answer.rows, answer.columns) == (word, (), ())


def test_parameters_without_values_are_no_failure_of_the_query() -> None:
    answer = run(Scripted(Failure(kind=FailureKind.UNBOUND, message="no value")))
    assert (answer.verdict, answer.probe) == (Verdict.UNDECIDED, None)
    assert [finding.severity for finding in answer.findings] == [Severity.INFO]


def test_a_budget_that_is_spent_asks_the_engine_for_nothing() -> None:
    def ticks() -> Iterator[float]:
        yield from (0.0, 10.0)

    engine = Scripted()
    clock: Callable[[], float] = ticks().__next__
    session = Session(engine=engine, params=None, limits=Limits(seconds=9), clock=clock)
    outcome = session.run("SELECT 1")
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.TIMEOUT
    assert engine.asked == []


def test_a_pause_gives_the_query_its_time_back_but_no_new_purse_to_probes() -> None:
    now = [0.0]

    class Ticking(Scripted):
        def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
            now[0] += 2.0
            return super().execute(sql, params, limits=limits)

    engine = Ticking(ONCE, ONCE)
    limits = Limits(seconds=30, probe_seconds=5.0)
    session = Session(engine=engine, params=None, limits=limits, clock=lambda: now[0])
    session.run("SELECT 1")
    session.probe("SELECT 2", estimate=False)
    now[0] += 20.0
    assert session.resumed().left() == 30
    assert session.resumed().left_for_probes() == session.left_for_probes() == 3
    assert session.resumed().own == 2


def test_a_guard_closes_its_engine_and_times_every_stage() -> None:
    engine = Scripted(ONCE)
    with Guard(engine) as guard:
        answer = guard.run("SELECT a FROM t", question="how many?")
    assert engine.closed
    assert {name for name, _ in STAGES} <= answer.timing_ms.keys()
    assert answer.question == "how many?"


@pytest.mark.parametrize(
    ("rows", "distinct", "shown"),
    [
        (100_000, 1, "99.9%"),
        (5, 1, "80.0%"),
        (1_000, 201, "79.9%"),
        (7_999, 1_600, "79.9%"),
        (3, 2, "33.3%"),
        (2_000_001, 2_000_000, "0.0%"),
    ],
)
def test_shares_are_rounded_down(rows: int, distinct: int, shown: str) -> None:
    """What is not all never reads 100%, nor what is below the threshold like the threshold."""
    policy = find_policy("p1-p2", Settings())
    assert (
        f" {shown} are copies (threshold 80%)" in duplicates(rows, distinct, policy, (1, 1)).message
    )


@pytest.mark.parametrize(
    ("rows", "largest", "shown"),
    [(2_500, 250, "10"), (2_549, 250, "10.1"), (123_456, 10, "12,345"), (99_999, 1_000, "99.9")],
)
def test_factors_are_written_out(rows: int, largest: int, shown: str) -> None:
    assert f"multiply rows by {shown} or more" in explosion(rows, largest, (1, 1)).message


def finding(severity: Severity, *repairs: str) -> Finding:
    offered = tuple(Repair(name=name, safety=Safety.MEASURED, sql="") for name in repairs)
    return Finding(rule="r", severity=severity, message="", repairs=offered)


@pytest.mark.parametrize(
    ("findings", "applied", "unsure", "word"),
    [
        ([], [], False, Verdict.PASS),
        ([], [], True, Verdict.UNDECIDED),
        ([finding(Severity.INFO)], [], False, Verdict.ANNOTATE),
        ([finding(Severity.INFO)], [], True, Verdict.UNDECIDED),
        ([finding(Severity.WARNING)], [], True, Verdict.ANNOTATE),
        ([finding(Severity.WARNING, "p")], [], False, Verdict.ANNOTATE),
        ([finding(Severity.WARNING, "p")], ["p"], False, Verdict.REPAIR),
        ([finding(Severity.WARNING, "p"), finding(Severity.ERROR)], ["p"], False, Verdict.ANNOTATE),
        ([finding(Severity.WARNING, "p"), finding(Severity.INFO)], ["p"], False, Verdict.REPAIR),
    ],
)
def test_the_verdict_follows_from_what_is_left(
    findings: list[Finding], applied: list[str], unsure: bool, word: Verdict
) -> None:
    assert verdict(findings, applied, None, unsure) == word


class Slow:
    """A database whose first query takes its time."""

    def __init__(self, engine: Engine, seconds: float) -> None:
        self._engine = engine
        self._seconds = seconds
        self.name, self.dialect = engine.name, engine.dialect
        self.catalog, self.compares_bytes = engine.catalog, engine.compares_bytes
        self.close = engine.close
        self.asked: list[str] = []

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        if not self.asked:
            time.sleep(self._seconds)
        self.asked.append(sql)
        return self._engine.execute(sql, params, limits=limits)


MANY = """
CREATE TABLE p(id INTEGER PRIMARY KEY, v INTEGER);
WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 900)
  INSERT INTO p SELECT i, i FROM n;
CREATE TABLE c(p INTEGER);
INSERT INTO c SELECT id FROM p UNION ALL SELECT id FROM p;
"""
SUMMED = "SELECT SUM(p.v) FROM p JOIN c ON c.p = p.id"
MENDED = "SELECT SUM(p.v) FROM p WHERE EXISTS (SELECT 1 FROM c WHERE c.p = p.id)"


def guarded_slowly(
    monkeypatch: pytest.MonkeyPatch, open_: Callable[..., Engine], fix: bool, **settings: float
) -> tuple[Answer, list[str]]:
    monkeypatch.setattr(factor, "ENOUGH", 300)
    slow = Slow(open_("sqlite", MANY), seconds=0.4)
    chosen = Settings(probe_seconds=0, **settings)  # type: ignore[arg-type]
    return Guard(slow, "grain", chosen).run(SUMMED, fix=fix), slow.asked


def test_a_repair_that_would_take_more_than_probes_may_is_only_suggested(
    monkeypatch: pytest.MonkeyPatch, open_database: Callable[..., Engine]
) -> None:
    """Of the query's own time the sample takes a little, and the repair is taken to need all."""
    answer, asked = guarded_slowly(monkeypatch, open_database, fix=False)
    found = next(f for f in answer.findings if f.rule == "fan_out_sum")
    assert found.measured["approximate"] is True
    assert [(r.name, r.safety, r.sql) for r in found.repairs] == [
        ("semi_join", Safety.SUGGESTED, MENDED)
    ]
    assert "it was not run to its end: estimated 0.4 s" in found.message
    assert "probe_times" in found.message
    assert MENDED not in asked


def test_where_repairs_are_asked_for_they_are_no_probes(
    monkeypatch: pytest.MonkeyPatch, open_database: Callable[..., Engine]
) -> None:
    answer, asked = guarded_slowly(monkeypatch, open_database, fix=True)
    assert answer.applied == ("semi_join",)
    assert asked.count(MENDED) == 1
    assert list(answer.rows) == [(405_450,)]
    found = next(f for f in answer.findings if f.rule == "fan_out_sum")
    assert found.repairs[0].safety == Safety.PROVEN, "it follows from the key of p"


def test_probes_get_more_where_the_user_allows_it(
    monkeypatch: pytest.MonkeyPatch, open_database: Callable[..., Engine]
) -> None:
    answer, asked = guarded_slowly(monkeypatch, open_database, fix=False, probe_times=20)
    found = next(f for f in answer.findings if f.rule == "fan_out_sum")
    assert (found.measured["rows_before"], found.measured["rows_after"]) == (900, 1800)
    assert "approximate" not in found.measured
    assert found.repairs[0].safety == Safety.PROVEN
    assert MENDED in asked


def test_a_repair_that_rests_on_the_data_is_only_suggested_after_a_sample(
    monkeypatch: pytest.MonkeyPatch, open_database: Callable[..., Engine]
) -> None:
    """What an asserted key promises would have to hold on all of the data."""
    monkeypatch.setattr(factor, "ENOUGH", 300)
    more = "CREATE TABLE q(k INTEGER, v INTEGER); INSERT INTO q SELECT id, v FROM p;"
    engine = open_database("sqlite", MANY + more)
    keys = read_keyfile('[tables.q]\nprimary_key = ["k"]', "keys.toml")
    slow = Slow(KeyedEngine(engine, keys, Limits()), 0.4)
    sql = "SELECT COUNT(q.k), MAX(c.p) FROM q JOIN c ON c.p = q.k"
    answer = Guard(slow, "grain", Settings(probe_seconds=0)).run(sql, fix=True)
    found = next(f for f in answer.findings if f.rule == "fan_out_count")
    assert found.measured["approximate"] is True
    assert [(r.name, r.safety) for r in found.repairs] == [("count_distinct", Safety.SUGGESTED)]
    assert "only a sample of the data was looked at" in found.message
    assert answer.applied == ()
