"""What a database says of a query that it cannot read, and where in the text that is."""

from collections.abc import Callable

import pytest

from modularsql import Guard
from modularsql.ports import Engine

Make = Callable[..., Engine]


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("SELECT id FRM item", (1, 15)),
        ("SELECT id\nFROM item\nORDER id", (3, 7)),
        ("-- all\r\nSELECT id FROM item WHER id = 1", (2, 26)),
        ("SELECT (id FROM item", (1, 12)),
        ("SELECT CASE WHEN id = 1 THEN 2 FROM item", (1, 32)),
        ("Here it is:\n```sql\nSELECT a b c FROM item\n```", (3, 12)),
    ],
)
def test_a_syntax_error_points_to_where_the_database_stopped(
    make_near: Make, sql: str, place: tuple[int, int]
) -> None:
    engine = make_near("CREATE TABLE item(id INTEGER PRIMARY KEY)")
    answer = Guard(engine, "off").run(sql)
    (found,) = (f for f in answer.findings if f.rule == "exec_error")
    assert (found.line, found.column) == place, found.message


@pytest.mark.parametrize("sql", ["SELECT id,, id FROM item", "SELECT nope FROM item"])
def test_a_place_that_is_not_certain_is_not_told(make_near: Make, sql: str) -> None:
    engine = make_near("CREATE TABLE item(id INTEGER PRIMARY KEY)")
    (found,) = (f for f in Guard(engine, "off").run(sql).findings if f.rule == "exec_error")
    # MySQL quotes all that follows, and not the one word, of which there are two.
    is_certain = engine.dialect == "mysql" and "near" in found.message
    assert (found.line, found.column) == ((1, 13) if is_certain else (1, 1))
