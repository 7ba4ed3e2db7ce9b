"""Which source and attribute a column name means, in its own block or in one around it.

A bare name that several sources have is an error in most databases, unless USING or NATURAL made
one column of it; which one a database would take is not guessed.
"""

from collections.abc import Sequence
from enum import Enum, auto

from sqlglot import exp

from modularsql.multiplicity.columns import own_columns
from modularsql.multiplicity.context import Context
from modularsql.multiplicity.model import UNNAMED, Block, Found, JoinKind, Source

_ROW_IDS = frozenset({"rowid", "oid", "_rowid_"})


class Doubt(Enum):
    """Why a name was not found in a block."""

    ABSENT = auto()  # the block has no such name: one around it may
    UNSURE = auto()  # it belongs to this block, but what it means cannot be told
    ALIAS = auto()  # it names an output that is no column
    MISSING = auto()  # its table is of this block, and has no such column
    AMBIGUOUS = auto()  # several tables of this block have it


def resolve(column: exp.Column, block: Block, context: Context) -> int:
    """The attribute of a column; 0 for a string in double quotes, noted in `block.literals`.

    What cannot be resolved is noted in `block.unknown`, and gets an attribute that nothing but
    the whole row determines. In SQLite a double-quoted name that is no column is a string.
    """
    known = block.columns.get(id(column))
    if known is not None:
        return known[2]
    level: Block | None = block
    while level is not None:
        found = _in_block(column, level, context)
        if found is not Doubt.ABSENT:
            if level is not block:
                mark_correlated(block, level)
            if isinstance(found, Doubt):
                return _unresolved(column, block, level, context, found)
            block.columns[id(column)] = found
            return found[2]
        level = level.outer
    if _is_string(column, context):
        if not any(column is literal for literal in block.literals):
            block.literals.append(column)
        return 0
    return _unresolved(column, block, block, context, Doubt.ABSENT)


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


def suppliers(expression: exp.Expr, block: Block) -> tuple[Source, ...]:
    """The sources an expression uses, and those it may use: by columns that nobody knows.

    `t.x` of a source whose columns are not known is a column of it, and so is a bare name that is
    its own (`unnest(tags) AS t`); any other name may be of each source that is not known.
    """
    known = sources_of(expression, block)
    literals = {id(literal) for literal in block.literals}
    found = {id(source) for source in known}
    for column in own_columns(expression):
        if id(column) not in block.columns and id(column) not in literals:
            found |= {id(source) for source in _may_be_of(column, block)}
    return tuple(source for source in block.sources if id(source) in found)


def _may_be_of(column: exp.Column, block: Block) -> list[Source]:
    name = (column.table or column.name).casefold()
    own = [source for source in block.sources if source.alias.casefold() == name]
    return own or [source for source in block.sources if not source.complete]


def named(name: str, sources: Sequence[Source], block: Block) -> list[Found]:
    """All that a bare (folded) name may mean among some sources; merged columns count once."""
    found, covered = [], set[int]()
    for merged in block.merged:
        if merged.name == name and any(source in sources for source in merged.sources):
            found.append(merged.found)
            covered.update(map(id, merged.sources))
    found += [
        (source, name, source.columns[name])
        for source in sources
        if name in source.columns and id(source) not in covered
    ]
    return found


def _in_block(column: exp.Column, block: Block, context: Context) -> Found | Doubt:
    name = column.name.casefold()
    if not column.table:
        return _bare(name, block, context)
    table = column.table.casefold()
    sources = [source for source in block.sources if source.alias.casefold() == table]
    if db := column.text("db").casefold():
        inside = [source for source in sources if _schema(source) in ("", db)]
        if sources and not inside:
            return Doubt.ABSENT if _is_of_outer(table, db, block) else Doubt.UNSURE
        sources = inside
    if len(sources) == 1:
        source = sources[0]
        is_whole = source.complete and not _has_unnamed(source)
        return _of_source(name, source) or (Doubt.MISSING if is_whole else Doubt.UNSURE)
    if sources or db:
        return Doubt.UNSURE
    # Elsewhere than in SQLite `a.b` may be the field `b` of a column `a`.
    is_field = context.reads.dotted_may_be_field and any(table in s.columns for s in block.sources)
    return Doubt.UNSURE if is_field else Doubt.ABSENT


def _schema(source: Source) -> str:
    """The schema of a table, folded; empty where it is not known, or there is none."""
    if source.table is not None:
        return source.table.schema.casefold()
    return source.node.text("db").casefold() if isinstance(source.node, exp.Table) else ""


def _is_of_outer(table: str, schema: str, block: Block) -> bool:
    """Whether a block around has the table of that schema: `schema.table.x` is a column of it."""
    while block.outer is not None:
        block = block.outer
        if any(s.alias.casefold() == table and _schema(s) == schema for s in block.sources):
            return True
    return False


def _of_source(name: str, source: Source) -> Found | None:
    """What a name means in one source; SQLite knows the row id by three names."""
    row_id = source.table.row_id if source.table else None
    if name not in source.columns and name in _ROW_IDS and row_id in source.columns:
        name = row_id
    return (source, name, source.columns[name]) if name in source.columns else None


def _bare(name: str, block: Block, context: Context) -> Found | Doubt:
    last = len(block.sources) if block.visible is None else block.visible
    # The right side of a semi join is seen in its own ON only.
    seen = [
        source
        for number, source in enumerate(block.sources[:last])
        if source.kind != JoinKind.SEMI or (number == last - 1 and block.visible is not None)
    ]
    if any(_stands_for_column(source, name) for source in seen):
        return Doubt.UNSURE
    found = named(name, seen, block)
    if len(found) == 1:
        return found[0]
    if found and block.is_merge_known and name not in _ROW_IDS:
        return Doubt.AMBIGUOUS
    if found or any(_of_source(name, source) for source in block.sources):
        is_row_id = not found and len(block.sources) == 1
        return (_of_source(name, block.sources[0]) if is_row_id else None) or Doubt.UNSURE
    alias = _alias(name, block)
    if alias is not None and block.in_outputs:
        # SQLite does not look there for it, others may.
        alias = exp.Null() if context.reads.aliases_beside else None
    if isinstance(alias, exp.Column) and not alias.table:
        found = named(alias.name.casefold(), seen, block)
        return found[0] if len(found) == 1 else Doubt.UNSURE
    if alias is not None:
        return Doubt.ALIAS
    if any(not s.complete or _has_unnamed(s) for s in block.sources):
        return Doubt.UNSURE
    # Elsewhere than in SQLite the name of a source may stand for its row.
    if context.reads.source_is_row and any(s.alias.casefold() == name for s in block.sources):
        return Doubt.UNSURE
    return Doubt.ABSENT


def _stands_for_column(source: Source, name: str) -> bool:
    """Whether it is the values of an array, under its name or another (ClickHouse's ARRAY JOIN)."""
    return isinstance(source.node, exp.Column | exp.Alias) and source.alias.casefold() == name


def _alias(name: str, block: Block) -> exp.Expr | None:
    """The output of that name: most databases let WHERE or GROUP BY use it."""
    for item in block.select.expressions:
        if isinstance(item, exp.Alias) and item.alias.casefold() == name:
            return item.unalias()
    return None


def _has_unnamed(source: Source) -> bool:
    return source.query is not None and any(n.startswith(UNNAMED) for n in source.columns)


def _unresolved(
    column: exp.Column, block: Block, home: Block, context: Context, doubt: Doubt
) -> int:
    """An attribute that stands for a column of `home`, the block itself or one around it."""
    key = (column.table.casefold(), column.name.casefold())
    attribute = block.unresolved.get(key)
    if attribute is None:
        attribute = block.unresolved[key] = context.attributes.new(column.sql())
        home.attributes |= attribute
        what = f"the column {column.sql()}"
        if doubt is not Doubt.ALIAS:
            block.unknown.append(what)
        if doubt in (Doubt.ABSENT, Doubt.MISSING) and column.name.casefold() not in _ROW_IDS:
            block.absent[what] = column
    if doubt is Doubt.AMBIGUOUS and _is_of_tables(column):
        name = column.name.casefold()
        found = tuple(source for source in home.sources if name in source.columns)
        block.ambiguous.setdefault(f"the column {column.sql()}", (column, found))
    return attribute


def _is_of_tables(column: exp.Column) -> bool:
    """Whether it stands where a name means a column of FROM before it means an output."""
    node: exp.Expr = column
    while node.parent is not None and not isinstance(node.parent, exp.Select):
        node = node.parent
    return node.arg_key in ("expressions", "where", "joins")


def mark_correlated(block: Block, home: Block) -> None:
    """Note that a block uses a column of a block around it."""
    home.borrowed += 1
    level: Block | None = block
    while level is not None and level is not home:
        level.correlated = True
        level = level.outer


def _is_string(column: exp.Column, context: Context) -> bool:
    quoted = isinstance(column.this, exp.Identifier) and column.this.args.get("quoted")
    return context.reads.unknown_quoted_is_text and bool(quoted) and not column.table
