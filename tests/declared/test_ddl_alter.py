"""Scripts that change what they created: dumps that add keys late, migrations that drop them."""

import pytest

from modularsql.catalog import Table
from modularsql.declared.ddl import read_ddl

START = {
    "postgres": "CREATE TABLE p (x int PRIMARY KEY); CREATE TABLE t (a int, b int UNIQUE,"
    " c int CONSTRAINT named REFERENCES p, CONSTRAINT ab UNIQUE (a, b));",
    "mysql": "CREATE TABLE p (x int PRIMARY KEY); CREATE TABLE t (a int, b int, c int,"
    " UNIQUE KEY (b), UNIQUE KEY ab (a, b), CONSTRAINT f FOREIGN KEY (c) REFERENCES p (x));",
    "sqlite": "CREATE TABLE p (x INTEGER PRIMARY KEY);"
    " CREATE TABLE t (a int, b int UNIQUE, c int REFERENCES p, CONSTRAINT ab UNIQUE (a, b));",
}


def after(statement: str, dialect: str) -> tuple[Table | None, tuple[str, ...]]:
    declared = read_ddl(START[dialect] + statement, dialect)
    return declared.catalog.table("t"), declared.problems


def keys(table: Table | None) -> str:
    assert table is not None
    return ", ".join("+".join(key.columns) for key in table.keys)


@pytest.mark.parametrize(
    ("dialect", "statement", "expected"),
    [
        ("postgres", "ALTER TABLE ONLY public.t ADD CONSTRAINT k PRIMARY KEY (c)", "b, a+b, c"),
        ("postgres", "ALTER TABLE t ADD UNIQUE (c), ADD CHECK (a > 0)", "b, a+b, c"),
        ("postgres", "ALTER TABLE t ADD COLUMN d int UNIQUE DEFAULT 3", "b, a+b, d"),
        ("postgres", "ALTER TABLE IF EXISTS t DROP CONSTRAINT ab", "b"),
        ("postgres", "ALTER TABLE t DROP CONSTRAINT t_b_key CASCADE", "a+b"),
        ("postgres", "ALTER TABLE t RENAME COLUMN b TO z", "z, a+z"),
        ("postgres", "ALTER TABLE t RENAME a TO z", "b, z+b"),
        ("postgres", "ALTER TABLE t DROP COLUMN IF EXISTS a", "b"),
        ("postgres", "ALTER TABLE t OWNER TO me; ALTER TABLE t ENABLE TRIGGER ALL", "b, a+b"),
        ("postgres", "CREATE UNIQUE INDEX i ON t (c); DROP INDEX IF EXISTS i", "b, a+b"),
        (
            "postgres",
            "ALTER TABLE t RENAME CONSTRAINT ab TO q; ALTER TABLE t DROP CONSTRAINT q",
            "b",
        ),
        (
            "mysql",
            "ALTER TABLE t ADD PRIMARY KEY (c), ADD UNIQUE KEY q (c), ADD KEY (a)",
            "b, a+b, c",
        ),
        ("mysql", "ALTER TABLE `t` MODIFY `b` int(11) NOT NULL AUTO_INCREMENT", "b, a+b"),
        ("mysql", "ALTER TABLE t CHANGE COLUMN b z bigint NOT NULL FIRST", "z, a+z"),
        ("mysql", "ALTER TABLE t DROP INDEX b", "a+b"),
        ("mysql", "ALTER TABLE t DROP KEY ab, DROP FOREIGN KEY f", "b"),
        ("mysql", "DROP INDEX ab ON t", "b"),
        ("mysql", "ALTER TABLE t DISABLE KEYS, ENGINE = InnoDB", "b, a+b"),
        ("sqlite", "ALTER TABLE t ADD d INT REFERENCES p", "b, a+b"),
        ("sqlite", "ALTER TABLE t RENAME COLUMN a TO z", "b, z+b"),
    ],
)
def test_keys_follow_what_is_done_to_the_table(dialect: str, statement: str, expected: str) -> None:
    table, problems = after(statement, dialect)
    assert keys(table) == expected
    assert problems == ()


@pytest.mark.parametrize(
    ("dialect", "statement", "expected"),
    [
        ("postgres", "ALTER TABLE t DROP CONSTRAINT who_knows", "a+b"),
        ("postgres", "ALTER TABLE t FROBNICATE b", ""),
        ("mysql", "ALTER TABLE t CONVERT TO CHARACTER SET latin1", ""),
        ("postgres", "ALTER TABLE t DROP", ""),
    ],
)
def test_a_change_that_may_take_a_key_away_takes_it_away(
    dialect: str, statement: str, expected: str
) -> None:
    table, problems = after(statement, dialect)
    assert keys(table) == expected
    assert len(problems) == 1
    assert problems[0].startswith("line 1: t: ")


def test_sqlite_s_way_to_change_a_table_ends_with_the_new_one() -> None:
    table, problems = after(
        "CREATE TABLE new_t (a int, b int, UNIQUE (a)); INSERT INTO new_t SELECT a, b FROM t;"
        "DROP TABLE t; ALTER TABLE new_t RENAME TO t; ALTER TABLE p RENAME TO q;",
        "sqlite",
    )
    assert keys(table) == "a"
    assert problems == ()


def test_a_renamed_target_takes_its_foreign_keys_along() -> None:
    table, _ = after("RENAME TABLE p TO q", "mysql")
    assert table is not None
    assert [(key.target, key.resolved) for key in table.foreign_keys] == [("q", True)]


def test_not_null_comes_and_goes_and_takes_the_key_s_null_rule_along() -> None:
    added, _ = after("ALTER TABLE t ALTER COLUMN b SET NOT NULL", "postgres")
    gone, _ = after(
        "ALTER TABLE t ALTER b SET NOT NULL; ALTER TABLE t ALTER COLUMN b DROP NOT NULL", "postgres"
    )
    assert added is not None
    assert gone is not None
    assert [key.null_distinct for key in added.keys] == [False, True]
    assert [key.null_distinct for key in gone.keys] == [True, True]


def test_an_index_may_become_the_primary_key() -> None:
    table, problems = after(
        "CREATE UNIQUE INDEX i ON t (c); ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY USING INDEX i",
        "postgres",
    )
    assert table is not None
    assert [key.columns for key in table.keys if key.kind == "primary"] == [("c",)]
    assert problems == ()


def test_a_change_to_an_unknown_table_is_listed() -> None:
    _, problems = after("ALTER TABLE nowhere ADD PRIMARY KEY (a)", "mysql")
    assert problems == (
        "line 1: ALTER TABLE nowhere ADD PRIMARY KEY (a)…: no table nowhere was created before;"
        " skipped",
    )
