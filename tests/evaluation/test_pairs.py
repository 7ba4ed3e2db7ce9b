"""Order, ties and causes on pairs that SQLite returned."""

from dataclasses import replace

import pytest
from tests.evaluation.pairs import compared, pair, ran, result

from modularsql.evaluation.cause import Cause, cause
from modularsql.evaluation.pair import Pair
from modularsql.evaluation.shape import read_shape
from modularsql.evaluation.ties import is_cut_at_a_tie, keyed_query

SHOP = """
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, kind TEXT, price REAL);
INSERT INTO item VALUES (1,'axe','tool',9.5),(2,'saw','tool',7.25),(3,'tea','food',2.0),
  (4,'jam','food',2.0),(5,'rye','food',1.0);
CREATE TABLE sale(item INTEGER, day TEXT);
INSERT INTO sale VALUES (1,'mon'),(1,'tue'),(3,'mon'),(5,'mon'),(5,'mon');
"""


def shop(gold: str, pred: str) -> Pair:
    return compared(SHOP, gold=gold, pred=pred)


def keyed(found: Pair) -> Pair:
    wanted = found.wanted_query()
    return found if wanted is None else replace(found, keyed=ran(SHOP, wanted))


@pytest.mark.parametrize(
    ("gold", "pred", "right"),
    [
        (
            "name, price FROM item ORDER BY price",
            "name, price FROM item ORDER BY price, name",
            True,
        ),
        ("name, price FROM item ORDER BY price", "name, price FROM item ORDER BY name", False),
        ("name, price FROM item ORDER BY 2", "name, price FROM item ORDER BY price, name", True),
        ("name, price AS p FROM item ORDER BY p", "name, price FROM item ORDER BY 2, 1", True),
        ("i.name, i.price FROM item i ORDER BY price", "name, price FROM item ORDER BY 2, 1", True),
        ("* FROM item ORDER BY price", "* FROM item ORDER BY price, name", True),
        ("* FROM item ORDER BY price", "* FROM item ORDER BY name", False),
        ("name, price FROM item", "name, price FROM item ORDER BY name", True),
        ("price AS name, name AS price FROM item ORDER BY name", "price, name FROM item", False),
        (
            "kind, count(*) FROM item GROUP BY kind ORDER BY count(*)",
            "kind, count(*) FROM item GROUP BY kind ORDER BY 2",
            True,
        ),
    ],
)
def test_rows_that_tie_may_swap(gold: str, pred: str, right: bool) -> None:
    found = shop("SELECT " + gold, "SELECT " + pred)
    assert found.same_bag
    assert found.same_order is right
    assert found.wanted_query() is None


@pytest.mark.parametrize(
    ("gold", "pred", "right"),
    [
        ("name FROM item ORDER BY price", "name FROM item ORDER BY price, name", True),
        ("name FROM item ORDER BY price", "name FROM item ORDER BY name", False),
        ("name FROM item ORDER BY kind, price", "name FROM item ORDER BY kind, price, name", True),
        ("name FROM item ORDER BY price LIMIT 4", "name FROM item ORDER BY 1 LIMIT 4", False),
    ],
)
def test_keys_that_are_not_selected_are_asked_for(gold: str, pred: str, right: bool) -> None:
    found = shop("SELECT " + gold, "SELECT " + pred)
    if not found.same_bag:
        assert not right
        return
    if not found.identical:
        assert found.same_order is None
        assert found.wanted_query() is not None
    assert keyed(found).same_order is right
    assert keyed(found).wanted_query() is None


@pytest.mark.parametrize(
    ("gold", "pred", "accepted"),
    [
        # tea and jam tie at 2.0, between rye (1.0) and saw (7.25).
        ("name FROM item ORDER BY price LIMIT 2", "name FROM item WHERE id IN (4, 5)", True),
        ("name FROM item ORDER BY price LIMIT 2", "name FROM item WHERE id IN (3, 5)", True),
        ("name FROM item ORDER BY price LIMIT 2", "name FROM item WHERE id IN (3, 4)", False),
        ("name FROM item ORDER BY price LIMIT 3", "name FROM item WHERE id IN (2, 3, 5)", False),
        ("name FROM item ORDER BY price LIMIT 1 OFFSET 1", "name FROM item WHERE id = 4", True),
        ("name FROM item ORDER BY price LIMIT 1 OFFSET 1", "name FROM item WHERE id = 5", False),
        ("kind FROM item GROUP BY kind ORDER BY 1=1 LIMIT 1", "kind FROM item WHERE id = 1", True),
        ("name FROM item LIMIT 1", "name FROM item WHERE id = 4", False),
    ],
)
def test_any_choice_at_the_cut_is_a_tie(gold: str, pred: str, accepted: bool) -> None:
    found = keyed(shop("SELECT " + gold, "SELECT " + pred))
    assert bool(found.same_bag or found.tied) is accepted
    if accepted and not found.same_bag:
        assert cause(found) == Cause.LIMIT_TIES


def test_a_limit_that_cuts_a_tie_is_told_from_one_that_does_not() -> None:
    for limit, cut in ((1, False), (2, True), (3, False), (5, False)):
        sql = f"SELECT name FROM item ORDER BY price LIMIT {limit}"
        gold = ran(SHOP, sql)
        shape, query = read_shape(sql, "sqlite", ("name",)), keyed_query(sql, "sqlite", ("name",))
        assert shape is not None
        assert query is not None
        assert is_cut_at_a_tie(gold.rows, shape, ran(SHOP, query)) is cut


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM item",
        "SELECT DISTINCT name FROM item ORDER BY price LIMIT 1",
        "SELECT name FROM item ORDER BY",
        "SELECT name AS price FROM item ORDER BY price + 1 LIMIT 1",
        "VALUES (1)",
    ],
)
def test_no_keyed_query_where_it_could_mean_something_else(sql: str) -> None:
    assert keyed_query(sql, "sqlite", ("name",)) is None


@pytest.mark.parametrize(
    ("gold", "pred", "expected"),
    [
        ("SELECT name FROM item", "SELECT name FROM item ORDER BY 1", Cause.EQUAL),
        ("SELECT name FROM item ORDER BY 1", "SELECT name FROM item", Cause.ORDER),
        ("SELECT DISTINCT kind FROM item", "SELECT kind FROM item", Cause.MISSING_DISTINCT),
        ("SELECT kind FROM item GROUP BY kind", "SELECT kind FROM item", Cause.MISSING_DISTINCT),
        ("SELECT kind FROM item", "SELECT DISTINCT kind FROM item", Cause.EXTRA_DISTINCT),
        (
            "SELECT name FROM item WHERE id IN (SELECT item FROM sale)",
            "SELECT name FROM item JOIN sale ON item = id",
            Cause.FAN_OUT,
        ),
        (
            "SELECT kind FROM item",
            "SELECT kind FROM item WHERE kind = 'tool' UNION ALL SELECT 'food'",
            Cause.MULTIPLICITY,
        ),
        ("SELECT name, kind FROM item", "SELECT kind, name FROM item", Cause.COLUMNS_PERMUTED),
        ("SELECT name FROM item", "SELECT name, id FROM item", Cause.EXTRA_COLUMNS),
        ("SELECT name, id FROM item", "SELECT name FROM item", Cause.MISSING_COLUMNS),
        ("SELECT round(avg(price), 1) FROM item", "SELECT avg(price) FROM item", Cause.ROUNDING),
        ("SELECT id FROM item", "SELECT cast(id AS TEXT) FROM item", Cause.TYPE),
        ("SELECT id FROM item", "SELECT id FROM item WHERE id > 9", Cause.EMPTY),
        ("SELECT id FROM item WHERE id > 9", "SELECT id FROM item", Cause.NOT_EMPTY),
        ("SELECT id FROM item", "SELECT id FROM item WHERE id > 1", Cause.SUBSET),
        ("SELECT id FROM item WHERE id > 1", "SELECT id FROM item", Cause.SUPERSET),
        ("SELECT id FROM item", "SELECT id + 3 FROM item", Cause.DIFFERENT),
        ("SELECT id FROM item", "SELECT name FROM item", Cause.DISJOINT),
    ],
)
def test_the_cause_is_named(gold: str, pred: str, expected: Cause) -> None:
    assert cause(shop(gold, pred)) == expected


def test_a_cut_result_is_its_own_cause() -> None:
    for gold_cut, pred_cut in ((True, False), (False, True), (True, True)):
        found = pair(result((1,), truncated=gold_cut), result((1,), truncated=pred_cut))
        assert cause(found) == Cause.TRUNCATED
