"""What a block returns: its columns, aggregates and groups."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.algebra import Dependency, union
from modularsql.multiplicity.columns import (
    Kind,
    bare,
    is_determined,
    is_volatile,
    own_columns,
    own_parts,
    value_kind,
)
from modularsql.multiplicity.context import Context
from modularsql.multiplicity.model import UNNAMED, Aggregate, Block, JoinKind, Output, Source
from modularsql.multiplicity.names import resolve, resolve_all, sources_of
from modularsql.sql.aggregates import is_aggregate

_ALL = "*"


def read_outputs(block: Block, context: Context) -> None:
    """Fill `block.outputs`; stars become the columns they stand for, where these are known."""
    block.in_outputs = True
    for item in block.select.expressions:
        expression = item.unalias()
        star = expression.this if isinstance(expression, exp.Column) else expression
        if isinstance(star, exp.Star):
            owner = block.source(expression.table) if star is not expression else None
            _add_star(star, owner, star is expression, block, context)
        elif any(isinstance(part, exp.Columns) for part in own_parts(expression)):
            _add_unknown(block, expression, tuple(block.sources))
        else:
            block.outputs.append(_output(item, expression, block, context))
    block.in_outputs = False


def _add_star(
    star: exp.Star, owner: Source | None, is_bare: bool, block: Block, context: Context
) -> None:
    if any(star.args.values()) or not (owner or is_bare):
        # EXCLUDE, REPLACE; a table that is not there
        _add_unknown(block, star, (owner,) if owner else tuple(block.sources))
    elif owner is not None:
        for name, attribute in owner.columns.items():
            if context.reads.merged_is_coalesced and _is_coalesced(name, attribute, owner, block):
                attribute = _fresh(owner.node, block, context)
                block.rows = block.rows.with_attribute(attribute)
            _add(name, attribute, owner, block)
        if not owner.complete:
            _add_unknown(block, owner.node, (owner,))
    else:
        _add_all(block, context)


def _is_coalesced(name: str, attribute: int, owner: Source, block: Block) -> bool:
    """Whether USING made another column of it: SQLite's `t.*` after a RIGHT or FULL JOIN may show
    that one, where `t.name` is the table's own."""
    return any(
        merged.name == name and owner in merged.sources and merged.found[2] != attribute
        for merged in block.merged
    )


def _add_all(block: Block, context: Context) -> None:
    """Every column of FROM, those that USING merged once."""
    sources = [source for source in block.sources if source.kind != JoinKind.SEMI]
    shown: set[int] = set()
    merged = {(id(s), m.name): m for m in block.merged for s in m.sources}
    # The standard puts merged columns first; SQLite and DuckDB leave them where they stand.
    if context.reads.merged_first:
        for one in block.merged:
            _add(one.name, one.found[2], one.found[0], block)
            shown.add(id(one))
    for source in sources:
        for name, attribute in source.columns.items():
            entry = merged.get((id(source), name))
            if entry is None:
                _add(name, attribute, source, block)
            elif id(entry) not in shown:
                shown.add(id(entry))
                _add(name, entry.found[2], entry.found[0], block)
        if not source.complete or not block.is_merge_known:
            _add_unknown(block, source.node, (source,))


def _add(name: str, attribute: int, source: Source, block: Block) -> None:
    if source.table is None or name != source.table.row_id:
        expression = source.column(name)
        block.columns[id(expression)] = (source, name, attribute)
        shown = "" if name.startswith(UNNAMED) else name
        block.outputs.append(Output(shown, expression, attribute, attribute, (source,)))


def _add_unknown(block: Block, expression: exp.Expr, sources: tuple[Source, ...]) -> None:
    """An output that stands for columns nobody knows."""
    block.outputs.append(Output(_ALL, expression, 0, 0, sources))


def _output(item: exp.Expr, expression: exp.Expr, block: Block, context: Context) -> Output:
    mentioned = resolve_all(expression, block, context)
    attribute = resolve(expression, block, context) if isinstance(expression, exp.Column) else 0
    if not attribute & block.attributes:
        attribute = _computed(expression, block, context)
    # The database names what has no alias; a guess could be taken for another column.
    name = item.alias or (expression.name if isinstance(expression, exp.Column) else "")
    return Output(name, expression, attribute, mentioned, sources_of(expression, block))


def _fresh(expression: exp.Expr, block: Block, context: Context) -> int:
    """An attribute that nothing settles yet."""
    attribute = context.attributes.new(expression.key)
    block.attributes |= attribute
    return attribute


def _computed(expression: exp.Expr, block: Block, context: Context) -> int:
    """A fresh attribute for the value of an expression, with what settles it."""
    mentioned = resolve_all(expression, block, context) & block.attributes
    attribute = _fresh(expression, block, context)
    context.note(attribute, _kind(expression, block, context))
    if is_volatile(expression):
        return attribute  # SQLite may work it out anew wherever it is named
    found = []
    if is_determined(expression) and not context.fragile(mentioned):
        found.append(Dependency(mentioned, attribute))
    partition = row_number(expression, block, context)
    if partition is not None:
        found.append(Dependency(partition | attribute, block.rows.ids))
    block.rows = block.rows.with_attribute(attribute, *found)
    return attribute


def _kind(expression: exp.Expr, block: Block, context: Context) -> Kind | None:
    """How the values of an expression compare, where that is plain."""
    if isinstance(expression, exp.Window):
        expression = expression.this
    if isinstance(expression, exp.Max | exp.Min) and isinstance(expression.this, exp.Column):
        kind = context.kind(resolve(expression.this, block, context))
        return kind if kind and kind.collation is None else None
    return value_kind(expression, context.dialect)


def row_number(expression: exp.Expr, block: Block, context: Context) -> int | None:
    """The partition of a ROW_NUMBER(): within it the numbers differ; None for anything else."""
    if not isinstance(expression, exp.Window) or not isinstance(expression.this, exp.RowNumber):
        return None
    if expression.args.get("alias"):
        return None  # a window defined elsewhere
    parts = expression.args.get("partition_by") or []
    if not all(isinstance(part, exp.Column) for part in parts):
        return None
    return union(resolve(part, block, context) for part in parts) & block.attributes


def read_groups(block: Block, context: Context) -> None:
    """Fill `block.group` and `block.aggregates`."""
    for clause in ("expressions", "having", "order", "qualify"):
        value = block.select.args.get(clause) or []
        for expression in value if isinstance(value, list) else [value]:
            for part in _outside_windows(expression):
                if is_aggregate(part) and not _is_of_outer(part, block, context):
                    block.aggregates.append(_aggregate(part, block, context))
    group = block.select.args.get("group")
    if group is not None:
        block.group = _group(group, block, context)


def _group(group: exp.Group, block: Block, context: Context) -> int:
    several = (exp.Rollup, exp.Cube, exp.GroupingSets)
    kinds = ("rollup", "cube", "grouping_sets", "totals")
    terms = list(_terms(group.expressions))
    if group.args.get("all"):
        return _all_but_aggregates(block)
    if any(group.args.get(k) for k in kinds) or any(isinstance(t, several) for t in terms):
        block.unknown.append("the groups of ROLLUP, CUBE or GROUPING SETS")
        block.is_regrouped = True
    return union(_group_key(t, block, context) for t in terms if not isinstance(t, several))


def _all_but_aggregates(block: Block) -> int:
    """GROUP BY ALL: every output without an aggregate."""
    if any(output.name == _ALL for output in block.outputs):
        block.unknown.append("the groups of GROUP BY ALL")
        block.is_regrouped = True
    return union(
        output.attribute
        for output in block.outputs
        if not any(is_aggregate(part) for part in own_parts(output.expression))
    )


def _terms(expressions: list[exp.Expr]) -> Iterator[exp.Expr]:
    """GROUP BY (a, b) is GROUP BY a, b."""
    for expression in expressions:
        if isinstance(expression, exp.Tuple):
            yield from _terms(expression.expressions)
        else:
            yield bare(expression)


def _group_key(expression: exp.Expr, block: Block, context: Context) -> int:
    """The attribute of one GROUP BY term: a column, a position, an alias or an expression."""
    if isinstance(expression, exp.Literal) and not expression.is_string:
        at = int(expression.this) - 1 if expression.is_int else -1
        is_known = not any(output.name == _ALL for output in block.outputs)
        if is_known and 0 <= at < len(block.outputs):
            return block.outputs[at].attribute
        block.unknown.append(f"the output {expression.this} in GROUP BY")
        return _fresh(expression, block, context)
    if is_volatile(expression):
        return _fresh(expression, block, context)
    for output in block.outputs:
        if output.expression == expression or _is_alias(expression, output, block):
            return output.attribute
    if isinstance(expression, exp.Column):
        attribute = resolve(expression, block, context)
        if attribute:
            return attribute
    return _computed(expression, block, context)


def _is_alias(expression: exp.Expr, output: Output, block: Block) -> bool:
    """Whether a name in GROUP BY is an output's: a column of that name would come first."""
    if not isinstance(expression, exp.Column) or expression.table:
        return False
    name = expression.name.casefold()
    if output.name.casefold() != name:
        return False
    return not any(name in s.columns or not s.complete for s in block.sources)


def _is_of_outer(part: exp.Expr, block: Block, context: Context) -> bool:
    """Whether all its columns are those of a block around: then that one is aggregated."""
    columns = list(own_columns(part))
    used = [resolve(column, block, context) for column in columns]
    if not used or not all(used) or union(used) & block.attributes:
        return False
    level = block.outer
    while level is not None and not union(used) & level.attributes:
        level = level.outer
    if level is not None:
        level.holds_aggregate = True
    return True


def _outside_windows(expression: exp.Expr) -> list[exp.Expr]:
    found, stack = [], [expression]
    while stack:
        node = stack.pop()
        found.append(node)
        if not isinstance(node, exp.Query | exp.Window) and not is_aggregate(node):
            stack.extend(reversed(list(node.iter_expressions())))
    return found


def _aggregate(node: exp.Expr, block: Block, context: Context) -> Aggregate:
    arguments = node.expressions if isinstance(node, exp.Anonymous) else [node.this]
    argument = arguments[0] if arguments else None
    distinct = isinstance(argument, exp.Distinct)
    if isinstance(argument, exp.Distinct) and len(argument.expressions) == 1:
        argument = argument.expressions[0]
    if isinstance(argument, exp.Star):
        argument = None
    mentioned = resolve_all(node, block, context)
    name = node.name if isinstance(node, exp.Anonymous) else node.key
    return Aggregate(
        node=node,
        kind=name.lower(),
        argument=argument,
        distinct=distinct,
        mentioned=mentioned,
        sources=sources_of(node, block),
    )
