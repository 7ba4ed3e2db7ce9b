"""What a block returns: its columns, aggregates and groups."""

from sqlglot import exp

from modularsql.multiplicity.algebra import Dependency, union
from modularsql.multiplicity.columns import is_volatile, own_parts
from modularsql.multiplicity.context import Context
from modularsql.multiplicity.model import Aggregate, Block, Output, Source
from modularsql.multiplicity.names import resolve, resolve_all, sources_of

_ALL = "*"
_MORE_AGGREGATES = frozenset(
    "total group_concat string_agg json_group_array json_group_object jsonb_group_array "
    "jsonb_group_object list listagg array_agg median mode product fsum favg kahan_sum".split()
)


def read_outputs(block: Block, context: Context) -> None:
    """Fill `block.outputs`; stars become the columns they stand for, where these are known."""
    for item in block.select.expressions:
        expression = item.unalias()
        if isinstance(expression, exp.Star):
            for source in block.sources:
                _add_all(block, source)
        elif isinstance(expression, exp.Column) and isinstance(expression.this, exp.Star):
            named = block.source(expression.table)
            if named is not None:
                _add_all(block, named)
        else:
            block.outputs.append(_output(item, expression, block, context))


def _add_all(block: Block, source: Source) -> None:
    hidden = source.table.row_id if source.table else None
    for name, attribute in source.columns.items():
        if name != hidden:
            expression = exp.column(name, table=source.alias, quoted=True)
            block.columns[id(expression)] = (source, name, attribute)
            block.outputs.append(_of(name, expression, attribute, attribute, (source,)))
    if not source.complete:
        block.outputs.append(_of(_ALL, source.node, 0, 0, (source,)))


def _of(
    name: str, expression: exp.Expr, attribute: int, mentioned: int, sources: tuple[Source, ...]
) -> Output:
    return Output(
        name=name,
        expression=expression,
        attribute=attribute,
        mentioned=mentioned,
        sources=sources,
    )


def _output(item: exp.Expr, expression: exp.Expr, block: Block, context: Context) -> Output:
    mentioned = resolve_all(expression, block, context)
    attribute = 0
    if isinstance(expression, exp.Column):
        attribute = resolve(expression, block, context)
    if not attribute:
        attribute = context.attributes.new(item.alias_or_name or expression.sql())
        if _is_determined(expression):
            block.rows = block.rows.with_dependency(Dependency(mentioned, attribute))
        elif (partition := row_number(expression, block, context)) is not None:
            key = Dependency(partition | attribute, block.rows.ids)
            block.rows = block.rows.with_dependency(key)
        block.rows = block.rows.with_dependency(Dependency(block.rows.ids, attribute))
    sources = sources_of(expression, block)
    return _of(item.alias_or_name, expression, attribute, mentioned, sources)


def _is_determined(expression: exp.Expr) -> bool:
    """Whether the columns it uses settle its value: no aggregate, window, subquery or chance."""
    outside = (exp.AggFunc, exp.Window, exp.Query, exp.Anonymous)
    inside = any(isinstance(part, outside) for part in own_parts(expression))
    return not inside and not is_volatile(expression)


def row_number(expression: exp.Expr, block: Block, context: Context) -> int | None:
    """The partition of a ROW_NUMBER(): within it the numbers differ; None for anything else."""
    if not isinstance(expression, exp.Window) or not isinstance(expression.this, exp.RowNumber):
        return None
    parts = expression.args.get("partition_by") or []
    if not all(isinstance(part, exp.Column) for part in parts):
        return None
    attributes = [resolve(part, block, context) for part in parts]
    return union(attributes) if all(attributes) else None


def read_groups(block: Block, context: Context) -> None:
    """Fill `block.group` and `block.aggregates`."""
    for clause in (block.select.expressions, _clause(block, "having"), _clause(block, "order")):
        for expression in clause:
            for part in _outside_windows(expression):
                if is_aggregate(part):
                    block.aggregates.append(_aggregate(part, block, context))
    group = block.select.args.get("group")
    if group is None:
        return
    block.group = 0
    if any(group.args.get(kind) for kind in ("rollup", "cube", "grouping_sets", "all", "totals")):
        block.unknown.append("the groups of ROLLUP, CUBE or GROUPING SETS")
    for expression in group.expressions:
        block.group |= _group_key(expression, block, context)


def _clause(block: Block, name: str) -> list[exp.Expr]:
    clause = block.select.args.get(name)
    return [] if clause is None else [clause]


def _group_key(expression: exp.Expr, block: Block, context: Context) -> int:
    """The attribute of one GROUP BY term: a column, a position, an alias or an expression."""
    if isinstance(expression, exp.Literal) and not expression.is_string:
        at = int(expression.this) - 1
        return block.outputs[at].attribute if 0 <= at < len(block.outputs) else 0
    for output in block.outputs:
        if output.expression == expression or _is_alias(expression, output, block):
            return output.attribute
    if isinstance(expression, exp.Column):
        return resolve(expression, block, context)
    mentioned = resolve_all(expression, block, context)
    attribute = context.attributes.new(expression.sql())
    if _is_determined(expression):
        block.rows = block.rows.with_dependency(Dependency(mentioned, attribute))
    block.rows = block.rows.with_dependency(Dependency(block.rows.ids, attribute))
    return attribute


def _is_alias(expression: exp.Expr, output: Output, block: Block) -> bool:
    """Whether a name in GROUP BY is an output's: a column of that name would come first."""
    if not isinstance(expression, exp.Column) or expression.table:
        return False
    name = expression.name.casefold()
    return output.name.casefold() == name and not any(name in s.columns for s in block.sources)


def is_aggregate(part: exp.Expr) -> bool:
    """Whether a part puts rows together, by sqlglot's classes or by name."""
    if isinstance(part, exp.AggFunc):
        return True
    return isinstance(part, exp.Anonymous) and part.name.lower() in _MORE_AGGREGATES


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
