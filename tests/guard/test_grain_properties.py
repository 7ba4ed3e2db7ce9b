"""Laws of policy `grain` on random keyed tables and joins, on both engines."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modularsql import Guard, Limits, Settings
from modularsql.ports import Engine
from modularsql.records import Severity
from modularsql.rows import Rows, distinct_rows

LIMITS = Limits(seconds=10)
KEEPS_ROWS = {"semi_join", "inject_distinct", "remove_distinct"}


def database() -> str:
    """Parents, children of theirs, tags by a bridge, and logs without a key; labels repeat."""
    chance = random.Random(11)
    script = [
        "CREATE TABLE parent (id INTEGER PRIMARY KEY, name VARCHAR, size INTEGER);",
        "CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent(id), "
        "name VARCHAR, cost INTEGER);",
        "CREATE TABLE tag (id INTEGER PRIMARY KEY, word VARCHAR NOT NULL UNIQUE);",
        "CREATE TABLE child_tag (child INTEGER NOT NULL, tag INTEGER NOT NULL, "
        "PRIMARY KEY (child, tag));",
        "CREATE TABLE log (child INTEGER, note VARCHAR);",
    ]
    names = ["'a'", "'b'", "NULL"]
    for i in range(1, 7):
        size = chance.choice([1, 2, "NULL"])
        script.append(f"INSERT INTO parent VALUES ({i}, {chance.choice(names)}, {size});")
    for i in range(1, 13):
        parent = chance.choice([1, 1, 2, 3, "NULL"])
        cost = chance.randint(1, 4)
        script.append(f"INSERT INTO child VALUES ({i}, {parent}, {chance.choice(names)}, {cost});")
    script += [f"INSERT INTO tag VALUES ({i}, 'w{i}');" for i in range(1, 4)]
    for child in range(1, 10):
        for tag in chance.sample([1, 2, 3], chance.randint(0, 3)):
            script.append(f"INSERT INTO child_tag VALUES ({child}, {tag});")
    for _ in range(15):
        script.append(f"INSERT INTO log VALUES ({chance.randint(1, 12)}, {chance.choice(names)});")
    return "\n".join(script)


JOINS = (
    "parent p JOIN child c ON c.parent = p.id",
    "parent p LEFT JOIN child c ON c.parent = p.id",
    "child c JOIN parent p ON p.id = c.parent",
    "parent p JOIN child c ON c.parent = p.id JOIN child_tag x ON x.child = c.id",
    "parent p JOIN child c ON c.parent = p.id JOIN log l ON l.child = c.id",
    "parent p JOIN child c ON c.parent = p.id JOIN child_tag x ON x.child = c.id "
    "JOIN tag t ON t.id = x.tag",
    "parent p JOIN child c ON c.parent = p.id LEFT JOIN child_tag x ON x.child = c.id "
    "LEFT JOIN log l ON l.child = c.id",
    "parent p, child c",
    "parent p JOIN child c ON c.parent = p.id OR c.cost = p.size",
)
OUTPUTS = (
    "p.name",
    "p.name , p.size",
    "p.id",
    "c.name",
    "p.name , c.name",
    "DISTINCT p.name",
    "SUM ( p.size )",
    "AVG ( c.cost )",
    "COUNT ( p.id )",
    "COUNT ( * )",
    "MAX ( p.size ) , COUNT ( DISTINCT c.id )",
)
GROUPED = ("p.name , SUM ( c.cost )", "p.name , COUNT ( c.id )", "p.name , COUNT ( * )")
WHERES = ("", "", "WHERE c.cost > 1", "WHERE p.size = 1 OR c.cost = 2", "WHERE c.name IS NOT NULL")
ENDS = ("", "", "ORDER BY 1", "LIMIT 3")
QUESTIONS = (None, None, "What are the different names?", "The name of each child.")


@st.composite
def queries(draw: st.DrawFn) -> str:
    join, where = draw(st.sampled_from(JOINS)), draw(st.sampled_from(WHERES))
    if draw(st.integers(0, 3)) == 0:
        group = draw(st.sampled_from(["p.name", "p.id , p.name"]))
        return f"SELECT {draw(st.sampled_from(GROUPED))} FROM {join} {where} GROUP BY {group}"
    parts = [draw(st.sampled_from(OUTPUTS)), "FROM", join, where, draw(st.sampled_from(ENDS))]
    return "SELECT " + " ".join(part for part in parts if part)


def check(engine: Engine, sql: str, question: str | None) -> bool:
    """Whether something was repaired; its promises are kept, and a second run changes nothing."""
    guard = Guard(engine, "grain", Settings(timeout=10))
    answer = guard.run(sql, fix=True, question=question)
    before = engine.execute(sql, limits=LIMITS)
    assert isinstance(before, Rows), before
    if not answer.applied:
        assert answer.final_sql == sql
        return False
    after = engine.execute(answer.final_sql, limits=LIMITS)
    assert isinstance(after, Rows)
    assert sorted(map(repr, after.rows)) == sorted(map(repr, answer.rows))
    if KEEPS_ROWS.issuperset(answer.applied) and "(" not in sql.split("FROM")[0]:
        assert distinct_rows(after.rows) == distinct_rows(before.rows)
    again = guard.run(answer.final_sql, fix=True, question=question)
    assert again.applied == ()
    assert again.final_sql == answer.final_sql
    repaired = {f.rule for f in answer.findings if f.repairs and f.severity != Severity.INFO}
    assert not repaired & {f.rule for f in again.findings if f.severity == Severity.ERROR}
    return True


@pytest.fixture(scope="module")
def engines(open_database: Callable[..., Engine]) -> dict[str, Engine]:
    return {kind: open_database(kind, database()) for kind in ("sqlite", "duckdb")}


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["sqlite", "duckdb"]), queries(), st.sampled_from(QUESTIONS))
def test_a_repair_keeps_its_promise_and_is_the_last_one(
    engines: dict[str, Engine], kind: str, sql: str, question: str | None
) -> None:
    check(engines[kind], sql, question)


def test_much_of_what_is_generated_is_repaired(engines: dict[str, Engine]) -> None:
    total = repaired = 0
    for join in JOINS:
        for output in OUTPUTS:
            total += 1
            repaired += check(engines["sqlite"], f"SELECT {output} FROM {join}", None)
    assert repaired > total / 6


ONE_TO_ONE = """
CREATE TABLE parent (id INTEGER PRIMARY KEY, name VARCHAR, size INTEGER);
CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent(id), cost INTEGER,
  name VARCHAR);
CREATE TABLE tag (id INTEGER PRIMARY KEY, word VARCHAR);
CREATE TABLE child_tag (child INTEGER, tag INTEGER, PRIMARY KEY (child, tag));
CREATE TABLE log (child INTEGER, note VARCHAR);
INSERT INTO parent VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30);
INSERT INTO child VALUES (1, 1, 5, 'x'), (2, 2, 6, 'y'), (3, 3, 7, 'z');
INSERT INTO tag VALUES (1, 'w1'), (2, 'w2'), (3, 'w3');
INSERT INTO child_tag VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO log VALUES (1, 'l'), (2, 'm'), (3, 'n');
"""


@pytest.mark.parametrize("join", [join for join in JOINS if " OR " not in join and "," not in join])
@pytest.mark.parametrize("output", OUTPUTS)
def test_where_every_join_matches_once_nothing_changes(
    open_database: Callable[..., Engine], join: str, output: str
) -> None:
    engine = open_database("sqlite", ONE_TO_ONE)
    sql = f"SELECT {output} FROM {join}"
    answer = Guard(engine, "grain").run(sql, fix=True)
    assert answer.final_sql == sql
    assert not [f for f in answer.findings if f.severity == Severity.ERROR]
