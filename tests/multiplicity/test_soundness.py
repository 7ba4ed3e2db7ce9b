"""No claim of inference is ever wrong: random queries over random data look for counterexamples.

Every key, dependency, constant, NOT NULL and "no fan-out" that rests on enforced constraints is
put as a query that returns a row where the claim fails. How much is claimed is asserted too: an
inference that claims nothing would pass otherwise.
"""

import gc
from collections import Counter
from collections.abc import Iterator

import pytest
from sqlglot import exp

from modularsql.multiplicity.infer import infer
from modularsql.sql.parse import parse_text

from .claims import claimed
from .soundness import QUERIES, check_seed
from .test_inference import CATALOGS

# Quick: 10,000 cases (a query on a set of data), of which 120 in DuckDB, where one takes longest.
QUICK = [("sqlite", range(at, at + 37)) for at in range(0, 148, 37)] + [("duckdb", range(8))]
# Slow: 100,000, of which 2,000 in DuckDB; a tenth are deep.
SLOW = [("sqlite", range(at, at + 220)) for at in range(1000, 2320, 220)]
SLOW += [("duckdb", range(1000, 1120))]
DEEP = [("sqlite", range(10000, 10150)), ("duckdb", range(10000, 10030))]


@pytest.fixture(autouse=True)
def _fewer_collections() -> Iterator[None]:
    """Trees are cyclic; looking for garbage in them takes a fifth of the time."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def check(dialect: str, seeds: range, deep: bool = False) -> None:
    """No violation for any of the seeds, and a healthy share of queries with claims."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        check_seed(seed, dialect, seen, deep)
    total = seen["queries"]
    assert total > 0.5 * QUERIES * len(seeds), seen
    assert seen["not checked"] < 0.1 * seen["relations"], seen
    for kind, share in (("key", 0.3), ("dependency", 0.15), ("constant", 0.15), ("not null", 0.3)):
        assert seen[f"with {kind}"] > share * total, (kind, seen)
    for kind in ("key of a prefix", "key without NULL", "no fan-out", "no fan-out in a group"):
        assert seen[f"with {kind}"] > 0.005 * total, (kind, seen)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("dialect", "seeds"), QUICK)
def test_no_claim_has_a_counterexample(dialect: str, seeds: range) -> None:
    check(dialect, seeds)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize(("dialect", "seeds"), SLOW)
def test_no_claim_of_many_queries_has_a_counterexample(dialect: str, seeds: range) -> None:
    check(dialect, seeds)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize(("dialect", "seeds"), DEEP)
def test_no_claim_of_deep_queries_has_a_counterexample(dialect: str, seeds: range) -> None:
    check(dialect, seeds, deep=True)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_relations_are_written_without_a_change_to_the_tree(dialect: str) -> None:
    sql = (
        "WITH c AS (SELECT id, name FROM hero) SELECT h.name, COUNT(*) AS n FROM hero AS h "
        "LEFT JOIN c ON c.id = h.id WHERE EXISTS(SELECT 1 FROM power AS p WHERE p.id = h.id) "
        "GROUP BY h.name UNION SELECT name, 1 FROM (SELECT * FROM power) AS d"
    )
    tree = parse_text(sql, dialect)
    assert isinstance(tree, exp.Expr)
    query = infer(tree, CATALOGS[dialect])
    assert query is not None
    found = list(claimed(query, sql, dialect))
    assert tree.sql(dialect) == sql
    # The whole, both branches, the CTE, the derived table, what EXISTS asks, FROM with WHERE.
    assert len({one.rows for one in found}) >= 6
    assert any(one.rows.around for one in found)
