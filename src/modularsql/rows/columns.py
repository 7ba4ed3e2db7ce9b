"""Which column of one result stands for which of another, found by search within a budget.

A column can only stand for one with the same bag of values; columns with the same values row by
row are interchangeable. What is left is decided column by column, and a partial choice is given
up as soon as the rows it makes differ. The search counts the rows it builds and ends in
`undecided` when the budget is spent, so never in a factorial.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from modularsql.rows.cells import Row

BUDGET = 2_000_000
"""Rows built at most in one search: some seconds."""

Mapping = tuple[int, ...]
"""For each column of the first result, the one of the second that stands for it."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """The budget was spent before an answer was found."""


def column_mapping(
    gold: Sequence[Row], pred: Sequence[Row], *, ordered: bool = False, budget: int = BUDGET
) -> Mapping | Undecided | None:
    """A choice of different columns of `pred`, one for each of `gold`, that makes the rows equal.

    As a bag, or as a sequence where `ordered`. `pred` may have more columns. None: there is none.
    Rows are `comparable`; empty results have no columns to tell.
    """
    if len(gold) != len(pred) or not gold or len(gold[0]) > len(pred[0]):
        return None
    golds, preds = list(zip(*gold, strict=True)), list(zip(*pred, strict=True))
    if ordered:
        return _by_content(golds, preds)
    return _Search(golds, preds, budget).run()


def _by_content(golds: Sequence[Row], preds: Sequence[Row]) -> Mapping | None:
    """Columns are equal or not, so any choice among equal ones will do."""
    places: dict[Row, list[int]] = {}
    for place in reversed(range(len(preds))):
        places.setdefault(preds[place], []).append(place)
    chosen = []
    for column in golds:
        left = places.get(column)
        if not left:
            return None
        chosen.append(left.pop())
    return tuple(chosen)


class _Search:
    """Depth first, the column with the fewest candidates first."""

    def __init__(self, golds: Sequence[Row], preds: Sequence[Row], budget: int) -> None:
        self.golds, self.preds, self.left = golds, preds, budget
        bags = [Counter(column) for column in preds]
        self.candidates = []
        for column in golds:
            bag = Counter(column)
            self.candidates.append([at for at, other in enumerate(bags) if other == bag])
        self.order = sorted(range(len(golds)), key=lambda at: len(self.candidates[at]))
        self.chosen: dict[int, int] = {}

    def run(self) -> Mapping | Undecided | None:
        """The mapping, or why there is none."""
        if not all(self.candidates):
            return None
        try:
            found = self._extend([()] * len(self.golds[0]), [()] * len(self.golds[0]), 0)
        except _BudgetError:
            return Undecided()
        return tuple(self.chosen[at] for at in range(len(self.golds))) if found else None

    def _extend(self, golds: Sequence[Row], preds: Sequence[Row], depth: int) -> bool:
        """Whether the rows made of the columns chosen so far can be completed."""
        if depth == len(self.order):
            return True
        at = self.order[depth]
        grown = self._with(golds, self.golds[at])
        bag = Counter(grown)
        tried: set[Row] = set()
        for candidate in self.candidates[at]:
            column = self.preds[candidate]
            if candidate in self.chosen.values() or column in tried:
                continue
            tried.add(column)
            other = self._with(preds, column)
            if Counter(other) != bag:
                continue
            self.chosen[at] = candidate
            if self._extend(grown, other, depth + 1):
                return True
            del self.chosen[at]
        return False

    def _with(self, rows: Sequence[Row], column: Row) -> list[Row]:
        self.left -= len(rows)
        if self.left < 0:
            raise _BudgetError
        return [(*row, value) for row, value in zip(rows, column, strict=True)]


class _BudgetError(Exception):
    pass
