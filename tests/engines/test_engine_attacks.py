"""Attacks have no effect (attacks/README.md), whatever they are wrapped in."""

import os
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from modularsql.ports import Engine
from modularsql.records import Failure, Limits
from modularsql.rows import Rows

SOON = Limits(seconds=0.2)
FILES = Path(__file__).with_name("attacks")

python_variable = [(1,)]  # what DuckDB would find by its name


@dataclass(frozen=True)
class Attack:
    ends: frozenset[str]
    isolated: bool
    title: str
    sql: str


def attacks(name: str) -> Iterator[Attack]:
    for block in (FILES / f"{name}.sql").read_text(encoding="utf-8").strip().split("\n\n"):
        if block.startswith("-- # "):
            continue
        head, sql = block.removeprefix("-- ").split("\n", 1)
        ends, title = head.split(": ", 1)
        isolated = ends.startswith("isolated ")
        kinds = frozenset(ends.removeprefix("isolated ").split("|"))
        yield Attack(ends=kinds, isolated=isolated, title=title, sql=sql)


ALL = [
    (dialect, attack)
    for dialect in sorted(path.stem for path in FILES.glob("*.sql"))
    for attack in attacks(dialect)
]


@dataclass
class Target:
    folder: Path
    engine: Engine
    before: Any


EXTRAS = {
    "sqlite": [
        "CREATE TABLE tree_node(v)",
        "CREATE VIRTUAL TABLE words USING fts5(x)",
        "CREATE VIRTUAL TABLE old_words USING fts4(x)",
        "INSERT INTO old_words VALUES ('one')",
        "CREATE VIRTUAL TABLE boxes USING rtree(id, a, b)",
        "CREATE VIEW loads AS SELECT load_extension('x') AS x",
    ],
    "duckdb": ["CREATE SEQUENCE numbers"],
    "mysql": [
        "CREATE SEQUENCE numbers",
        "CREATE PROCEDURE writes() INSERT INTO k VALUES (2)",
        "CREATE FUNCTION writes_k() RETURNS int MODIFIES SQL DATA "
        "BEGIN INSERT INTO k VALUES (2); RETURN 1; END",
        "CREATE FUNCTION lies() RETURNS int READS SQL DATA "
        "BEGIN INSERT INTO k VALUES (2); RETURN 1; END",
    ],
    "postgres": [
        "CREATE SEQUENCE numbers",
        "CREATE VIEW looks AS SELECT pg_read_file('/etc/hostname') AS x",
        "CREATE FUNCTION writes() RETURNS int LANGUAGE sql STABLE AS 'SELECT 1'",
        "CREATE FUNCTION volatile_one() RETURNS int LANGUAGE sql AS "
        "'INSERT INTO k VALUES (2) RETURNING v'",
        "CREATE FUNCTION lies() RETURNS int LANGUAGE plpgsql STABLE AS "
        "'BEGIN PERFORM set_config(''work_mem'', ''1MB'', false); "
        "RETURN (SELECT count(*) FROM volatile_one()); END'",
        "CREATE VIEW counts AS SELECT nextval('numbers') AS x",
        "SELECT lo_create(4711)",
    ],
}


@pytest.fixture(scope="module")
def target(kind: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A database with neighbours, open; the working folder is beside it."""
    top = tmp_path_factory.mktemp("attacked")
    (top / "work").mkdir()
    (top / "data").mkdir()
    kind.build(top / "data" / "other.db", ["CREATE TABLE secret(s INTEGER)"])
    (top / "data" / "secret.csv").write_text("s\n42\n")
    kind.build(
        top / "data" / "k.db",
        ["CREATE TABLE k(v INTEGER)", "INSERT INTO k VALUES (1)", *EXTRAS[kind.dialect]],
    )
    before = Path.cwd()
    os.chdir(top / "work")
    with closing(kind.open(top / "data" / "k.db", None)) as engine:
        yield Target(folder=top, engine=engine, before=kind.state(top, top / "data" / "k.db"))
    os.chdir(before)


@pytest.mark.parametrize(
    ("dialect", "attack"), ALL, ids=[f"{dialect}: {attack.title}" for dialect, attack in ALL]
)
def test_an_attack_has_no_effect(
    kind: Any,
    target: Target,
    dialect: str,
    attack: Attack,
) -> None:
    sql = attack.sql.replace("$FOLDER", str(target.folder / "data"))
    sql = sql.replace("$DEEP", "(" * 5000 + "1" + ")" * 5000)
    start = time.monotonic()
    outcome = target.engine.execute(sql, limits=SOON)
    took = time.monotonic() - start
    assert kind.state(target.folder, target.folder / "data" / "k.db") == target.before
    assert took < 4
    end = outcome.kind.value if isinstance(outcome, Failure) else "rows"
    assert end in attack.ends, outcome
    again = target.engine.execute("SELECT v, abs(-3) FROM k", limits=Limits(seconds=10))
    assert isinstance(again, Rows), again
    assert again.rows == [(1, 3)]
