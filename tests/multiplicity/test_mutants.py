"""The soundness test has teeth: each safeguard of inference that is taken out is found missing.

Random queries find most of them soon. What they need only once in many thousands has a witness, a
query that shows it at once.
"""

import sqlite3
from collections import Counter

import duckdb
import pytest

from .mutants import MUTANTS, Mutant
from .soundness import Connection, WrongClaimError, catalog_of, check_query, check_seed
from .witnesses import WITNESSES, Witness

SEEDS = {"sqlite": 150, "duckdb": 40}
WITNESSED = [mutant for mutant in MUTANTS if mutant.name in WITNESSES]
RANDOM = [mutant for mutant in MUTANTS if mutant.name not in WITNESSES]


def database(witness: Witness, dialect: str) -> Connection:
    if dialect == "duckdb":
        engine = duckdb.connect(":memory:")
        engine.execute(witness.script)
        return engine
    connection = sqlite3.connect(":memory:")
    connection.executescript(witness.script)
    return connection


@pytest.mark.parametrize("mutant", WITNESSED, ids=lambda mutant: mutant.name)
def test_a_query_shows_the_missing_safeguard(mutant: Mutant) -> None:
    witness = WITNESSES[mutant.name]
    made = database(witness, mutant.dialect)
    seen: Counter[str] = Counter()
    check_query(witness.sql, [made], catalog_of(made), seen)
    assert (seen["queries"], seen["not checked"]) == (1, 0)
    with mutant.applied(), pytest.raises(WrongClaimError):
        check_query(witness.sql, [made], catalog_of(made), seen)
    made.close()


def test_every_witness_is_one_of_a_mutant() -> None:
    assert len(WITNESSED) == len(WITNESSES)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("mutant", RANDOM, ids=lambda mutant: mutant.name)
def test_random_queries_find_the_missing_safeguard(mutant: Mutant) -> None:
    with mutant.applied():
        for seed in range(SEEDS[mutant.dialect]):
            try:
                check_seed(seed, mutant.dialect, Counter())
            except WrongClaimError:
                return
    pytest.fail("no random query shows that it is missing")
