"""Pairs of results for tests: run on a small SQLite database, or written down."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from modularsql.evaluation.pair import Pair
from modularsql.rows import Rows


def result(*rows: Sequence[Any], truncated: bool = False) -> Rows:
    """A result with these rows."""
    width = len(rows[0]) if rows else 1
    return Rows(
        columns=tuple(f"c{i}" for i in range(width)),
        types=(None,) * width,
        rows=[tuple(row) for row in rows],
        truncated=truncated,
    )


def pair(gold: Rows, pred: Rows, gold_sql: str = "SELECT 1", pred_sql: str = "SELECT 1") -> Pair:
    """A pair of results whose queries do not matter, unless they are given."""
    return Pair(gold=gold, pred=pred, gold_sql=gold_sql, pred_sql=pred_sql, dialect="sqlite")


def ran(setup: str, sql: str) -> Rows:
    """What SQLite returns."""
    connection = sqlite3.connect(":memory:")
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    connection.executescript(setup)
    cursor = connection.execute(sql)
    rows = cursor.fetchall()
    names = tuple(column[0] for column in cursor.description)
    connection.close()
    return Rows(columns=names, types=(None,) * len(names), rows=rows)


def compared(setup: str, *, gold: str, pred: str) -> Pair:
    """The pair of two queries on the database that `setup` makes."""
    return pair(ran(setup, gold), ran(setup, pred), gold, pred)
