"""Every aggregate that a database has is known as one, whether sqlglot knows it or not."""

import sqlite3
from collections.abc import Iterable

import duckdb
import pytest
from sqlglot import exp

from modularsql.sql.aggregates import aggregates
from modularsql.sql.parse import Unparsed, parse_text


def is_aggregate(call: str, dialect: str) -> bool:
    tree = parse_text(f"SELECT DISTINCT a, (SELECT {call} FROM u) FROM t", dialect)
    return isinstance(tree, exp.Expr) and aggregates(tree)


def unknown(names: Iterable[str], dialect: str) -> list[str]:
    """Those of which no form of a call is taken for an aggregate."""
    forms = ("{}(x)", "{}(x, y)", "{}(x, 1, 2)", "{}()")
    return [
        name
        for name in sorted(set(names))
        if not any(is_aggregate(form.format(name), dialect) for form in forms)
    ]


def test_all_aggregates_of_duckdb_are_known() -> None:
    query = "SELECT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
    names = [name for (name,) in duckdb.connect().execute(query).fetchall()]
    assert len(names) > 100
    assert unknown((n for n in names if n.isidentifier()), "duckdb") == []


def test_all_aggregates_and_window_functions_of_sqlite_are_known() -> None:
    query = "SELECT name FROM pragma_function_list WHERE type IN ('a', 'w')"
    names = {name for (name,) in sqlite3.connect(":memory:").execute(query)}
    # Of later versions: https://www.sqlite.org/percentile.html
    names |= {"median", "percentile", "percentile_cont", "percentile_disc", "string_agg"}
    # Only ever with OVER, which counts by itself.
    names -= {"row_number"}
    assert unknown(names, "sqlite") == []


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT a FROM t GROUP BY a",
        "SELECT DISTINCT a FROM (SELECT a FROM t GROUP BY a) x",
        "SELECT DISTINCT a FROM t WHERE a = (SELECT MAX(a) FROM t)",
        "WITH x AS (SELECT SUM(a) AS s FROM t) SELECT DISTINCT s FROM x",
        "SELECT DISTINCT ROW_NUMBER() OVER () FROM t",
        "SELECT DISTINCT TOTAL(a) FROM t",
        'SELECT DISTINCT a FROM t HAVING "total"(a) > 1',
    ],
)
def test_it_is_found_wherever_it_stands(query: str) -> None:
    tree = parse_text(query, "sqlite")
    assert not isinstance(tree, Unparsed)
    assert aggregates(tree)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT a FROM t",
        "SELECT DISTINCT lower(a), abs(b), coalesce(a, 1) FROM t",
        "SELECT DISTINCT 'SUM(a)', \"count\" FROM t -- GROUP BY",
        "SELECT DISTINCT total FROM t",
        "SELECT DISTINCT a FROM t ORDER BY a LIMIT 5",
    ],
)
def test_other_functions_and_names_are_none(query: str) -> None:
    tree = parse_text(query, "sqlite")
    assert not isinstance(tree, Unparsed)
    assert not aggregates(tree)
