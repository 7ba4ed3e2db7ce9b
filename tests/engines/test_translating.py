"""Queries that are written for another database: told so, and run as their translation if asked."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from modularsql import Answer, Guard, Settings, Verdict
from modularsql.ports import Engine
from modularsql.records import Safety
from modularsql.sql.dialects import Construct, dialect_of

Make = Callable[..., Engine]
TABLES = (
    "CREATE TABLE t(id INTEGER PRIMARY KEY, g INTEGER, s VARCHAR(9))",
    "INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'A'), (3, 2, 'b')",
)
QUERIES: dict[Construct, tuple[str, list[tuple[Any, ...]]]] = {
    "DISTINCT ON": ("SELECT DISTINCT ON (g) g, s FROM t ORDER BY g, id", [(1, "a"), (2, "b")]),
    "QUALIFY": ("SELECT id FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY id) = 1", [(1,)]),
    "ILIKE": ("SELECT COUNT(*) FROM t WHERE s ILIKE 'A'", [(2,)]),
    "LIMIT a, b": ("SELECT id FROM t ORDER BY id LIMIT 1, 1", [(2,)]),
    "FETCH FIRST": ("SELECT id FROM t ORDER BY id FETCH FIRST 1 ROWS ONLY", [(1,)]),
    "TOP": ("SELECT TOP 1 id FROM t ORDER BY id", [(1,)]),
    "::": ("SELECT id::int FROM t WHERE id = 2", [(2,)]),
    "`name`": ("SELECT `id` FROM `t` WHERE `id` = 3", [(3,)]),
    "[name]": ("SELECT [id] FROM [t] WHERE [id] = 3", [(3,)]),
}


BROKEN_BY_DATA = {
    "sqlite": "select abs(id - 9223372036854775807 - 2) from t",
    "mysql": "select (select id from t) from t",
}
"""What a database understands, and cannot compute; the rest by a text that is no number."""


def run(engine: Engine, sql: str, transpile: str) -> Answer:
    return Guard(engine, "grain", Settings(transpile=transpile)).run(sql)


def test_a_query_for_another_database_gives_the_rows_that_were_meant(make_near: Make) -> None:
    engine = make_near(*TABLES)
    for construct, (sql, expected) in QUERIES.items():
        answer = run(engine, sql, "run")
        assert list(answer.rows) == expected, sql
        foreign = construct in dialect_of(engine.dialect).lacks
        assert answer.applied == (("transpile",) if foreign else ()), sql
        if foreign:
            (found,) = (f for f in answer.findings if f.rule == "other_dialect")
            assert f"has no {construct}" in found.message
            assert found.message.endswith("was run in its place.")
            assert found.repairs[0].sql == answer.final_sql != sql
            assert answer.verdict == Verdict.REPAIR
            assert (answer.probe is not None, answer.failure) == (True, None)


def test_unless_asked_for_the_translation_is_only_suggested(make_near: Make) -> None:
    engine = make_near(*TABLES)
    for construct in dialect_of(engine.dialect).lacks & QUERIES.keys():
        sql, _ = QUERIES[construct]
        answer = run(engine, sql, "suggest")
        assert (answer.final_sql, list(answer.rows), answer.applied) == (sql, [], ())
        assert answer.failure is not None
        (found,) = (f for f in answer.findings if f.rule == "other_dialect")
        (repair,) = found.repairs
        assert (repair.name, repair.safety) == ("transpile", Safety.SUGGESTED)
        assert run(engine, repair.sql, "suggest").failure is None
        off = run(engine, sql, "off")
        assert [f.rule for f in off.findings] == [
            f.rule for f in answer.findings if f.rule != "other_dialect"
        ]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nobody FROM t",
        "SELECT id FROM nobody",
        "SELECT id FRM t",
        "SELECT id FROM t WHERE",
        "DELETE FROM t",
        "SELECT `nobody` FROM t LIMIT 1, 1",
    ],
)
def test_what_is_wrong_everywhere_is_written_for_nobody(make_near: Make, sql: str) -> None:
    answer = run(make_near(*TABLES), sql, "run")
    assert answer.failure is not None
    assert "other_dialect" not in [finding.rule for finding in answer.findings]
    assert answer.applied == ()


def test_a_translated_query_is_guarded_like_any_other(make_near: Make) -> None:
    engine = make_near(
        *TABLES,
        "CREATE TABLE c(t INTEGER NOT NULL)",
        "INSERT INTO c VALUES (1), (1), (3)",
    )
    sql = "SELECT [t].[g], SUM([t].[id]) FROM [t] JOIN [c] ON [c].[t] = [t].[id] GROUP BY [t].[g]"
    answer = run(engine, sql, "run")
    assert "fan_out_sum" in [finding.rule for finding in answer.findings]


def test_a_translation_is_looked_for_as_long_as_probes_may_take(make_near: Make) -> None:
    engine = make_near(*TABLES)
    construct = next(c for c in QUERIES if c in dialect_of(engine.dialect).lacks)
    sql, expected = QUERIES[construct]
    settings = Settings(probe_seconds=0.0, probe_times=0.0)
    answer = Guard(engine, "grain", settings).run(sql)
    assert [finding.rule for finding in answer.findings] == ["exec_error"]
    # Where it is to be run it is no probe.
    answer = Guard(engine, "grain", replace(settings, transpile="run")).run(sql)
    assert list(answer.rows) == expected


def test_a_query_that_only_the_data_breaks_is_not_foreign(make_near: Make) -> None:
    engine = make_near(*TABLES)
    sql = BROKEN_BY_DATA.get(engine.dialect, "select cast(s as integer) from t")
    for transpile in ("suggest", "run"):
        answer = run(engine, sql, transpile)
        assert answer.failure is not None
        assert [finding.rule for finding in answer.findings] == ["exec_error"]
