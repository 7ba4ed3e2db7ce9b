"""Spark SQL in the process: run where PySpark is installed, and Java 17 to run it.

pip install "pyspark>=4,<5" && python -m pytest -n 0 tests/engines/test_spark.py
"""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, get_args

import pytest
from tests.engines.outcomes import near_counts_outside
from tests.engines.test_dialects import LACKING, MAY_BE, YES_OR_NO, rows

from modularsql.catalog import Catalog
from modularsql.guard.counting import counting, counts_in, near_counting
from modularsql.ports import Outcome
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Rows
from modularsql.sql.dialects import Construct, dialect_of

pytestmark = pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed")
SPARK = dialect_of("spark")


class Spark:
    """An `Engine` as far as the questions below need one."""

    name = dialect = "spark"

    def __init__(self, session: Any) -> None:
        self._session = session

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            found = self._session.sql(sql)
            made = [tuple(row) for row in found.collect()]
        except (PySparkException, Py4JError) as error:
            return Failure(kind=FailureKind.ERROR, message=str(error))
        return Rows(
            columns=tuple(found.columns), types=tuple(t for _, t in found.dtypes), rows=made
        )

    def catalog(self) -> Catalog:
        return Catalog(dialect=self.dialect, tables=())

    def compares_bytes(self) -> bool:
        return False

    def close(self) -> None:
        self._session.stop()


@pytest.fixture(scope="module")
def engine() -> Iterator[Spark]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    for view in (
        "t AS SELECT * FROM VALUES (1, 1, 'a'), (2, 1, 'A'), (3, NULL, 'b') AS v(id, g, s)",
        "u AS SELECT * FROM VALUES (1, 1), (2, 7) AS v(id, t)",
    ):
        session.sql(f"CREATE TEMP VIEW {view}")
    made = Spark(session)
    yield made
    made.close()


@pytest.mark.parametrize("name", sorted(YES_OR_NO.keys() - {"correlated_exists"}))
def test_an_entry_is_what_the_engine_does(engine: Spark, name: str) -> None:
    entry = getattr(SPARK, name)
    seen = YES_OR_NO[name](engine)
    assert entry == seen or (entry and name in MAY_BE)


def test_exists_may_use_the_query_around_it(engine: Spark) -> None:
    """The question to the others does not do: in `u.t = t.id`, `t.id` is a field of `u.t` here."""
    found = rows(engine, "SELECT id FROM u WHERE EXISTS (SELECT 1 FROM t WHERE u.t = t.id)")
    assert (found == [(1,)]) == SPARK.correlated_exists


def test_null_sorts_where_the_table_says(engine: Spark) -> None:
    assert rows(engine, "SELECT g FROM t WHERE id > 1 ORDER BY g") == [(None,), (1,)]
    assert rows(engine, "SELECT g FROM t WHERE id > 1 ORDER BY g DESC") == [(1,), (None,)]
    assert SPARK.null_sorts == "small"


def test_bare_columns_are_taken_as_the_table_says(engine: Spark) -> None:
    assert SPARK.bare_columns == "refused"
    assert rows(engine, "SELECT id, s FROM t GROUP BY id") is None


@pytest.mark.parametrize("construct", get_args(Construct))
def test_what_it_is_said_to_lack_it_refuses(engine: Spark, construct: Construct) -> None:
    taken = rows(engine, LACKING[construct]) is not None
    assert (construct in SPARK.lacks) == (not taken)


@pytest.mark.parametrize("size", [1, 700, 50_000, 1_000_000])
def test_an_estimate_of_distinct_rows_stays_within_its_error(engine: Spark, size: int) -> None:
    """At 95 %: of ten at most two are outside."""
    values = "SELECT id + {first} AS a, NULL AS b FROM range({size})"
    assert near_counts_outside(engine, values, size, 10) <= 2


def test_null_is_one_value_of_its_column(engine: Spark) -> None:
    """(NULL, 1) is not (1, NULL)."""
    sql = (
        "SELECT IF(id % 2 = 0, NULL, id % 7) AS a, IF(id % 2 = 0, id % 7, NULL) AS b "
        "FROM range(100000)"
    )
    for query in (counting(sql, 2, "spark"), near_counting(sql, 2, "spark")):
        outcome = engine.execute(query, limits=Limits())
        assert isinstance(outcome, Rows), outcome
        assert counts_in(outcome).distinct == pytest.approx(14, abs=1)
