"""Matching rows one to one, by scipy (extra `eval`); None where it is not installed."""

from collections.abc import Sequence
from importlib.util import find_spec


def best_total(weights: Sequence[Sequence[int]]) -> int | None:
    """The largest sum of weights when each row and each column is used at most once."""
    if find_spec("scipy") is None:
        return None
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    matrix = np.array(weights)
    return int(matrix[linear_sum_assignment(matrix, maximize=True)].sum())
