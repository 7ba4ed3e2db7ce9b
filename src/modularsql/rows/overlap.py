"""How many cells two bags of rows share when rows are matched one to one as well as can be.

Two matched rows share the values that both have, each as often as both have it, wherever it
stands. Rows with the same values are matched first: that costs nothing, since swapping partners so
that such rows meet never loses a cell. The rest falls into groups of rows that share a value. In
each the best matching is found by an assignment, unless a greedy one reaches an upper bound.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain

from modularsql.rows.assign import best_total
from modularsql.rows.cells import Row

MOST_EDGES = 200_000
"""Pairs of rows with a value in common that are looked at; beyond, the answer is undecided."""
MOST_CELLS = 4_000_000
"""Size of the largest matrix that is handed to the assignment."""

Values = frozenset[tuple[Hashable, int]]
"""What stands in a row: the n-th occurrence of a value is a value of its own."""
Edges = dict[tuple[int, int], int]
"""For a row of gold and one of the prediction the number of values in common, if any."""


def matched_cells(gold: "Counter[Row]", pred: "Counter[Row]") -> int | None:
    """The most cells that can match; None where finding it is too much work."""
    same = gold & pred
    matched = sum(len(row) * times for row, times in same.items())
    if all(len(row) == 1 for row in chain(gold, pred)):
        return matched  # rows of one cell share all or nothing
    golds, preds = _by_values(gold - same), _by_values(pred - same)
    alike = golds & preds
    matched += sum(len(values) * times for values, times in alike.items())
    return _with_rest(matched, list((golds - alike).elements()), list((preds - alike).elements()))


def _by_values(rows: "Counter[Row]") -> "Counter[Values]":
    bag: Counter[Values] = Counter()
    for row, times in rows.items():
        bag[frozenset(_numbered(row))] += times
    return bag


def _numbered(row: Row) -> Iterable[tuple[Hashable, int]]:
    if len(set(row)) == len(row):
        return [(value, 0) for value in row]
    seen: Counter[Hashable] = Counter()
    found = []
    for value in row:
        found.append((value, seen[value]))
        seen[value] += 1
    return found


def _with_rest(matched: int, golds: Sequence[Values], preds: Sequence[Values]) -> int | None:
    edges = _edges(golds, preds)
    if edges is None:
        return None
    for group in _groups(edges):
        best = _best(group)
        if best is None:
            return None
        matched += best
    return matched


def _edges(golds: Sequence[Values], preds: Sequence[Values]) -> Edges | None:
    holders: dict[tuple[Hashable, int], list[int]] = {}
    for at, values in enumerate(preds):
        for value in values:
            holders.setdefault(value, []).append(at)
    edges: Edges = {}
    left = MOST_EDGES
    for at, values in enumerate(golds):
        for value in values:
            others = holders.get(value, ())
            left -= len(others)
            if left < 0:
                return None
            for other in others:
                edges[at, other] = edges.get((at, other), 0) + 1
    return edges


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
    greedy = _greedy(group)
    if greedy == _bound(group):
        return greedy
    golds = {gold: at for at, gold in enumerate(dict.fromkeys(gold for gold, _ in group))}
    preds = {pred: at for at, pred in enumerate(dict.fromkeys(pred for _, pred in group))}
    if len(golds) * len(preds) > MOST_CELLS:
        return None
    weights = [[0] * len(preds) for _ in golds]
    for (gold, pred), weight in group.items():
        weights[golds[gold]][preds[pred]] = weight
    return best_total(weights)


def _greedy(group: Edges) -> int:
    """The cells of the matching that takes the heaviest edge left, again and again."""
    total, golds, preds = 0, set(), set()
    for (gold, pred), weight in sorted(group.items(), key=lambda edge: -edge[1]):
        if gold not in golds and pred not in preds:
            golds.add(gold)
            preds.add(pred)
            total += weight
    return total


def _bound(group: Edges) -> int:
    """No matching has more: each row counts its heaviest edge, on the side where that is less."""
    golds: dict[int, int] = {}
    preds: dict[int, int] = {}
    for (gold, pred), weight in group.items():
        golds[gold] = max(golds.get(gold, 0), weight)
        preds[pred] = max(preds.get(pred, 0), weight)
    return min(sum(golds.values()), sum(preds.values()))
