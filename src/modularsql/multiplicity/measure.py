"""From a finding to the query that measures it: which rows of the entity the block sees.

The query lists the identity of the entity's row (and the group) for every row of FROM and
WHERE. How many there are against how many different ones is the factor by which rows repeat.
"""

from dataclasses import dataclass

from sqlglot import exp

from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.bound import written_out
from modularsql.multiplicity.columns import is_volatile
from modularsql.multiplicity.model import Block, Query, Source
from modularsql.multiplicity.registry import Issue

_DROPPED = ("distinct", "group", "having", "order", "limit", "offset", "qualify", "windows", "hint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A query over `columns` columns; its rows against its distinct rows are the factor."""

    sql: str
    columns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRows:
    """A SELECT of `columns`, which tell the rows of an entity apart, within groups where asked."""

    select: exp.Select
    columns: list[exp.Expr]


def entity_rows(issue: Issue, query: Query, dialect: str) -> Measurement | None:
    """The measuring query of an issue; None where its entity has no identity to count by."""
    rows = measured_rows(issue, query)
    if rows is None:
        return None
    return Measurement(sql=written_out(rows.select, dialect), columns=len(rows.columns))


def measured_rows(issue: Issue, query: Query) -> EntityRows | None:
    """The rows of an issue's entity that FROM and WHERE let through, as often as they occur.

    A block that depends on the row of an outer query, or is drawn by chance, is not measured.
    """
    block = issue.block
    if block.correlated or not issue.entity or is_volatile(block.select):
        return None
    identity = [part for source in issue.entity for part in identity_of(source) or [exp.Null()]]
    if any(isinstance(part, exp.Null) for part in identity):
        return None
    columns = [*identity, *(g.copy() for g in groups_of(block))] if issue.within else identity
    select = bare(block.select, columns)
    for source in issue.entity:
        if source.optional:
            present = (identity_of(source) or [exp.null()])[0].copy()
            select.where(exp.not_(present.is_(exp.null())), append=True, copy=False)
    with_definitions(select, query)
    return EntityRows(select=select, columns=columns)


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


def identity_of(source: Source) -> list[exp.Expr] | None:
    """Columns that tell a source's rows apart: its row id, else a key; None where it has none."""
    if source.filled:
        return None
    table = source.table
    if table is not None and table.row_id:
        return [source.column(table.row_id, quoted=False)]
    names = _key(source)
    if names is None:
        return None
    return [source.column(name) for name in names]


def key_of(source: Source) -> list[str] | None:
    """Names of columns by which people know a source's rows: a key, else the row id."""
    table = source.table
    return _key(source) or ([table.row_id] if table is not None and table.row_id else None)


def _key(source: Source) -> list[str] | None:
    if source.table is not None:
        key = next((k for k in source.table.keys if not k.null_distinct), None)
        return list(key.columns) if key else None
    if not source.columns or source.relation.is_key(union(source.columns.values())) is None:
        return None
    names = list(source.columns)
    for name in reversed(source.columns):
        fewer = [other for other in names if other != name]
        if fewer and source.relation.is_key(union(source.columns[n] for n in fewer)) is not None:
            names = fewer
    return names


def groups_of(block: Block) -> list[exp.Expr]:
    """The terms of GROUP BY; a position or an alias becomes what it stands for."""
    group = block.select.args.get("group")
    return [_meant(term, block) for term in (group.expressions if group else ())]


def _meant(term: exp.Expr, block: Block) -> exp.Expr:
    if isinstance(term, exp.Literal) and term.is_int and int(term.this) <= len(block.outputs):
        return block.outputs[int(term.this) - 1].expression
    if isinstance(term, exp.Column) and id(term) not in block.columns:
        name = term.name.casefold()
        return next((o.expression for o in block.outputs if o.name.casefold() == name), term)
    return term
