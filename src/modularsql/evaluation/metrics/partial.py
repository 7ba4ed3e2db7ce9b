"""How much of a result is right: execution precision, recall and F1 (SQLMorph's EXP, EXR).

EXP is the share of the prediction that is in gold, EXR the share of gold that was found, F1 their
harmonic mean. By row: rows that are equal. By cell: values matched one to one within rows that
are matched one to one, so that as many cells as possible match; the order of rows and columns
does not matter. Each with multiplicity, and over distinct rows. Two empty results are 1, one empty
result is 0.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from modularsql.evaluation.metrics.base import Metric, Score
from modularsql.evaluation.pair import Pair
from modularsql.rows import Row
from modularsql.rows.overlap import matched_cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """How many rows or cells match, of how many on each side."""

    matched: int
    gold: int
    pred: int

    @property
    def precision(self) -> float:
        """EXP: the share of the prediction that is right."""
        return self._share(self.pred)

    @property
    def recall(self) -> float:
        """EXR: the share of gold that was found."""
        return self._share(self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return 2 * self.matched / (self.gold + self.pred) if self.gold or self.pred else 1.0

    def _share(self, of: int) -> float:
        if of:
            return self.matched / of
        return float(self.gold == self.pred)


def rows_matched(gold: "Counter[Row]", pred: "Counter[Row]") -> Match:
    """Equal rows."""
    return Match(matched=(gold & pred).total(), gold=gold.total(), pred=pred.total())


def cells_matched(gold: "Counter[Row]", pred: "Counter[Row]") -> Match | None:
    """Equal values under the best matching of rows; None where that is too much to compute."""
    matched = matched_cells(gold, pred)
    if matched is None:
        return None
    return Match(matched=matched, gold=_cells(gold), pred=_cells(pred))


def _cells(bag: "Counter[Row]") -> int:
    return sum(len(row) * times for row, times in bag.items())


def by_row(pair: Pair) -> Match:
    """Equal rows, each as often as it occurs."""
    return rows_matched(pair.gold_bag, pair.pred_bag)


def by_row_set(pair: Pair) -> Match:
    """Equal rows, each once."""
    return rows_matched(_once(pair.gold_bag), _once(pair.pred_bag))


def by_cell(pair: Pair) -> Match | None:
    """Equal cells, with rows as often as they occur."""
    return cells_matched(pair.gold_bag, pair.pred_bag)


def by_cell_set(pair: Pair) -> Match | None:
    """Equal cells of rows that each count once."""
    return cells_matched(_once(pair.gold_bag), _once(pair.pred_bag))


def _once(bag: "Counter[Row]") -> "Counter[Row]":
    return Counter(bag.keys())


def _metric(name: str, share: str, match: Callable[[Pair], Match | None]) -> Metric:
    title, says = _SHARES[share]

    def score(pair: Pair) -> Score:
        if pair.truncated:
            return None
        found = pair.fact(match)
        return None if found is None else getattr(found, share)

    unit = _UNITS[match]
    return Metric(name=name, title=f"{title}, {unit}", definition=f"{says}: {unit}.", score=score)


_SHARES = {
    "precision": ("EXP", "Share of the prediction that is right"),
    "recall": ("EXR", "Share of gold that was found"),
    "f1": ("F1", "Harmonic mean of EXP and EXR"),
}
_UNITS: dict[Callable[[Pair], Match | None], str] = {
    by_row: "rows",
    by_row_set: "distinct rows",
    by_cell: "cells of the best matching rows",
    by_cell_set: "cells of the best matching distinct rows",
}

FAMILY = (
    _metric("exp_row", "precision", by_row),
    _metric("exr_row", "recall", by_row),
    _metric("f1_row", "f1", by_row),
    _metric("exp_row_set", "precision", by_row_set),
    _metric("exr_row_set", "recall", by_row_set),
    _metric("f1_row_set", "f1", by_row_set),
    _metric("exp_cell", "precision", by_cell),
    _metric("exr_cell", "recall", by_cell),
    _metric("f1_cell", "f1", by_cell),
    _metric("exp_cell_set", "precision", by_cell_set),
    _metric("exr_cell_set", "recall", by_cell_set),
    replace(_metric("soft_f1", "f1", by_cell_set), title="Soft F1"),
)
