"""A repaired aggregate must be what it is with each row of its table once, as was measured."""

from collections.abc import Callable

import pytest

from modularsql.guard.counting import Counts
from modularsql.guard.factor import Measured
from modularsql.guard.grain import look
from modularsql.guard.patches import Result
from modularsql.guard.promises import Checked, check
from modularsql.guard.session import Session
from modularsql.multiplicity.rewrites.edits import Edit, Promise
from modularsql.ports import Engine
from modularsql.records import Evidence, Limits
from modularsql.rows import Rows
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement, read_statement

Open = Callable[..., Engine]

SHOP = """
CREATE TABLE bill(id INTEGER PRIMARY KEY, town VARCHAR NOT NULL, amount INTEGER);
CREATE TABLE part(id INTEGER PRIMARY KEY, bill_id INTEGER NOT NULL REFERENCES bill(id));
INSERT INTO bill VALUES (1, 'Ry', 50), (2, 'Ry', 50), (3, 'Bo', 7), (4, 'Bo', 8), (5, 'Al', NULL);
INSERT INTO part VALUES (1, 1), (2, 1), (3, 2), (4, 3), (5, 3), (6, 3), (7, 5);
"""
JOINED = "FROM bill b JOIN part p ON p.bill_id = b.id"
EXISTS = "FROM bill b WHERE EXISTS (SELECT 1 FROM part p WHERE p.bill_id = b.id)"

WRONG = {
    "equal amounts are melted": ("SUM(b.amount)", "SUM(DISTINCT b.amount)", JOINED, ""),
    "in groups": ("b.town, SUM(b.amount)", "b.town, SUM(DISTINCT b.amount)", JOINED, "b.town"),
    "within an expression": ("SUM(b.amount) / 2", "SUM(DISTINCT b.amount) / 2", JOINED, ""),
    "nothing was changed": ("COUNT(b.amount)", "COUNT(b.amount)", JOINED, ""),
    "rows without a part come in": ("SUM(b.amount)", "SUM(b.amount)", "FROM bill b", ""),
}
RIGHT = {
    "a sum": "SUM(b.amount)",
    "a sum and what else depends on it": "2 * SUM(b.amount), MAX(b.id)",
    "an average": "AVG(b.amount)",
    "a count": "COUNT(b.amount)",
}


@pytest.fixture(params=["sqlite", "duckdb"])
def shop(request: pytest.FixtureRequest, open_database: Open) -> Engine:
    engine: Engine = open_database(request.param, SHOP)
    return engine


def checked(
    shop: Engine, sql: str, rewritten: str, fix: bool = False, spent: bool = False
) -> Checked | Declined:
    session = Session(engine=shop, params=None, limits=Limits(), fix=fix)
    statement = read_statement(sql, shop.dialect, 10_000)
    assert isinstance(statement, Statement)
    rows = session.run(sql)
    assert isinstance(rows, Rows)
    counts = session.counts(sql, rows)
    assert isinstance(counts, Counts)
    one: Measured = next(i for i in look(statement, session).issues if i.issue.multipliers)
    edit = Edit(rewritten, Promise.GROUPS, Evidence.OBSERVED)
    if spent:
        session.limits = Limits(probe_seconds=0, probe_times=0)
    return check(edit, one, statement, Result(sql=sql, rows=rows, counts=counts), session)


@pytest.mark.parametrize("name", WRONG)
def test_another_value_is_refused(shop: Engine, name: str) -> None:
    shown, wrong, source, group = WRONG[name]
    by = f" GROUP BY {group}" if group else ""
    done = checked(shop, f"SELECT {shown} {JOINED}{by}", f"SELECT {wrong} {source}{by}")
    assert isinstance(done, Declined)
    assert "each row of bill once" in done.reason


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("group", ["", "b.town"])
def test_the_measured_value_is_taken(shop: Engine, name: str, group: str) -> None:
    shown = f"{group}, {RIGHT[name]}" if group else RIGHT[name]
    by = f" GROUP BY {group}" if group else ""
    done = checked(shop, f"SELECT {shown} {JOINED}{by}", f"SELECT {shown} {EXISTS}{by}")
    assert isinstance(done, Checked)


def test_it_is_looked_up_in_what_a_cte_holds(shop: Engine) -> None:
    big = "WITH big AS (SELECT * FROM bill WHERE amount > 1)"
    sql = f"{big} SELECT SUM(b.amount) FROM big b JOIN part p ON p.bill_id = b.id"
    wrong = sql.replace("SUM(", "SUM(DISTINCT ")
    done = checked(shop, sql, wrong)
    assert isinstance(done, Declined)
    assert "each row of b once" in done.reason


def test_a_value_that_was_not_measured_is_a_doubt(shop: Engine) -> None:
    sql = f"SELECT SUM(b.amount) {JOINED}"
    done = checked(shop, sql, f"SELECT SUM(b.amount) {EXISTS}", fix=True, spent=True)
    assert isinstance(done, Checked)
    assert done.doubt == "its value was not measured: out of time"
