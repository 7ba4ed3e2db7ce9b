"""`IS NOT` is NOT of IS in every dialect: PostgreSQL's parser marks the IS instead."""

import pytest
from sqlglot import exp

from modularsql.sql.parse import parse_text


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql"])
def test_is_not_null_is_the_opposite_of_is_null(dialect: str) -> None:
    tree = parse_text("SELECT a FROM t WHERE a IS NOT NULL AND NOT b IS NULL", dialect)
    assert isinstance(tree, exp.Select)
    found = list(tree.find_all(exp.Is))
    assert [isinstance(node.parent, exp.Not) for node in found] == [True, True]
    assert not any(node.args.get("negate") for node in found)
