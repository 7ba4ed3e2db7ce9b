"""NULL on top of what LIMIT keeps: what is said, where, and what it costs (the cases themselves:
pages/null_sorts_first.md)."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from tests.served import Served
from tests.servers import SERVERS

from modularsql import Guard, Settings
from modularsql.ports import Engine
from modularsql.records import Evidence, Finding, Severity

Open = Callable[..., Engine]

LAPS = """
CREATE TABLE lap(d TEXT, ms INTEGER, n INTEGER NOT NULL);
INSERT INTO lap VALUES ('a', NULL, 1), ('b', 90, 2), ('c', 80, 3);
"""


TIE = """
CREATE TABLE tie(d INTEGER, ms INTEGER);
INSERT INTO tie VALUES (1, NULL), (2, 90), (3, NULL);
"""


class Counted:
    """An engine that notes what it is asked to run."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def execute(self, sql: str, *args: Any, **more: Any) -> Any:
        """See `ports.Engine`."""
        self.asked.append(sql)
        return self._engine.execute(sql, *args, **more)


@pytest.fixture
def laps(open_database: Open) -> Counted:
    return Counted(open_database("sqlite", LAPS))


def found(engine: Engine, sql: str, settings: Settings | None = None, **more: Any) -> list[Finding]:
    answer = Guard(engine, settings=settings).run(sql, **more)
    return [finding for finding in answer.findings if finding.rule == "null_sorts_first"]


def test_the_finding_says_where_and_how_many(laps: Any) -> None:
    [finding] = found(laps, "SELECT d\nFROM lap\nORDER BY ms LIMIT 2")
    assert (finding.line, finding.column) == (3, 10)
    assert finding.measured == {"rows": 2, "null_rows": 1}
    assert (finding.severity, finding.evidence) == (Severity.WARNING, Evidence.OBSERVED)
    assert finding.repairs == ()


def test_bound_values_go_with_it(laps: Any) -> None:
    sql = "SELECT d FROM lap WHERE n < ? ORDER BY ms LIMIT ?"
    assert len(found(laps, sql, params=[3, 1])) == 1
    assert found(laps, sql, params=[2, 1]) == []


def test_fix_leaves_it_to_a_person(laps: Any) -> None:
    answer = Guard(laps).run("SELECT d FROM lap ORDER BY ms LIMIT 1", fix=True)
    assert (answer.applied, answer.rows) == ((), [("a",)])
    assert [finding.rule for finding in answer.findings] == ["null_sorts_first"]


@pytest.mark.parametrize(
    ("sql", "probes"),
    [
        ("SELECT d FROM lap ORDER BY n LIMIT 1", 0),
        ("SELECT d FROM lap WHERE ms > 1 ORDER BY ms LIMIT 1", 0),
        ("SELECT d FROM lap ORDER BY ms", 0),
        ("SELECT d FROM lap ORDER BY ms DESC LIMIT 1", 0),
        ("SELECT d FROM lap LIMIT 1", 0),
        ("SELECT d FROM lap GROUP BY d ORDER BY COUNT(*) LIMIT 1", 0),
        ("SELECT ms FROM lap WHERE n > 1 ORDER BY ms LIMIT 1", 0),  # it shows its key
        ("SELECT d FROM lap WHERE n > 1 ORDER BY ms LIMIT 1", 1),
        ("SELECT ms FROM lap ORDER BY ms LIMIT 1", 1),
        ("SELECT d FROM lap ORDER BY ms LIMIT 1", 2),
    ],
)
def test_only_what_may_be_null_is_asked_for(laps: Counted, sql: str, probes: int) -> None:
    engine: Any = laps
    Guard(engine).run(sql)
    assert len(laps.asked) == 1 + probes, laps.asked


@pytest.mark.parametrize(
    "settings",
    [Settings(evidence_seconds=0), Settings(probe_seconds=0, probe_times=0)],
    ids=["evidence", "probes"],
)
def test_without_time_nothing_is_asked(laps: Counted, settings: Settings) -> None:
    engine: Any = laps
    assert found(engine, "SELECT d FROM lap ORDER BY ms LIMIT 1", settings) == []


def test_a_result_that_a_cap_has_cut_is_not_looked_at(open_database: Open) -> None:
    settings = Settings(max_rows=2)
    engine = open_database("sqlite", LAPS, settings)
    assert found(engine, "SELECT d, n FROM lap ORDER BY ms LIMIT 3", settings) == []


def test_a_key_that_holds_the_alias_of_another_column_is_not_asked_for(laps: Any) -> None:
    assert found(laps, "SELECT n AS ms FROM lap ORDER BY ms + 1 LIMIT 1") == []
    assert len(found(laps, "SELECT ms AS ms FROM lap ORDER BY ms + 1 LIMIT 1")) == 1


@pytest.mark.parametrize(
    ("kind", "sql", "kept"),
    [
        ("postgres", "SELECT d FROM tie ORDER BY ms DESC FETCH FIRST 1 ROWS ONLY", [1]),
        ("postgres", "SELECT d FROM tie ORDER BY ms DESC FETCH FIRST 1 ROWS WITH TIES", [2]),
        ("mysql", "SELECT d FROM tie ORDER BY ms FETCH FIRST 1 ROWS ONLY", [1]),
        # Our parser writes no WITH TIES for it, so the query with its key shown is another one.
        ("mysql", "SELECT d FROM tie ORDER BY ms FETCH FIRST 1 ROWS WITH TIES", []),
        ("mysql", "SELECT ms FROM tie ORDER BY ms FETCH FIRST 1 ROWS WITH TIES", [2]),
        ("mysql", "SELECT d FROM tie ORDER BY ms LIMIT 1, 1", [1]),
    ],
)
def test_what_fetch_keeps_is_counted(served: Served, kind: str, sql: str, kept: list[int]) -> None:
    if absent := SERVERS[kind].absent:
        pytest.skip(absent)
    engine = served.open(kind, TIE)
    assert [finding.measured["null_rows"] for finding in found(engine, sql)] == kept


@given(
    values=st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=6),
    limit=st.integers(1, 7),
    offset=st.integers(0, 3),
    order=st.sampled_from(["", " DESC", " NULLS LAST", " DESC NULLS LAST", " NULLS FIRST"]),
    shown=st.booleans(),
)
@examples(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_it_is_said_where_null_takes_the_place_of_a_value_and_nowhere_else(
    laps: Any, values: list[int | None], limit: int, offset: int, order: str, shown: bool
) -> None:
    rows = " UNION ALL ".join(f"SELECT {n} AS d, {v} AS k" for n, v in enumerate(values))
    rows = rows.replace("None", "NULL")
    what = "d, k" if shown else "d"
    sql = f"SELECT {what} FROM ({rows}) AS q ORDER BY k{order} LIMIT {limit} OFFSET {offset}"
    nulls = values.count(None)
    kept = max(0, min(nulls, offset + limit) - offset)
    cut = len(values) > offset + limit and len(values) > nulls
    expected = [kept] if not order and kept and cut else []
    assert [finding.measured["null_rows"] for finding in found(laps, sql)] == expected
