"""Which source and attribute a column name means, in its own block or in one around it."""

from sqlglot import exp

from modularsql.multiplicity.columns import own_columns
from modularsql.multiplicity.context import Context
from modularsql.multiplicity.model import Block, Source

Found = tuple[Source, str, int]


def resolve(column: exp.Column, block: Block, context: Context) -> int:
    """The attribute of a column; 0 where it cannot be resolved (noted in `block.unknown`).

    In SQLite a double-quoted name that is no column is a string: then 0, noted in
    `block.literals`.
    """
    known = block.columns.get(id(column))
    if known is not None:
        return known[2]
    level: Block | None = block
    while level is not None:
        found = _in_block(column, level)
        if found is not None:
            block.columns[id(column)] = found
            if level is not block:
                _mark_correlated(block, level)
            return found[2]
        if _may_be_elsewhere(column, level):
            break
        level = level.outer
    if _is_string(column, context):
        block.literals.append(column)
    else:
        block.unknown.append(f"the column {column.sql()}")
    return 0


def resolve_all(expression: exp.Expr, block: Block, context: Context) -> int:
    """All attributes an expression uses outside its subqueries."""
    result = 0
    for column in own_columns(expression):
        result |= resolve(column, block, context)
    return result


def sources_of(expression: exp.Expr, block: Block) -> tuple[Source, ...]:
    """The block's own sources that an expression uses, in the order of FROM; after `resolve`."""
    used = {
        id(block.columns[id(column)][0])
        for column in own_columns(expression)
        if id(column) in block.columns
    }
    return tuple(source for source in block.sources if id(source) in used)


def _in_block(column: exp.Column, block: Block) -> Found | None:
    name = column.name.casefold()
    if column.table:
        source = block.source(column.table)
        if source is None or name not in source.columns:
            return None
        return source, name, source.columns[name]
    for source in block.sources:
        if name in source.columns:
            return source, name, source.columns[name]
    return None


def _may_be_elsewhere(column: exp.Column, block: Block) -> bool:
    """Whether a source whose columns are not all known could have it: then nobody else has."""
    if column.table:
        return block.source(column.table) is not None
    return any(not source.complete for source in block.sources)


def _mark_correlated(block: Block, home: Block) -> None:
    level: Block | None = block
    while level is not None and level is not home:
        level.correlated = True
        level = level.outer


def _is_string(column: exp.Column, context: Context) -> bool:
    quoted = isinstance(column.this, exp.Identifier) and column.this.args.get("quoted")
    return context.dialect == "sqlite" and bool(quoted) and not column.table
