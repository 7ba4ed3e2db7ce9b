"""What ORDER BY keys mean, and where NULL stands in them, as each dialect reads them."""

import pytest
from sqlglot import exp

from modularsql.sql.order_keys import key_places, meant, puts_null_first, says_null_first
from modularsql.sql.outermost import outermost
from modularsql.sql.parse import parse_text


def select(sql: str, dialect: str = "sqlite") -> exp.Select:
    block = outermost(parse_text(sql, dialect))
    assert isinstance(block, exp.Select)
    return block


@pytest.mark.parametrize(
    ("dialect", "up", "down"),
    [
        ("sqlite", True, False),
        ("mysql", True, False),
        ("tsql", True, False),
        ("bigquery", True, False),
        ("postgres", False, True),
        ("oracle", False, True),
        ("duckdb", False, False),
    ],
)
def test_null_comes_first_as_the_dialect_has_it(dialect: str, up: bool, down: bool) -> None:
    keys = select("SELECT a FROM t ORDER BY a, b DESC", dialect).args["order"].expressions
    assert [puts_null_first(key, dialect) for key in keys] == [up, down]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb"])
@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("a", False),
        ("a DESC", False),
        ("a NULLS FIRST", True),
        ("a DESC NULLS FIRST", True),
        ("a /* NULLS FIRST */ NULLS LAST", False),
        ("'NULLS FIRST'", False),
        ("ROW_NUMBER() OVER (ORDER BY a NULLS FIRST)", False),
    ],
)
def test_what_a_key_says_of_null_is_told_from_what_the_dialect_does(
    dialect: str, key: str, said: bool
) -> None:
    sql = f"(SELECT a FROM t ORDER BY {key} LIMIT 1)"
    first = select(sql, dialect).args["order"].expressions[0]
    assert says_null_first(first, sql, dialect) is said


@pytest.mark.parametrize(
    ("key", "place", "meaning"),
    [
        ("1", 0, "a + 1"),
        ("(2)", 1, "b"),
        ("x", 0, "a + 1"),
        ("t.b", 1, "b"),
        ("a + 1", 0, "a + 1"),
        ("3", None, "3"),
        ("t.x", None, "t.x"),
        ("b + 0", None, "b + 0"),
    ],
)
def test_a_key_names_an_output_by_position_alias_or_itself(
    key: str, place: int | None, meaning: str
) -> None:
    block = select(f"SELECT a + 1 AS x, b FROM t ORDER BY {key}")
    assert key_places(block, ("x", "b")) == [place]
    assert meant(block.args["order"].expressions[0].this, block).sql() == meaning
