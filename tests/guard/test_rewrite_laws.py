"""What each rewrite promises, on random data and queries, for every repair that is offered.

Rewrites that keep rows give the same set of rows. Those of an aggregate give each row of what it
measures once in each group, worked out here row by row. Others have a query beside them that says
what they are to mean. After a repair its rule is silent, a second run changes nothing, and where
every join matches exactly once no repair changes a row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random
from typing import Any

import pytest

from modularsql import Guard, Limits, Settings
from modularsql.multiplicity.rewrites import REWRITES
from modularsql.ports import Engine
from modularsql.records import Answer, Severity
from modularsql.rows import Rows, distinct_rows

LIMITS = Limits(seconds=10)
OTHER_READINGS = ("move_filter_to_on", "keep_groups")
# What these answer (LIMIT, a bare column, rows stored twice) is only on their pages.
ON_PAGES = {"distinct_after_limit", "group_bare_columns", "top_of_group", "distinct_source"}
CASES = 200
SEEDS = (1, 2, 3)
TABLES = """
CREATE TABLE parent (id INTEGER PRIMARY KEY, name VARCHAR, size INTEGER);
CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent(id), name VARCHAR,
  cost INTEGER);
CREATE TABLE visit (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent(id), fee INTEGER);
CREATE TABLE tag (id INTEGER PRIMARY KEY, word VARCHAR NOT NULL);
CREATE TABLE child_tag (child INTEGER NOT NULL REFERENCES child(id),
  tag INTEGER NOT NULL REFERENCES tag(id), PRIMARY KEY (child, tag));
"""
ONE_TO_ONE = (
    TABLES
    + """
INSERT INTO parent VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30);
INSERT INTO child VALUES (1, 1, 'x', 5), (2, 2, 'y', 6), (3, 3, 'z', 7);
INSERT INTO visit VALUES (1, 1, 5), (2, 2, 6), (3, 3, 7);
INSERT INTO tag VALUES (1, 'w1'), (2, 'w2'), (3, 'w3');
INSERT INTO child_tag VALUES (1, 1), (2, 2), (3, 3);
"""
)


def random_data(seed: int) -> str:
    """Parents without children, children without parents, names that repeat, NULLs."""
    chance = Random(seed)
    script = [TABLES]
    names, numbers = ["'a'", "'b'", "'c'", "NULL"], ["1", "2", "3", "NULL"]
    parents = ["1", "1", "2", "3", "4", "NULL"]
    for i in range(1, 8):
        script.append(
            f"INSERT INTO parent VALUES ({i}, {chance.choice(names)}, {chance.choice(numbers)});"
        )
    for i in range(1, 15):
        values = f"{chance.choice(parents)}, {chance.choice(names)}, {chance.choice(numbers)}"
        script.append(f"INSERT INTO child VALUES ({i}, {values});")
    for i in range(1, 10):
        values = f"{chance.choice(parents)}, {chance.choice(numbers)}"
        script.append(f"INSERT INTO visit VALUES ({i}, {values});")
    script += [f"INSERT INTO tag VALUES ({i}, '{word}');" for i, word in ((1, "v"), (2, "w"))]
    for child in range(1, 15):
        for tag in chance.sample([1, 2], chance.randint(0, 2)):
            script.append(f"INSERT INTO child_tag VALUES ({child}, {tag});")
    return "\n".join(script)


@dataclass(frozen=True)
class Case:
    """A query with what a repair of it is to give.

    `aggregates` are triples of function, alias and column; `group` the column before them.
    `meant` is a query that gives what the repair should.
    """

    sql: str
    aggregates: tuple[tuple[str, str, str], ...] = ()
    group: str = ""
    body: str = ""
    meant: str = ""


JOINS = (
    ("pc", "parent p JOIN child c ON c.parent = p.id"),
    ("pc", "parent p LEFT JOIN child c ON c.parent = p.id"),
    ("pc", "child c JOIN parent p ON p.id = c.parent"),
    ("pcv", "parent p JOIN child c ON c.parent = p.id JOIN visit v ON v.parent = p.id"),
    ("pcv", "parent p LEFT JOIN child c ON c.parent = p.id LEFT JOIN visit v ON v.parent = p.id"),
    ("pc", "parent p JOIN child c ON c.parent = p.id JOIN child_tag x ON x.child = c.id"),
    ("pct", "parent p JOIN child c ON c.parent = p.id JOIN child_tag x ON x.child = c.id "
            "JOIN tag t ON t.id = x.tag"),
)  # fmt: skip
OUTPUTS = {"p": ("name", "id", "size"), "c": ("name", "cost"), "v": ("fee",), "t": ("word",)}
VALUES = {"p": "size", "c": "cost", "v": "fee"}
WHERES = ("", "", "c.cost > 1", "p.size = 1", "p.size = 1 OR c.cost = 2", "c.name IS NOT NULL")


def plain(chance: Random) -> Case:
    """Columns of a join, at times DISTINCT."""
    aliases, join = chance.choice(JOINS)
    of = chance.choice(aliases + "pp")
    items = [f"{of}.{n}" for n in chance.sample(OUTPUTS[of], chance.randint(1, len(OUTPUTS[of])))]
    distinct = chance.choice(["", "", "DISTINCT "])
    return Case(f"SELECT {distinct}{', '.join(items)} FROM {join}{where(chance)}")


def where(chance: Random) -> str:
    condition = chance.choice(WHERES)
    return f" WHERE {condition}" if condition else ""


def aggregated(chance: Random) -> Case:
    """One or two aggregates of what is joined, in groups or over all."""
    aliases, join = chance.choice(JOINS)
    homes = [alias for alias in aliases if alias in VALUES]
    found = []
    for _ in range(chance.choice([1, 1, 2])):
        alias = chance.choice(homes)
        function = chance.choice(["SUM", "AVG", "COUNT", "SUM", "MAX"])
        column = "id" if function == "COUNT" and chance.random() < 0.6 else VALUES[alias]
        found.append((function, alias, column))
    group = chance.choice(["", "p.name", "p.id", "c.name"])
    items = [*([group] if group else []), *(f"{f}({a}.{c})" for f, a, c in found)]
    body = f" FROM {join}{where(chance)}"
    by = f" GROUP BY {group}" if group else ""
    return Case(f"SELECT {', '.join(items)}{body}{by}", tuple(found), group, body)


def told(chance: Random) -> Case:
    """Other mistakes, each with the query that was meant."""
    number = chance.choice(["1", "2"])
    size = f"p.size > {number}"
    left = "FROM parent p LEFT JOIN child c ON c.parent = p.id"
    pairs = (
        (f"SELECT p.id FROM parent p WHERE {size} AND p.id NOT IN (SELECT c.parent FROM child c)",
         f"SELECT p.id FROM parent p WHERE {size} AND p.id NOT IN "
         "(SELECT c.parent FROM child c WHERE c.parent IS NOT NULL)"),
        (f"SELECT COUNT(CASE WHEN {size} THEN 1 ELSE 0 END) FROM parent p",
         f"SELECT COUNT(CASE WHEN {size} THEN 1 END) FROM parent p"),
        (f"SELECT p.id, COUNT(*) {left} GROUP BY p.id",
         f"SELECT p.id, COUNT(c.id) {left} GROUP BY p.id"),
        (f"SELECT p.id, c.id FROM parent p, child c WHERE {size}",
         f"SELECT p.id, c.id FROM parent p JOIN child c ON c.parent = p.id WHERE {size}"),
        (f"SELECT p.id, c.id FROM parent p JOIN child c ON c.parent = c.id WHERE {size}",
         f"SELECT p.id, c.id FROM parent p JOIN child c ON c.parent = p.id WHERE {size}"),
        ("SELECT SUM(x) FROM (SELECT size AS x FROM parent UNION SELECT cost FROM child) AS u",
         "SELECT SUM(x) FROM (SELECT size AS x FROM parent UNION ALL SELECT cost FROM child) AS u"),
        (f"SELECT p.id, c.cost {left} WHERE c.cost > {number}",
         f"SELECT p.id, c.cost {left} AND c.cost > {number}"),
        (f"SELECT p.id FROM parent p UNION ALL SELECT p.id FROM parent p WHERE {size}",
         f"SELECT p.id FROM parent p UNION SELECT p.id FROM parent p WHERE {size}"),
        (f"SELECT DISTINCT p.id, p.name FROM parent p WHERE {size}",
         f"SELECT p.id, p.name FROM parent p WHERE {size}"),
    )  # fmt: skip
    sql, meant = chance.choice(pairs)
    return Case(sql, meant=meant)


def case(chance: Random) -> Case:
    return chance.choice([plain, aggregated, aggregated, told])(chance)


def rows_of(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    outcome = engine.execute(sql, limits=LIMITS)
    assert isinstance(outcome, Rows), (sql, outcome)
    return list(outcome.rows)


def same(one: Sequence[tuple[Any, ...]], other: Sequence[tuple[Any, ...]]) -> bool:
    """Equal as bags, numbers to twelve digits."""

    def bag(rows: Sequence[tuple[Any, ...]]) -> list[str]:
        return sorted(repr([float(f"{v:.12g}") if _is_number(v) else v for v in r]) for r in rows)

    return bag(one) == bag(other)


def _is_number(value: Any) -> bool:
    return value is not None and not isinstance(value, str | bytes)


def at_grain(engine: Engine, one: Case) -> dict[Any, list[Any]]:
    """Each aggregate over each row of what it measures, once in each group."""
    columns = [one.group or "1", *(f"{a}.id, {a}.{c}" for _, a, c in one.aggregates)]
    found = rows_of(engine, f"SELECT {', '.join(columns)}{one.body}")
    groups: dict[Any, list[tuple[Any, ...]]] = {} if one.group else {1: []}
    for key, members in groupby(sorted(found, key=lambda r: repr(r[0])), key=lambda r: r[0]):
        groups[key] = list(members)
    return {
        key: [
            _value(function, {r[2 * i + 1]: r[2 * i + 2] for r in rows if r[2 * i + 1] is not None})
            for i, (function, _, _) in enumerate(one.aggregates)
        ]
        for key, rows in groups.items()
    }


def _value(function: str, by_id: dict[int, Any]) -> Any:
    values = [value for value in by_id.values() if value is not None]
    if function == "COUNT":
        return len(values)
    if not values:
        return None
    if function == "MAX":
        return max(values)
    return sum(values) / (len(values) if function == "AVG" else 1)


def check_aggregates(engine: Engine, one: Case, before: str, after: str) -> None:
    """Same groups; an aggregate at the grain of what it measures."""
    meant = at_grain(engine, one)
    lead = 1 if one.group else 0
    was, now = ({(r[0] if lead else 1): r[lead:] for r in rows_of(engine, s)}
                for s in (before, after))  # fmt: skip
    assert set(was) == set(now) == set(meant), after
    held = []
    for i in range(len(one.aggregates)):
        new = [(now[key][i],) for key in meant]
        held.append(same(new, [(meant[key][i],) for key in meant]))
    # Of several, each repair promises one; the others may still be repeated by another join.
    assert any(held), after


def check_offers(engine: Engine, one: Case, answer: Answer, seen: set[str]) -> None:
    """Every repair that is offered keeps its promise, and its rule is silent afterwards."""
    before = rows_of(engine, one.sql)
    for finding in answer.findings:
        for repair in finding.repairs:
            seen.add(repair.name)
            after = rows_of(engine, repair.sql)
            if repair.name in OTHER_READINGS:
                # More rows, which an aggregate then sees, or more groups.
                if not one.aggregates or repair.name == "keep_groups":
                    assert len(after) >= len(before), repair.sql
            elif one.aggregates:
                check_aggregates(engine, one, one.sql, repair.sql)
            elif one.meant:
                assert same(after, rows_of(engine, one.meant)), repair.sql
            else:
                assert distinct_rows(after) == distinct_rows(before), repair.sql
            if len(one.aggregates) > 1:
                continue  # it repairs one of them, and the rule is heard of the other
            again = Guard(engine, "grain", Settings(timeout=10)).run(repair.sql)
            places = {(f.rule, f.message) for f in again.findings if f.severity == Severity.ERROR}
            assert (finding.rule, finding.message) not in places, repair.sql


def check_fix(engine: Engine, sql: str) -> None:
    """Fixing twice is fixing once."""
    guard = Guard(engine, "grain", Settings(timeout=10))
    once = guard.run(sql, fix=True)
    twice = guard.run(once.final_sql, fix=True)
    assert (twice.applied, twice.final_sql) == ((), once.final_sql)


@pytest.fixture(scope="module")
def engines(open_database: Callable[..., Engine]) -> list[Engine]:
    found = [open_database("sqlite", random_data(seed)) for seed in SEEDS]
    return [*found, open_database("duckdb", random_data(SEEDS[0]))]


@pytest.mark.timeout(600)
def test_every_rewrite_keeps_its_promise(engines: list[Engine]) -> None:
    seen: set[str] = set()
    for number in range(CASES):
        chance = Random(number)
        one, engine = case(chance), chance.choice(engines)
        check_offers(engine, one, Guard(engine, "grain", Settings(timeout=10)).run(one.sql), seen)
        check_fix(engine, one.sql)
    assert seen >= {rewrite.__name__ for rewrite in REWRITES} - ON_PAGES


@pytest.mark.timeout(600)
def test_no_repair_changes_a_row_where_every_join_matches_once(
    open_database: Callable[..., Engine],
) -> None:
    engine = open_database("sqlite", ONE_TO_ONE)
    guard = Guard(engine, "grain", Settings(timeout=10))
    for number in range(CASES // 2):
        chance = Random(number)
        one = chance.choice([plain, aggregated])(chance)
        answer = guard.run(one.sql, fix=True)
        assert answer.final_sql == one.sql
        for finding in answer.findings:
            for repair in finding.repairs:
                assert same(rows_of(engine, repair.sql), rows_of(engine, one.sql)), repair.sql
