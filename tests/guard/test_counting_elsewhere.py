"""The counts that the guard asks of databases which no test can reach.

Each must be one query of the dialect, and return what it should in DuckDB, where the hash of a row
is DuckDB's own. Nothing of it was run on the databases; `tests/engines/test_spark.py` runs Spark's.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlglot import ErrorLevel, exp, parse_one

from modularsql.engines.connect import connect
from modularsql.guard.counting import Counts, counting, counts_in, near_counting
from modularsql.guard.session import Session
from modularsql.ports import Engine, Outcome
from modularsql.records import Failure, Limits, Params
from modularsql.rows import Rows
from modularsql.sql.dialects import DIALECTS, dialect_of

ESTIMATING = sorted(name for name, reads in DIALECTS.items() if reads.near_distinct)
SOME = "SELECT x % 500 AS a, CASE WHEN x % 3 > 0 THEN x % 2 END AS b FROM t"
"""3,000 rows; 500 numbers, each with three of NULL, 0 and 1."""


class Elsewhere:
    """An `Engine` for SQL of a dialect over DuckDB, which translates it and hashes rows its way."""

    def __init__(self, dialect: str, inner: Engine) -> None:
        self.name = self.dialect = dialect
        self._inner = inner
        self.catalog, self.close = inner.catalog, inner.close

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        tree = parse_one(sql, read=self.dialect, error_level=ErrorLevel.RAISE)
        for named in list(tree.find_all(exp.Alias)):
            if named.alias == "h":
                columns = [column.copy() for column in named.this.find_all(exp.Column)]
                named.this.replace(exp.func("HASH", *columns))
        for near in tree.find_all(exp.ApproxDistinct):
            near.set("accuracy", None)  # DuckDB has one only
        there = tree.sql("duckdb", unsupported_level=ErrorLevel.RAISE)
        return self._inner.execute(there, params, limits=limits)

    def compares_bytes(self) -> bool:
        return False


@pytest.fixture
def elsewhere(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Elsewhere]:
    import duckdb

    path = tmp_path / "d.duckdb"
    with closing(duckdb.connect(str(path))) as made:
        made.execute("CREATE TABLE t AS SELECT x, 'n' || x AS s FROM range(3000) r(x)")
    with closing(connect(str(path))) as inner:
        yield Elsewhere(request.param, inner)


def counted(engine: Engine, sql: str) -> Counts:
    outcome = engine.execute(sql, limits=Limits())
    assert isinstance(outcome, Rows), outcome
    return counts_in(outcome)


@pytest.mark.parametrize("dialect", ESTIMATING)
@pytest.mark.parametrize("written", [counting, near_counting])
def test_what_is_asked_is_one_query_of_the_dialect(dialect: str, written: Any) -> None:
    text = written("SELECT a, b FROM t", 2, dialect)
    tree = parse_one(text, read=dialect, error_level=ErrorLevel.RAISE)
    assert isinstance(tree, exp.Query)
    assert parse_one(tree.sql(dialect), read=dialect) == tree
    assert (tree.find(exp.ApproxDistinct) is None) == (
        written is counting or dialect == "clickhouse"
    )


@pytest.mark.parametrize("elsewhere", [d for d in ESTIMATING if d != "clickhouse"], indirect=True)
def test_rows_are_counted_and_estimated_there(elsewhere: Elsewhere) -> None:
    exact = counted(elsewhere, counting(SOME, 2, elsewhere.dialect))
    assert (exact.rows, exact.distinct) == (3000, 1000)
    near = counted(elsewhere, near_counting(SOME, 2, elsewhere.dialect))
    assert near.rows == 3000
    assert near.distinct == pytest.approx(1000, rel=0.03)


@pytest.mark.parametrize("elsewhere", ["tsql"], indirect=True)
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT x - x % 2 AS a FROM t ORDER BY a", (3000, 1500)),
        ("SELECT TOP 4 x - x % 2 AS a FROM t ORDER BY x", (4, 2)),
        ("SELECT x - x % 2 AS a FROM t ORDER BY x OFFSET 1 ROWS FETCH NEXT 3 ROWS ONLY", (3, 2)),
        ("WITH q AS (SELECT x - x % 2 AS a FROM t) SELECT a FROM q ORDER BY a", (3000, 1500)),
        (
            "WITH q AS (SELECT x AS a FROM t), r AS (SELECT a - a % 3 AS a FROM q) SELECT a FROM r "
            "UNION ALL SELECT a FROM r ORDER BY 1",
            (6000, 1000),
        ),
        ("SELECT x - x % 2 AS a FROM t ORDER BY a OPTION (MAXDOP 1)", (3000, 1500)),
    ],
)
def test_sql_server_is_given_no_order_and_no_with_inside_a_cte(
    elsewhere: Elsewhere, query: str, found: tuple[int, int]
) -> None:
    text = counting(query, 1, "tsql")
    tree = parse_one(text, read="tsql")
    for definition in tree.find_all(exp.CTE):
        inner = definition.this
        assert inner.args.get("with_") is None
        settled = inner.args.get("limit") or inner.args.get("offset")
        assert settled or inner.args.get("order") is None
    exact = counted(elsewhere, text)
    assert (exact.rows, exact.distinct) == found


@pytest.mark.parametrize("elsewhere", ["tsql", "oracle"], indirect=True)
@pytest.mark.parametrize("text", [False, True])
def test_texts_that_may_be_folded_are_not_estimated(
    elsewhere: Elsewhere, text: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQL Server's are, unless told otherwise; a hash is of their bytes."""
    session = Session(engine=elsewhere, params=None, limits=Limits(seconds=60, max_rows=100))
    sql = f"SELECT {'s' if text else 'x'} AS a FROM t"
    rows = session.run(sql)
    assert isinstance(rows, Rows)
    monkeypatch.setattr(Session, "expected", lambda *_, **__: 1e6)
    found = session.counts(sql, rows)
    if text and elsewhere.dialect == "tsql":
        assert isinstance(found, Failure)
    else:
        assert isinstance(found, Counts)
        assert (found.rows, found.error) == (
            3000,
            dialect_of(elsewhere.dialect).near_distinct_error,
        )
