"""Findings quote what was written: the words of a node as they stand, blanks as one."""

import pytest
from sqlglot import exp

from modularsql.sql.parse import parse_text
from modularsql.sql.quote import quoted

SQL = """
SELECT strftime( '%Y' , x) AS y, count( * ), CAST(a AS int)+1, sum(case when a='x' then 1 end)
FROM t a left outer join u b on b.x=a.id -- by id
  and b."y z">2, w
WHERE a.x<>'red' AND not exists(select 1 from u) and x not in (select x from q)
  and z not between 1 and 3 and -5>a and y is not null ORDER BY x desc, y LIMIT 5
"""
KINDS: dict[type[exp.Expr], list[str]] = {
    exp.Count: ["count( * )"],
    exp.Sum: ["sum(case when a='x' then 1 end)"],
    exp.Cast: ["CAST(a AS int)"],
    exp.Join: ['left outer join u b on b.x=a.id and b."y z">2', ", w"],
    exp.NEQ: ["a.x<>'red'"],
    exp.Exists: ["exists(select 1 from u)"],
    exp.Not: [
        "not exists(select 1 from u)",
        "x not in (select x from q)",
        "z not between 1 and 3",
        "y is not null",
    ],
    exp.Order: ["ORDER BY x desc, y"],
    exp.Limit: ["LIMIT 5"],
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql"])
def test_a_node_is_quoted_as_written(kind: type[exp.Expr], dialect: str) -> None:
    quote = "`" if dialect == "mysql" else '"'
    tree = parse_text(SQL.replace('"', quote), dialect)
    assert isinstance(tree, exp.Expr)
    found = {quoted(node).replace(quote, '"') for node in tree.find_all(kind)}
    assert found == set(KINDS[kind])


def test_a_node_that_nobody_wrote_is_printed() -> None:
    assert quoted(exp.column("x", table="t").eq(1)) == "t.x = 1"
