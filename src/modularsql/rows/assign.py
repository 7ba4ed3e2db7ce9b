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
