"""One small database of odd names and copies, for the public cases."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from modularsql import Guard, connect
from modularsql.ports import Engine

SCRIPT = """
CREATE TABLE t (i INTEGER, s TEXT);
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');
CREATE TABLE one (a INTEGER);
INSERT INTO one VALUES (1), (1), (1), (1), (1);
CREATE TABLE [my school] ([Free Meal (K-12)] INTEGER, [a-b] TEXT, [order] INTEGER, [a"b] TEXT);
INSERT INTO [my school] VALUES (3, 'x', 7, 'y'), (3, 'x', 7, 'y'), (3, 'x', 7, 'y'),
  (3, 'x', 7, 'y'), (3, 'x', 7, 'y');
CREATE TABLE ranked (x INTEGER, y INTEGER);
INSERT INTO ranked VALUES (1, 5), (1, 4), (1, 3), (1, 2), (1, 1);
CREATE TABLE play (at INTEGER PRIMARY KEY, track TEXT);
INSERT INTO play VALUES (9, 'A'), (8, 'A'), (7, 'A'), (6, 'A'), (5, 'A'), (4, 'B'), (3, 'C');
CREATE TABLE thousand (x INTEGER);
WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 1000)
  INSERT INTO thousand SELECT x FROM n;
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "case.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(SCRIPT)
    connection.close()
    return file


@pytest.fixture
def guard(path: Path) -> Iterator[Guard]:
    with Guard(connect(path), "p1-p2") as opened:
        yield opened


@pytest.fixture
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """On the database that the module's own `SCRIPT` makes."""
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(request.module.SCRIPT)
    connection.close()
    engine = connect(path)
    yield engine
    engine.close()
