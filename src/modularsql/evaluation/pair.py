"""Two results of one question, and what can be said about them, found out once and on demand.

Facts are `None` where they cannot be known: a result that a cap has cut may differ in the part
that is missing. A truncated result has at least one row more than it shows.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from modularsql.evaluation.gold import GoldFile
from modularsql.rows import Row, Rows, comparable

if TYPE_CHECKING:
    from modularsql.evaluation.shape import Shape

# `shape` and `ties` are imported where they are needed: their parser takes longer to import than
# most runs take, and equal results need none.
T = TypeVar("T")


def may_be_ordered(sql: str) -> bool:
    """Whether the word stands in the text: without it no parsing is needed to say no."""
    return "order" in sql.lower()


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One question's two results, of the gold query and of the predicted one.

    Gold that is a published result has no query (`gold_sql` is empty), and `standard` says how it
    is compared. `keyed` is the result of `wanted_query()` where that was run: gold without its
    LIMIT and with its hidden ORDER BY keys as further columns; it decides ties. `streamed` says
    whether the whole results are the same multiset, where a cap has cut one and somebody found out.
    """

    gold: Rows
    pred: Rows
    gold_sql: str
    pred_sql: str
    dialect: str
    standard: GoldFile | None = None
    keyed: Rows | None = None
    streamed: bool | None = None

    @cached_property
    def identical(self) -> bool:
        """Both complete, with the same rows in the same order: every metric is 1."""
        whole = not (self.gold.truncated or self.pred.truncated)
        return whole and (
            self.gold.rows == self.pred.rows or list(self.gold_rows) == list(self.pred_rows)
        )

    @cached_property
    def gold_rows(self) -> Sequence[Row]:
        """Gold's rows, comparable."""
        return comparable(self.gold.rows)

    @cached_property
    def pred_rows(self) -> Sequence[Row]:
        """The prediction's rows, comparable."""
        return comparable(self.pred.rows)

    @cached_property
    def gold_bag(self) -> "Counter[Row]":
        """How often each of gold's rows occurs."""
        return Counter(self.gold_rows)

    @cached_property
    def pred_bag(self) -> "Counter[Row]":
        """How often each of the prediction's rows occurs."""
        return Counter(self.pred_rows)

    @cached_property
    def same_set(self) -> bool | None:
        """Whether the same rows occur, however often."""
        if self.identical or self.streamed:
            return True
        gold, pred = self.gold_bag.keys(), self.pred_bag.keys()
        return self._decided(gold == pred, gold <= pred, pred <= gold)

    @cached_property
    def same_bag(self) -> bool | None:
        """Whether the same rows occur, each equally often."""
        if self.identical:
            return True
        if self.streamed is not None:
            return self.streamed
        if self.same_number is False or self.same_set is False:
            return False
        gold, pred = self.gold_bag, self.pred_bag
        return self._decided(gold == pred, gold <= pred, pred <= gold)

    @cached_property
    def same_order(self) -> bool | None:
        """Whether the rows are those of gold in an order that gold's ORDER BY allows.

        Gold without an ORDER BY on its outermost query allows any.
        """
        if self.identical:
            return True
        if not self.same_bag:
            return self.same_bag
        if self.standard is not None:
            return not self.standard.ordered
        if not may_be_ordered(self.gold_sql):
            return True
        if self.truncated:
            return None if self.gold_shape is None or self.gold_shape.ordered else True
        from modularsql.evaluation.ties import in_order

        return in_order(self.gold, self.pred, self.gold_shape, self.keyed)

    def wanted_query(self) -> str | None:
        """The query whose result, as `keyed`, would decide what is still open about ties."""
        if self.keyed is not None or self.identical or not may_be_ordered(self.gold_sql):
            return None
        if self.tied is False and (self.same_order is not None or self.truncated):
            return None
        from modularsql.evaluation.ties import keyed_query

        return keyed_query(self.gold_sql, self.dialect, self.gold.columns)

    def fact(self, find: "Callable[[Pair], T]") -> T:
        """What `find` says of this pair, asked once."""
        if find not in self._facts:
            self._facts[find] = find(self)
        return self._facts[find]  # type: ignore[no-any-return]

    @cached_property
    def _facts(self) -> dict[Any, Any]:
        return {}

    @cached_property
    def tied(self) -> bool | None:
        """Whether the prediction has another choice of the rows that tie at gold's LIMIT.

        None where `keyed` is needed to tell, and missing.
        """
        if self.same_bag or self.truncated or not may_be_ordered(self.gold_sql):
            return False
        gold, pred = self.gold_rows, self.pred_rows
        if not gold or len(gold) != len(pred) or len(gold[0]) != len(pred[0]):
            return False
        from modularsql.evaluation.ties import is_choice

        return is_choice(self.gold, self.pred, self.gold_shape, self.keyed)

    @cached_property
    def gold_shape(self) -> "Shape | None":
        """What gold's outermost query block says; None where it does not parse."""
        from modularsql.evaluation.shape import read_shape

        return read_shape(self.gold_sql, self.dialect, self.gold.columns)

    @cached_property
    def pred_shape(self) -> "Shape | None":
        """What the prediction's outermost query block says; None where it does not parse."""
        from modularsql.evaluation.shape import read_shape

        return read_shape(self.pred_sql, self.dialect, self.pred.columns)

    @property
    def truncated(self) -> bool:
        """Whether a cap has cut either result."""
        return self.gold.truncated or self.pred.truncated

    @cached_property
    def same_number(self) -> bool | None:
        """Whether both have as many rows; None where what a cap has cut may decide it."""
        if _has_fewer(self.gold, self.pred) or _has_fewer(self.pred, self.gold):
            return False
        return None if self.truncated else True

    def _decided(self, equal: bool, gold_within: bool, pred_within: bool) -> bool | None:
        """The answer for the rows shown, where those that are missing cannot change it."""
        if not self.truncated:
            return equal
        gold_may_grow, pred_may_grow = self.gold.truncated, self.pred.truncated
        possible = (pred_within or gold_may_grow) and (gold_within or pred_may_grow)
        return None if possible else False


def _has_fewer(one: Rows, other: Rows) -> bool:
    """Whether `one` surely has fewer rows; what is truncated has at least one that is not shown."""
    return not one.truncated and len(one.rows) < len(other.rows) + other.truncated
