"""Matching rows one to one. Beyond small matrices by scipy (extra `eval`); None without it."""

from collections.abc import Sequence
from importlib.util import find_spec

_SMALL = 10
_SHORT = 40
"""Sides of a matrix for which trying all subsets takes less time than importing scipy."""


def best_total(weights: Sequence[Sequence[int]]) -> int | None:
    """The largest sum of weights (0 or more) when each row and column is used at most once."""
    if len(weights) < len(weights[0]):
        weights = list(zip(*weights, strict=True))
    if len(weights[0]) <= _SMALL and len(weights) <= _SHORT:
        return _best_by_subsets(weights)
    if find_spec("scipy") is None:
        return None
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    matrix = np.array(weights)
    return int(matrix[linear_sum_assignment(matrix, maximize=True)].sum())


def _best_by_subsets(weights: Sequence[Sequence[int]]) -> int:
    """Row by row, the best total for each set of columns that are taken."""
    best = {0: 0}
    for row in weights:
        grown = dict(best)
        for taken, total in best.items():
            for place, weight in enumerate(row):
                if weight and not taken >> place & 1:
                    now = taken | 1 << place
                    if total + weight > grown.get(now, -1):
                        grown[now] = total + weight
        best = grown
    return max(best.values())


def can_match_all(partners: Sequence[Sequence[int]], others: int) -> bool | None:
    """Whether each can have a partner of its own among `others`; `partners` are the possible."""
    if find_spec("scipy") is None:
        return None
    import numpy as np
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    starts = np.cumsum([0, *map(len, partners)])
    places = np.concatenate([np.array(some, dtype=np.int32) for some in partners])
    graph = csr_matrix((np.ones(len(places), dtype=bool), places, starts), (len(partners), others))
    return bool((maximum_bipartite_matching(graph, perm_type="column") >= 0).all())
