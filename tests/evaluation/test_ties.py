"""Order and ties against every result that SQLite may return: all orders of the rows that tie."""

from collections import Counter
from dataclasses import replace
from itertools import permutations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.pairs import pair, ran, result

from modularsql.evaluation.further import with_ties
from modularsql.evaluation.metrics import scores
from modularsql.rows import Row, Rows

TABLE = "CREATE TABLE t(a INTEGER, b TEXT{}, c REAL);"
KEYS = ("a", "b", "c", "1", "-a", "lower(b)", "t.a")
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "NULL"]),
        st.sampled_from(["'x'", "'X'", "'y'", "NULL"]),
        st.sampled_from(["0.5", "1.0", "NULL"]),
    ),
    min_size=1,
    max_size=5,
)


def possible(setup: str, columns: list[str], order: list[tuple[str, str]]) -> list[list[Row]]:
    """Every order in which the rows may come: by the database's own idea of what ties."""
    keys = [(columns[0] if key == "1" else key, way) for key, way in order]
    rank = f"DENSE_RANK() OVER (ORDER BY {', '.join(map(' '.join, keys))})"
    groups: dict[int, list[Row]] = {}
    for *row, at in ran(setup, f"SELECT {', '.join(columns)}, {rank} FROM t").rows:
        groups.setdefault(at, []).append(tuple(row))
    orders = [sorted(set(permutations(groups[at])), key=repr) for at in sorted(groups)]
    return [[row for part in parts for row in part] for parts in product(*orders)]


@given(
    ROWS,
    st.booleans(),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True),
    st.lists(
        st.tuples(st.sampled_from(KEYS), st.sampled_from(["ASC", "DESC"])), min_size=1, max_size=2
    ),
    st.sampled_from([(None, 0), (1, 0), (2, 0), (2, 1)]),
    st.integers(),
)
def test_order_and_ties_agree_with_trying_all(
    rows: list[tuple[str, ...]],
    collated: bool,
    columns: list[str],
    order: list[tuple[str, str]],
    cut: tuple[int | None, int],
    seed: int,
) -> None:
    setup = TABLE.format(" COLLATE NOCASE" if collated else "")
    setup += f"INSERT INTO t VALUES {', '.join('(' + ', '.join(row) + ')' for row in rows)};"
    sql = f"SELECT {', '.join(columns)} FROM t ORDER BY {', '.join(map(' '.join, order))}"
    limit, offset = cut
    all_of_them = possible(setup, columns, order)
    if limit is not None:
        sql += f" LIMIT {limit} OFFSET {offset}"
        all_of_them = [some[offset : offset + limit] for some in all_of_them]
    gold = ran(setup, sql)
    assert gold.rows in all_of_them
    random = Random(seed)
    shuffled = random.sample(gold.rows, len(gold.rows))
    for answer in (random.choice(all_of_them), shuffled):
        pred = replace(gold, rows=answer)

        def run(text: str) -> Rows:
            return replace(ran(setup, text), plain=not collated)

        found = pair(replace(gold, plain=not collated), pred, gold_sql=sql)
        got = scores(with_ties(found, run))
        same = Counter(answer) == Counter(gold.rows)
        right = {
            "ordered_ex": float(same and answer in all_of_them),
            "tie_ex": float(any(Counter(answer) == Counter(some) for some in all_of_them)),
        }
        for name, expected in right.items():
            # Where a collation is in play, 'x' may tie with 'X' and may not.
            assert got[name] in ((expected, None) if collated else (expected,)), name


@pytest.mark.parametrize(
    ("gold", "other", "ordered", "tied"),
    [
        ("SELECT b FROM t ORDER BY b COLLATE NOCASE", ["X", "x", "y"], None, 1),
        ("SELECT b FROM t ORDER BY b COLLATE NOCASE", ["y", "x", "X"], 0, 1),
        ("SELECT b FROM t ORDER BY b COLLATE NOCASE LIMIT 1", ["X"], 0, None),
        ("SELECT b FROM t ORDER BY b COLLATE NOCASE LIMIT 1", ["y"], 0, 0),
        ("SELECT b FROM t ORDER BY b DESC", ["X", "x", "y"], 0, 1),
    ],
)
def test_a_collation_of_the_query_leaves_open_what_ties(
    gold: str, other: list[str], ordered: float | None, tied: float | None
) -> None:
    setup = TABLE.format("") + "INSERT INTO t(b) VALUES ('x'), ('X'), ('y');"
    first = ran(setup, gold)
    assert first.rows[0] != (other[0],)
    found = pair(first, replace(first, rows=[(one,) for one in other]), gold_sql=gold)
    got = scores(with_ties(found, lambda text: ran(setup, text)))
    assert (got["ordered_ex"], got["tie_ex"]) == (ordered, tied)


@pytest.mark.parametrize(
    ("one", "other", "open_"), [("é", "E", True), ("a ", "A", True), ("a", "b", False)]
)
def test_accents_and_case_may_tie_where_the_database_has_a_collation(
    one: str, other: str, open_: bool
) -> None:
    gold = replace(result((one,), (other,)), plain=False)
    pred = replace(gold, rows=[(other,), (one,)])
    found = pair(gold, pred, gold_sql="SELECT c0 FROM t ORDER BY c0")
    assert scores(found)["ordered_ex"] == (None if open_ else 0)
    plain = pair(replace(gold, plain=True), pred, gold_sql="SELECT c0 FROM t ORDER BY c0")
    assert scores(plain)["ordered_ex"] == 0
