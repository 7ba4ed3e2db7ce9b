"""From a finding to the query that measures it: which rows of the entity the block sees.

The query lists the identity of the entity's row (and the group) for every row of FROM and
WHERE. How many there are against how many different ones is the factor by which rows repeat.
"""

from dataclasses import dataclass

from sqlglot import exp

from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.columns import is_volatile
from modularsql.multiplicity.model import Block, Query, Source
from modularsql.multiplicity.registry import Issue

_DROPPED = ("distinct", "group", "having", "order", "limit", "offset", "qualify", "windows", "hint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A query over `columns` columns; its rows against its distinct rows are the factor."""

    sql: str
    columns: int


def entity_rows(issue: Issue, query: Query, dialect: str) -> Measurement | None:
    """The measuring query of an issue; None where its entity has no identity to count by.

    A block that depends on the row of an outer query, or is drawn by chance, is not measured.
    """
    block = issue.block
    if block.correlated or not issue.entity or is_volatile(block.select):
        return None
    identity = [part for source in issue.entity for part in _identity(source) or [exp.Null()]]
    if any(isinstance(part, exp.Null) for part in identity):
        return None
    columns = [*identity, *_groups(block)] if issue.within else identity
    select = bare(block.select, columns)
    for source in issue.entity:
        if source.optional:
            present = (_identity(source) or [exp.null()])[0].copy()
            select.where(exp.not_(present.is_(exp.null())), append=True, copy=False)
    with_definitions(select, query)
    return Measurement(sql=select.sql(dialect=dialect, comments=False), columns=len(columns))


def bare(select: exp.Select, columns: list[exp.Expr]) -> exp.Select:
    """The same FROM and WHERE, with these columns and nothing that groups, orders or cuts."""
    copy = select.copy()
    for clause in _DROPPED:
        copy.set(clause, None)
    copy.set("expressions", columns)
    return copy


def with_definitions(select: exp.Select, query: Query) -> None:
    """Give a probe the CTEs of the whole query: its block may read what is defined on top."""
    clause = query.node.args.get("with_")
    if clause is not None and select.args.get("with_") is None:
        select.set("with_", clause.copy())


def _identity(source: Source) -> list[exp.Expr] | None:
    """Columns that tell a source's rows apart: its row id, else a key; None where it has none."""
    table = source.table
    if table is not None and table.row_id:
        return [exp.column(table.row_id, table=exp.to_identifier(source.alias, quoted=True))]
    names = _key(source)
    if names is None:
        return None
    return [exp.column(name, table=source.alias, quoted=True) for name in names]


def _key(source: Source) -> list[str] | None:
    if source.table is not None:
        key = next((k for k in source.table.keys if not k.null_distinct), None)
        return list(key.columns) if key else None
    if not source.columns or source.relation.is_key(union(source.columns.values())) is None:
        return None
    return list(source.columns)


def _groups(block: Block) -> list[exp.Expr]:
    group = block.select.args.get("group")
    found: list[exp.Expr] = []
    for expression in group.expressions if group else ():
        if isinstance(expression, exp.Literal):
            at = int(expression.this) - 1
            found.append(block.select.expressions[at].unalias().copy())
        else:
            found.append(_behind_alias(expression, block).copy())
    return found


def _behind_alias(expression: exp.Expr, block: Block) -> exp.Expr:
    if isinstance(expression, exp.Column) and id(expression) not in block.columns:
        for item in block.select.expressions:
            if item.alias and item.alias.casefold() == expression.name.casefold():
                behind: exp.Expr = item.unalias()
                return behind
    return expression
