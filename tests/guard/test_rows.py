"""Which rows are copies: Python's answer and the database's, over every kind of value."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from modularsql import Limits
from modularsql.guard.counting import Counts
from modularsql.guard.session import Session
from modularsql.ports import Engine
from modularsql.rows import Rows, distinct_rows, dup_ratio

SQLITE = [
    ("1", "1.0"),
    ("1", "'1'"),
    ("'a'", "x'61'"),
    ("NULL", "NULL"),
    ("0", "-0.0"),
    ("1", "TRUE"),
    ("''", "NULL"),
    ("''", "x''"),
    ("'a'", "'A'"),
    ("'a'", "'a '"),
    ("9007199254740993", "9007199254740992.0"),
    ("9223372036854775807", "9223372036854775807.0"),
    ("9e999", "-9e999"),
    ("9e999 - 9e999", "NULL"),
    ("1e-320", "0"),
    ("char(97, 0, 98)", "char(97, 0, 99)"),
    ("x'00'", "x'0000'"),
    ("CAST(x'ff' AS TEXT)", "CAST(x'fe' AS TEXT)"),
    ("CAST(x'ff' AS TEXT)", "CAST(x'ff' AS TEXT)"),
    ("CAST(x'edb3bf' AS TEXT)", "CAST(x'ff' AS TEXT)"),
    ("'é'", "'e\u0301'"),
]
DUCKDB = [
    ("1", "1.0"),
    ("1.10", "1.1"),
    ("0.0::DOUBLE", "'-0.0'::DOUBLE"),
    ("'nan'::DOUBLE", "'nan'::DOUBLE"),
    ("'nan'::FLOAT", "-('nan'::FLOAT)"),
    ("NULL", "'nan'::DOUBLE"),
    ("'inf'::DOUBLE", "'-inf'::DOUBLE"),
    ("TRUE", "FALSE"),
    ("1", "2::HUGEINT"),
    ("1e30::DECIMAL(38, 0)", "1e30::DOUBLE"),
    ("[1, 2]", "[1, 2]"),
    ("[1, 2]", "[2, 1]"),
    ("[NULL]", "[]"),
    ("['nan'::DOUBLE]", "['nan'::DOUBLE]"),
    ("['nan'::DOUBLE]", "[1.0]"),
    ("[[1], []]", "[[1], NULL]"),
    ("[1, 2]::INTEGER[2]", "[1, 2]::INTEGER[2]"),
    ("{'a': 1, 'b': NULL}", "{'a': 1, 'b': NULL}"),
    ("{'a': [1]}", "{'a': [2]}"),
    ("{'a': 'nan'::DOUBLE}", "{'a': 'nan'::DOUBLE}"),
    ("MAP {1: 2, 3: 4}", "MAP {3: 4, 1: 2}"),
    ("MAP {1: 2}", "MAP {1: 2}"),
    ("'a'::BLOB", "'b'::BLOB"),
    ("'a'", "'A'"),
    ("''", "NULL"),
    ("'101'::BIT", "'0101'::BIT"),
    ("DATE '2026-01-01'", "DATE '2026-01-01'"),
    ("DATE '2026-01-01'", "TIMESTAMP '2026-01-01 00:00'"),
    ("TIMESTAMP '2026-01-01 00:00'", "TIMESTAMP '2026-01-01 00:00:00.000001'"),
    ("TIME '10:00'", "TIME '10:00:00'"),
    ("INTERVAL 1 MONTH", "INTERVAL 30 DAY"),
    ("INTERVAL 24 HOUR", "INTERVAL 1 DAY"),
    ("INTERVAL 1 YEAR", "INTERVAL 12 MONTH"),
    ("uuid()::UUID", "uuid()::UUID"),
    ("1::UTINYINT", "1::BIGINT"),
    ("'a'::ENUM('a', 'b')", "'b'::ENUM('a', 'b')"),
    ("'{\"a\": 1}'::JSON", "'{\"a\":1}'::JSON"),
]
CASES = [("sqlite", *pair) for pair in SQLITE] + [("duckdb", *pair) for pair in DUCKDB]


@pytest.mark.parametrize(("kind", "one", "two"), CASES)
def test_python_and_the_database_agree_on_what_is_a_copy(
    kind: str, one: str, two: str, open_database: Callable[..., Engine]
) -> None:
    engine = open_database(kind, "CREATE TABLE nothing_in_it (a INTEGER);")
    session = Session(engine=engine, params=None, limits=Limits(seconds=10))
    sql = f"SELECT {one} AS a, 7 AS b UNION ALL SELECT {two}, 7"
    rows = session.run(sql)
    assert isinstance(rows, Rows), rows
    ours = session.counts(sql, rows)
    theirs = session.counts(sql, replace(rows, truncated=True))
    assert isinstance(ours, Counts)
    assert not ours.pushed_down
    assert theirs == replace(ours, pushed_down=True)


def test_rows_that_cannot_be_hashed_are_compared_by_content() -> None:
    rows = [([1, {"a": 2}],), ([1, {"a": 2}],), ([1, {"a": 3}],), ((1,),), (bytearray(b"x"),)]
    assert len(distinct_rows(rows)) == 4
    assert len(distinct_rows([({"a": 1, "b": 2},), ({"b": 2, "a": 1},)])) == 2
    assert len(distinct_rows([([math.nan],), ([float("nan")],)])) == 1


@pytest.mark.parametrize(
    ("total", "distinct", "ratio"),
    [
        (0, 0, 0.0),
        (1, 1, 0.0),
        (5, 1, 0.8),
        (10, 9, 0.1),
        (184, 8, 176 / 184),
        (10**7, 1, 0.9999999),
    ],
)
def test_the_dup_ratio_is_the_share_of_copies(total: int, distinct: int, ratio: float) -> None:
    assert dup_ratio(total, distinct) == ratio
    assert 0 <= ratio < 1
