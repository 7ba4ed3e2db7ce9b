"""Laws of the rewrites that count each row once, on random tables and on one-to-one ones."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from modularsql import Limits
from modularsql.guard.grain import static
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites import REWRITES, rewritten
from modularsql.multiplicity.rewrites.edits import Edit
from modularsql.ports import Engine
from modularsql.rows import Rows
from modularsql.sql.statement import Statement, read_statement

from .test_grain_properties import ONE_TO_ONE, database

ONCE = {"semi_join", "drop_outer_join", "count_distinct", "split_chasm", "aggregate_before_join"}
JOINS = (
    "parent p JOIN child c ON c.parent = p.id",
    "parent p LEFT JOIN child c ON c.parent = p.id",
    "child c JOIN parent p ON p.id = c.parent",
    "parent p JOIN child c ON c.parent = p.id JOIN child_tag x ON x.child = c.id",
    "parent p JOIN child c ON c.parent = p.id LEFT JOIN child_tag x ON x.child = c.id "
    "LEFT JOIN log l ON l.child = c.id",
    "parent p LEFT JOIN child c ON c.parent = p.id LEFT JOIN child d ON d.parent = p.id "
    "AND d.cost > 1",
    "child c LEFT JOIN child_tag x ON x.child = c.id LEFT JOIN log l ON l.child = c.id "
    "JOIN parent p ON p.id = c.parent",
    "child c JOIN child_tag x ON x.child = c.id JOIN log l ON l.child = c.id, parent p",
)
MEASURES = (("p", "size"), ("c", "cost"), ("c", "id"))
KINDS = ("SUM", "AVG", "COUNT", "SUM DISTINCT")
GROUPS = ("", "p.name", "c.id", "p.id, p.name", "c.cost % 2", "c.name, c.id")
WHERES = ("", "c.cost > 1", "p.size = 1 OR c.cost = 2", "c.name IS NOT NULL AND p.id < 5")


def select(join: str, kind: str, measure: str, group: str, where: str) -> str:
    call = f"SUM(DISTINCT {measure})" if kind == "SUM DISTINCT" else f"{kind}({measure})"
    shown = f"{group}, {call} AS total" if group else f"{call} AS total"
    sql = f"SELECT {shown} FROM {join}" + (f" WHERE {where}" if where else "")
    return sql + (f" GROUP BY {group}" if group else "")


def edits(sql: str, engine: Engine) -> Iterator[tuple[str, Issue, str]]:
    """What the rewrites make of a statement, without asking the data."""
    statement = read_statement(sql, engine.dialect, 100_000)
    assert isinstance(statement, Statement)
    for one in static(statement, engine.catalog()).issues:
        for rewrite in REWRITES:
            if rewrite.__name__ not in {*one.issue.rewrites} & ONCE:
                continue
            edit = rewritten(rewrite, statement, one.issue, engine.dialect)
            if isinstance(edit, Edit):
                yield rewrite.__name__, one.issue, edit.text


def run(sql: str, engine: Engine) -> Counter[Any]:
    outcome = engine.execute(sql, limits=Limits(seconds=20))
    assert isinstance(outcome, Rows), (outcome, sql)
    return Counter(tuple(_rounded(value) for value in row) for row in outcome.rows)


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def once(join: str, kind: str, by: tuple[str, str], group: str, where: str) -> str:
    """The same aggregate by an independent way: over the different rows of (group, entity)."""
    alias, column = by
    terms = [f"{term} AS g{i}" for i, term in enumerate(filter(None, group.split(", ")))]
    inner = f"SELECT DISTINCT {', '.join([*terms, f'{alias}.id AS k', f'{alias}.{column} AS v'])}"
    inner += f" FROM {join}" + (f" WHERE {where}" if where else "")
    names = [f"g{i}" for i in range(len(terms))]
    sql = f"SELECT {', '.join([*names, f'{kind.split()[0]}(v)'])} FROM ({inner}) AS s"
    return sql + (f" GROUP BY {', '.join(names)}" if names else "")


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("engine_kind", ["sqlite", "duckdb"])
def test_an_aggregate_takes_each_row_of_its_table_once(
    open_database: Callable[..., Engine], engine_kind: str, join: str
) -> None:
    engine = open_database(engine_kind, database())
    seen: Counter[str] = Counter()
    # DuckDB takes five times as long, and conditions are written alike for both.
    wheres = WHERES if engine_kind == "sqlite" else WHERES[::2]
    for (alias, column), kind, group, where in itertools.product(MEASURES, KINDS, GROUPS, wheres):
        sql = select(join, kind, f"{alias}.{column}", group, where)
        texts = {text: name for name, _, text in edits(sql, engine)}
        seen.update(texts.values())
        expected = run(once(join, kind, (alias, column), group, where), engine) if texts else None
        for text, name in texts.items():
            assert run(text, engine) == expected, (name, sql, text)
    assert seen.total() > 20


@pytest.mark.parametrize("join", JOINS[:-1])
def test_where_each_row_matches_once_a_rewrite_changes_no_result(
    open_database: Callable[..., Engine], join: str
) -> None:
    engine = open_database("sqlite", ONE_TO_ONE)
    for (alias, column), kind, group in itertools.product(MEASURES, KINDS, GROUPS):
        sql = select(join, kind, f"{alias}.{column}", group, "")
        for name, _, text in edits(sql, engine):
            assert run(text, engine) == run(sql, engine), (name, sql, text)


@pytest.mark.parametrize("join", JOINS)
def test_a_rewritten_aggregate_is_not_rewritten_again(
    open_database: Callable[..., Engine], join: str
) -> None:
    engine = open_database("sqlite", database())
    for (alias, column), kind, group in itertools.product(MEASURES, KINDS, GROUPS):
        sql = select(join, kind, f"{alias}.{column}", group, "")
        for name, issue, text in edits(sql, engine):
            left = [one[:2] for one in edits(text, engine) if one[1].rule == issue.rule]
            assert not left, (name, sql, text)
