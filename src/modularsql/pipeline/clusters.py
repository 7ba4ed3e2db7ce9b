"""Candidates with equal results, as clusters: equal multisets, in order where most of them order.

The paper clusters sets of rows, so that a query which repeats rows and one that does not fall
together: the blind spot this package is about. `"set"` stays as an option, to show the difference.
"""

from collections import Counter
from collections.abc import Hashable, Sequence

from modularsql.pipeline.reading import read_tree
from modularsql.pipeline.state import Candidate, Cluster
from modularsql.rows import Rows, comparable


def clusters(
    candidates: Sequence[Candidate], dialect: str, by: str = "multiset"
) -> tuple[Cluster, ...]:
    """Clusters of what ran, largest first; the share is of all samples, failed ones included."""
    total = sum(candidate.votes for candidate in candidates)
    ordering = sum(c.votes for c in candidates if _is_ordered(c.sql, dialect))
    ordered = by == "multiset" and ordering * 2 > total
    found: dict[Hashable, list[int]] = {}
    for index, candidate in enumerate(candidates):
        if isinstance(candidate.outcome, Rows):
            found.setdefault(_result(candidate.outcome, by, ordered), []).append(index)
    made = [
        Cluster(
            members=tuple(members),
            confidence=sum(candidates[i].votes for i in members) / total,
        )
        for members in found.values()
    ]
    return tuple(sorted(made, key=lambda c: (-c.confidence, c.members[0])))


def _result(rows: Rows, by: str, ordered: bool) -> Hashable:
    """What equal results share: the number of columns and the rows, perhaps in their order."""
    keys = comparable(rows.rows)
    width = len(rows.columns)
    if by == "set":
        return width, frozenset(keys)
    bag = frozenset(Counter(keys).items())
    return width, rows.truncated, bag, tuple(keys) if ordered else None


def _is_ordered(sql: str, dialect: str) -> bool:
    tree = read_tree(sql, dialect)
    return tree is not None and bool(tree.args.get("order"))
