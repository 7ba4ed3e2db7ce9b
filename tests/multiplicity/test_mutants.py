"""The property test has teeth: each safeguard of inference that is taken out is found missing."""

from collections import Counter

import pytest

from .mutants import MUTANTS, Mutant
from .soundness import WrongClaimError, check_seed

SEEDS = {"sqlite": 600, "duckdb": 120}


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_random_queries_find_the_missing_safeguard(mutant: Mutant) -> None:
    with mutant.applied():
        for seed in range(SEEDS[mutant.dialect]):
            try:
                check_seed(seed, mutant.dialect, Counter())
            except WrongClaimError:
                return
    pytest.fail("no random query shows that it is missing")
