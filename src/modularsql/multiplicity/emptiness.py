"""Why a block lets no row through: its restrictions, one after the other.

FROM and WHERE are taken as a row of restrictions: the first table, its conditions, a join, what
it settles, and so on. Once there are no rows none come back, so the first restriction without
any is found by halving.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp

from modularsql.multiplicity.bound import bound_value
from modularsql.multiplicity.columns import bare as unwrapped
from modularsql.multiplicity.columns import conjuncts
from modularsql.multiplicity.measure import bare, with_definitions
from modularsql.multiplicity.model import Block, JoinKind, Query, Source
from modularsql.multiplicity.steps import Step, read_step, steps_of
from modularsql.multiplicity.words import text

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.Between, exp.In)
_MIRRORED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


class Kind(StrEnum):
    """What a restriction is."""

    TABLE = "table"
    JOIN = "join"
    CONDITION = "condition"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restriction:
    """A table, join or condition, under all that come before it."""

    kind: Kind
    text: str
    block: Block
    query: Query
    number: int
    step: Step
    conditions: tuple[exp.Expr, ...]
    node: exp.Expr

    def any_row(self) -> exp.Select:
        """Whether it leaves a row."""
        return self._read(exp.Literal.number(1)).limit(1, copy=False)

    def count(self) -> exp.Select:
        """How many rows it leaves."""
        return self._read(exp.Count(this=exp.Star()))

    def _read(self, column: exp.Expr) -> exp.Select:
        return read_step(self.block, self.query, self.number, [column], self.conditions)

    def of_the_table(self) -> exp.Select:
        """Whether the table that a step adds holds any row by itself."""
        select = exp.select("1").from_(_alone(self.step.node), copy=False).limit(1, copy=False)
        with_definitions(select, self.query)
        return select


def restrictions(block: Block, query: Query) -> list[Restriction]:
    """The restrictions of a block in order; none where rows can come back after they were lost."""
    if any(s.kind in (JoinKind.RIGHT, JoinKind.FULL) for s in block.sources):
        return []
    return list(_restrictions(block, query))


def _restrictions(block: Block, query: Query) -> Iterator[Restriction]:
    for number, step in enumerate(steps_of(block)):
        kind = Kind.TABLE if step.join is None else Kind.JOIN
        done = step.before
        for node in (None, *step.conditions):
            done = done if node is None else (*done, node)
            yield Restriction(
                kind=kind if node is None else Kind.CONDITION,
                text=step.text if node is None else text(node),
                block=block,
                query=query,
                number=number,
                step=step,
                conditions=done,
                node=step.node if node is None else node,
            )


def groups_before_having(block: Block, query: Query) -> exp.Select:
    """The number of groups that HAVING had to choose from."""
    select = bare(block.select, [exp.alias_(exp.Literal.number(1), "one")])
    if (group := block.select.args.get("group")) is not None:
        select.set("group", group.copy())
    with_definitions(select, query)
    return exp.select(exp.Count(this=exp.Star())).from_(select.subquery("g"), copy=False)


def rows_before_limit(block: Block, query: Query) -> exp.Select:
    """The number of rows that LIMIT and OFFSET had to choose from."""
    select = block.select.copy()
    for clause in ("limit", "offset", "order"):
        select.set(clause, None)
    with_definitions(select, query)
    return exp.select(exp.Count(this=exp.Star())).from_(select.subquery("g"), copy=False)


def never_true(block: Block) -> exp.Expr | None:
    """A condition that compares with NULL: it holds for no row."""
    where = block.select.args.get("where")
    conditions = list(conjuncts(where.this if where else None))
    for source in block.sources:
        if source.kind == JoinKind.INNER and source.join is not None:
            conditions += conjuncts(source.join.args.get("on"))
    for part in conditions:
        if isinstance(part, _MIRRORED) and any(map(_is_null, (part.this, part.expression))):
            return part
    return None


def _is_null(node: exp.Expr) -> bool:
    node = unwrapped(node)
    return isinstance(node, exp.Null) or bound_value(node) == (None,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A column of a table that a condition compares with values written in the query."""

    source: Source
    column: exp.Column
    values: tuple[object, ...]

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    def alone(self, condition: exp.Expr) -> exp.Select:
        """How many rows of the table meet the condition, whatever the rest of the query says."""
        return self._read(exp.Count(this=exp.Star())).where(condition.copy(), copy=False)

    def like(self, value: str) -> exp.Select:
        """Values that are the same but for case and spaces at the ends."""
        folded = exp.Lower(this=exp.Trim(this=self.column.copy()))
        wanted = exp.Literal.string(value.strip().lower())
        return self._different().where(folded.eq(wanted), copy=False).limit(3, copy=False)

    def some(self, most: int) -> exp.Select:
        """Different values of the column, not all where it has many."""
        given = exp.not_(self.column.copy().is_(exp.null()))
        return self._different().where(given, copy=False).limit(most, copy=False)

    def bounds(self) -> exp.Select:
        """Its least and its greatest value."""
        least, most = exp.Min(this=self.column.copy()), exp.Max(this=self.column.copy())
        return self._read(least, most)

    def _different(self) -> exp.Select:
        return self._read(self.column.copy()).distinct(copy=False)

    def _read(self, *columns: exp.Expr) -> exp.Select:
        return exp.select(*columns, copy=False).from_(_alone(self.source.node), copy=False)


def compared(condition: exp.Expr, block: Block) -> Compared | None:
    """What a condition compares, where it is one column of a table with values."""
    if not isinstance(condition, _COMPARISONS):
        return None
    column, others = unwrapped(condition.this), _others(condition)
    if isinstance(condition, _MIRRORED) and not isinstance(column, exp.Column):
        column, others = unwrapped(condition.expression), [condition.this]
    home = block.columns.get(id(column))
    values = [_value(other) for other in others]
    if home is None or home[0].table is None or not values or None in values:
        return None
    assert isinstance(column, exp.Column)
    found = tuple(value[0] for value in values if value is not None)
    return Compared(source=home[0], column=column, values=found)


def _alone(node: exp.Expr) -> exp.Expr:
    """A table without the joins that the parser may have hung on it."""
    copy = node.copy()
    copy.set("joins", None)
    return copy


def _others(condition: exp.Expr) -> list[exp.Expr]:
    if isinstance(condition, exp.Between):
        return [condition.args["low"], condition.args["high"]]
    if isinstance(condition, exp.In):
        return list(condition.expressions)
    return [condition.expression]


def _value(node: exp.Expr) -> tuple[object] | None:
    node = unwrapped(node)
    if isinstance(node, exp.Literal):
        return (node.this if node.is_string else float(node.this),)
    if isinstance(node, exp.Neg):
        inner = _value(node.this)
        return (-inner[0],) if inner and isinstance(inner[0], float) else None
    return bound_value(node)
