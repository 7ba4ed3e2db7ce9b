"""How many cells two bags of rows share when rows are matched one to one as well as can be.

Two matched rows share the values that both have, each as often as both have it, wherever it
stands. Equal rows are matched first (that costs nothing: swapping partners so that equal rows meet
never loses a cell). The rest falls into groups of rows that share a value; in each the best
matching is found by an assignment.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from modularsql.rows.assign import best_total
from modularsql.rows.cells import Row

MOST_EDGES = 200_000
"""Pairs of rows with a value in common that are looked at; beyond, the answer is undecided."""

MOST_CELLS = 4_000_000
"""Size of the largest matrix that is handed to the assignment."""

Edges = dict[tuple[int, int], int]


def matched_cells(gold: "Counter[Row]", pred: "Counter[Row]") -> int | None:
    """The most cells that can match; None where finding it is too much work."""
    same = gold & pred
    matched = sum(len(row) * times for row, times in same.items())
    golds, preds = list((gold - pred).elements()), list((pred - gold).elements())
    if not golds or not preds or len(golds[0]) == len(preds[0]) == 1:
        return matched
    edges = _edges(golds, preds)
    if edges is None:
        return None
    for group in _groups(edges):
        best = _best(group)
        if best is None:
            return None
        matched += best
    return matched


def _edges(golds: Sequence[Row], preds: Sequence[Row]) -> Edges | None:
    """For each pair of rows with values in common, how many.

    The n-th occurrence of a value in a row is a value of its own, so that repeats match once.
    """
    holders: dict[Any, list[int]] = {}
    for at, row in enumerate(preds):
        for value in _numbered(row):
            holders.setdefault(value, []).append(at)
    edges: Edges = {}
    left = MOST_EDGES
    for at, row in enumerate(golds):
        for value in _numbered(row):
            others = holders.get(value, ())
            left -= len(others)
            if left < 0:
                return None
            for other in others:
                edges[at, other] = edges.get((at, other), 0) + 1
    return edges


def _numbered(row: Row) -> Iterator[tuple[Any, int]]:
    if len(set(row)) == len(row):
        return zip(row, (0,) * len(row), strict=True)
    seen: Counter[Any] = Counter()
    found = []
    for value in row:
        found.append((value, seen[value]))
        seen[value] += 1
    return iter(found)


def _groups(edges: Edges) -> Iterator[Edges]:
    """The edges by connected group."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for gold, pred in edges:
        parent[root(gold)] = root(~pred)
    groups: dict[int, Edges] = {}
    for (gold, pred), weight in edges.items():
        groups.setdefault(root(gold), {})[gold, pred] = weight
    yield from groups.values()


def _best(group: Edges) -> int | None:
    golds = {gold: at for at, gold in enumerate(dict.fromkeys(gold for gold, _ in group))}
    preds = {pred: at for at, pred in enumerate(dict.fromkeys(pred for _, pred in group))}
    if len(golds) == 1 or len(preds) == 1:
        return max(group.values())
    if len(golds) * len(preds) > MOST_CELLS:
        return None
    weights = [[0] * len(preds) for _ in golds]
    for (gold, pred), weight in group.items():
        weights[golds[gold]][preds[pred]] = weight
    return best_total(weights)
