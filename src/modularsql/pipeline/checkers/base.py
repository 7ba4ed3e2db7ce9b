"""A checker looks at one candidate and says what to mend, or nothing. It calls no model.

It reads the tree and the catalog, and may ask the database a small question (`Case.any_row`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from modularsql.catalog import Catalog, Column, Table
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.model import Block, Query
from modularsql.pipeline.reading import read_query, tree_of
from modularsql.ports import Engine, Outcome
from modularsql.records import Limits
from modularsql.rows import Rows
from modularsql.sql.statement import Statement


@dataclass(frozen=True, kw_only=True)
class Case:
    """A candidate with what is known of it; the tree and the analysis are made when first asked.

    `values` says whether a directive, which a model reads, may quote the data.
    """

    sql: str
    outcome: Outcome
    catalog: Catalog
    engine: Engine
    limits: Limits
    question: str = ""
    values: bool = True

    @cached_property
    def statement(self) -> Statement | None:
        """The statement with its parsed tree, None where our parser does not understand it."""
        return read_query(self.sql, self.catalog.dialect)

    @property
    def tree(self) -> exp.Expr | None:
        """The parsed query."""
        return tree_of(self.statement)

    @cached_property
    def query(self) -> Query | None:
        """The query with its names resolved, None where that cannot be done."""
        return infer(self.tree, self.catalog) if self.tree is not None else None

    def blocks(self) -> Iterator[Block]:
        """Every SELECT of it; none where it is not understood."""
        return self.query.blocks() if self.query is not None else iter(())

    def any_row(self, select: exp.Select) -> bool | None:
        """Whether a small query returns a row; None where it does not run."""
        outcome = self.engine.execute(
            select.limit(1).sql(dialect=self.catalog.dialect), limits=self.limits
        )
        return bool(outcome.rows) if isinstance(outcome, Rows) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checker:
    """`check` returns a directive for the model, or None. `profile`: only under that profile."""

    name: str
    check: Callable[[Case], str | None]
    profile: str = ""


def base_column(block: Block, node: exp.Expr) -> tuple[Table, Column] | None:
    """The column of a base table that an expression is; None for anything else."""
    found = block.columns.get(id(node.unnest()))
    if found is None or found[0].table is None:
        return None
    column = found[0].table.column(found[1])
    return (found[0].table, column) if column is not None else None
