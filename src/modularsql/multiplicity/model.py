"""A query as blocks: what each SELECT reads, joins, keeps, groups and returns, with its facts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from sqlglot import exp

from modularsql.catalog import Table
from modularsql.multiplicity.algebra import TRUE, Predicate, Relation


class JoinKind(StrEnum):
    """How a source joins what stands before it in FROM."""

    FIRST = "first"
    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"
    SEMI = "semi"


UNNAMED = "\0"
"""How the name of a column begins that only the database could name (`COUNT(*)`, a second `id`)."""


@dataclass(slots=True, eq=False)
class Source:
    """One thing in FROM: a table, a CTE, a derived table.

    `columns` maps folded names to attributes; `complete` is False where it may have others.
    `optional`: an outer join may pad it with NULLs. `filled`: with default values, so that nobody
    can tell its rows from those that are none (ClickHouse). `undone`: WHERE, or the condition of a
    later join, rejects all rows in which its LEFT JOIN padded it. `lateral`: it is made anew for
    each row before it. `before` and `after` are the rows of FROM without and with it. `view` is
    the query that a view stands for; it is no part of the text that is looked at.

    The first table of a join in parentheses carries the join, and its condition, of the whole.
    """

    alias: str
    node: exp.Expr
    relation: Relation
    columns: dict[str, int]
    complete: bool = True
    table: Table | None = None
    query: "Query | None" = None
    view: "Query | None" = None
    join: exp.Join | None = None
    kind: JoinKind = JoinKind.FIRST
    predicate: Predicate = TRUE
    optional: bool = False
    filled: bool = False
    undone: bool = False
    lateral: bool = False
    before: Relation | None = None
    after: Relation | None = None

    @property
    def name(self) -> str:
        """As people call it: the table's name, else the alias."""
        return self.table.name if self.table else self.alias

    def column(self, name: str, *, quoted: bool = True) -> exp.Column:
        """A column by the name it is declared by, qualified."""
        declared = self.table.column(name) if self.table is not None else None
        known = exp.to_identifier(declared.name if declared else name, quoted=quoted)
        return exp.column(known, table=self.qualifier)

    @property
    def qualifier(self) -> exp.Identifier:
        """The alias as it is written: in quotes it is another where the dialect folds it."""
        alias = self.node.args.get("alias") or self.node
        if isinstance(alias.this, exp.Identifier):
            return alias.this.copy()
        return exp.to_identifier(self.alias, quoted=True)

    @property
    def called(self) -> tuple[str, ...]:
        """What a question may call it: its name, and its description where that is a short one."""
        return called(self.name, self.table.description if self.table else "")

    @property
    def is_dimensionless(self) -> bool:
        """Whether it has at most one row."""
        return self.relation.is_key(0) is not None


_NAME = 4  # words: a longer description tells what it is, but is no name for it


def called(name: str, description: str) -> tuple[str, ...]:
    """A name, and a description that may stand for it."""
    short = description and len(description.split()) <= _NAME
    return (name, description) if short and description != name else (name,)


Found = tuple[Source, str, int]
"""What a column name means: its source, its folded name there, and its attribute."""


class Merged(NamedTuple):
    """A column of USING or NATURAL: what its bare name means, and the sources it stands for."""

    name: str
    found: Found
    sources: tuple[Source, ...]


@dataclass(slots=True, eq=False)
class Output:
    """One column that comes back: its expression, and the attribute it is, if it is one."""

    name: str
    expression: exp.Expr
    attribute: int
    mentioned: int
    sources: tuple[Source, ...]


@dataclass(slots=True, eq=False)
class Aggregate:
    """One aggregate of a block: `argument` is None for COUNT(*)."""

    node: exp.Expr
    kind: str
    argument: exp.Expr | None
    distinct: bool
    mentioned: int
    sources: tuple[Source, ...]


@dataclass(slots=True, eq=False)
class Block:
    """One SELECT.

    `rows`: what FROM and WHERE let through. `output`: what it returns, after grouping, DISTINCT
    and LIMIT. `attributes`: all that belong to it; others are those of blocks around it, of one
    value for each run. `unknown` lists what could not be resolved (`absent` those of it that the
    catalog certainly lacks, `ambiguous` those that several sources have, `unresolved` holds the
    attributes that stand for it); facts that need it are not claimed. `is_regrouped`: ROLLUP and
    the like make more groups than `group` tells. `holds_aggregate`: a query inside has an
    aggregate of its columns. `is_merge_known`: which columns USING and NATURAL merged.
    """

    select: exp.Select
    outer: "Block | None"
    sources: list[Source] = field(default_factory=list)
    rows: Relation = field(default_factory=lambda: Relation(ids=0))
    where: Predicate = TRUE
    group: int | None = None
    is_regrouped: bool = False
    holds_aggregate: bool = False
    aggregates: list[Aggregate] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    output: Relation = field(default_factory=lambda: Relation(ids=0))
    columns: dict[int, Found] = field(default_factory=dict)
    merged: list[Merged] = field(default_factory=list)
    is_merge_known: bool = True
    attributes: int = 0
    subqueries: list["Query"] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    absent: dict[str, exp.Table | exp.Column] = field(default_factory=dict)
    ambiguous: dict[str, tuple[exp.Column, tuple[Source, ...]]] = field(default_factory=dict)
    unresolved: dict[tuple[str, str], int] = field(default_factory=dict)
    literals: list[exp.Column] = field(default_factory=list)
    correlated: bool = False
    borrowed: int = 0  # how often an inner block used one of its columns
    visible: int | None = None  # how many sources a bare name may mean: within ON, not all
    in_outputs: bool = False  # whether names are read where no output's alias is known yet

    @property
    def is_aggregate(self) -> bool:
        """Whether rows are put together: GROUP BY, or an aggregate without it."""
        return self.group is not None or bool(self.aggregates) or self.holds_aggregate

    @property
    def is_distinct(self) -> bool:
        """Whether it is a SELECT DISTINCT (ON included)."""
        return bool(self.select.args.get("distinct"))

    @property
    def is_cut(self) -> bool:
        """Whether LIMIT or OFFSET cuts its rows."""
        return bool(self.select.args.get("limit") or self.select.args.get("offset"))

    def source(self, alias: str) -> Source | None:
        """The source of that alias, case ignored."""
        folded = alias.casefold()
        return next((s for s in self.sources if s.alias.casefold() == folded), None)


@dataclass(slots=True, eq=False)
class Query:
    """A query expression: one block, or a set operation over several.

    `mixed`: columns whose values SQLite may convert where another query reads this one.
    """

    node: exp.Expr
    relation: Relation
    columns: list[tuple[str, int]]
    complete: bool = True
    mixed: int = 0
    block: Block | None = None
    branches: tuple["Query", ...] = ()
    definitions: list["Query"] = field(default_factory=list)

    def blocks(self) -> Iterator[Block]:
        """Every block, this query's own first, then what it reads and asks."""
        if self.block is not None:
            yield self.block
            for source in self.block.sources:
                if source.query is not None:
                    yield from source.query.blocks()
            for query in self.block.subqueries:
                yield from query.blocks()
        for branch in self.branches:
            yield from branch.blocks()
