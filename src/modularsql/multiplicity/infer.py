"""Facts for every relation of a query, bottom up (docs/design/multiplicity.md, section 1).

Names are resolved here, against the catalog, because sqlglot's own resolver stops at the first
name it does not know. What cannot be resolved is listed in `Block.unknown`, and nothing that
needs it is claimed.
"""

from sqlglot import exp

from modularsql.catalog import Catalog
from modularsql.multiplicity.algebra import (
    TRUE,
    Dependency,
    Predicate,
    Relation,
    filtered,
    grouped,
    only_row,
    opaque,
    union,
)
from modularsql.multiplicity.columns import bare, conjuncts, makes_rows, own_columns, own_parts
from modularsql.multiplicity.context import Context, Definition, Scope
from modularsql.multiplicity.from_clause import read_from
from modularsql.multiplicity.model import Block, Output, Query
from modularsql.multiplicity.names import resolve_all
from modularsql.multiplicity.outputs import read_groups, read_outputs, row_number
from modularsql.multiplicity.predicates import predicate
from modularsql.multiplicity.set_operations import combined

# A CTE is read anew wherever it is used, since each use has rows of its own; a query that uses
# CTEs of CTEs many times over would grow without end.
_MOST_QUERIES = 300
_ONE = exp.Literal.number(1)


def infer(tree: exp.Expr, catalog: Catalog) -> Query | None:
    """The query's blocks with their facts; None for what is not a query or grows too large."""
    context = Context(
        catalog=catalog, read=lambda node, scope, outer: _query(node, scope, outer, context)
    )
    return None if isinstance(tree, exp.Values) else _query(tree, {}, None, context)


def _query(node: exp.Expr, scope: Scope, outer: Block | None, context: Context) -> Query | None:
    context.blocks += 1
    if context.blocks > _MOST_QUERIES:
        return None
    scope = _with_definitions(node, scope, outer, context)
    if isinstance(node, exp.Subquery):
        inner = _query(node.this, scope, outer, context)
        return inner and _cut(inner, node)
    if isinstance(node, exp.Select):
        return _of_block(_block(node, scope, outer, context), context)
    if isinstance(node, exp.SetOperation):
        left = _query(node.this, scope, outer, context)
        right = _query(node.expression, scope, outer, context)
        whole = left and right and combined(node, left, right, context)
        return whole and _cut(whole, node)
    return _values(node, context) if isinstance(node, exp.Values) else None


def _values(node: exp.Values, context: Context) -> Query:
    """VALUES as a query: its columns have names only where it is read."""
    first = node.expressions[0] if node.expressions else exp.Tuple()
    width = len(first.expressions) if isinstance(first, exp.Tuple) else 1
    columns = context.attributes.several("" for _ in range(width))
    relation = opaque(context.attributes.new("row of VALUES"), union(columns))
    return Query(
        node=node,
        relation=only_row(relation) if len(node.expressions) == 1 else relation,
        columns=[("", column) for column in columns],
    )


def _with_definitions(node: exp.Expr, scope: Scope, outer: Block | None, context: Context) -> Scope:
    clause = node.args.get("with_")
    if clause is None:
        return scope
    scope = dict(scope)
    # Under RECURSIVE a CTE sees itself and those after it; in SQLite it always does.
    sees_all = bool(clause.args.get("recursive")) or context.reads.cte_sees_all
    for cte in clause.expressions:
        names = [column.name.casefold() for column in cte.args["alias"].args.get("columns") or ()]
        seen = scope if sees_all else dict(scope)
        scope[cte.alias.casefold()] = Definition(cte.this, names, seen, outer)
    return scope


def _of_block(block: Block, context: Context) -> Query:
    return Query(
        node=block.select,
        relation=block.output,
        columns=[(output.name, output.attribute) for output in block.outputs],
        complete=not any(output.name == "*" for output in block.outputs),
        mixed=union(output.attribute for output in block.outputs) & context.mixed,
        block=block,
    )


def _cut(query: Query, node: exp.Expr) -> Query:
    if _is_one(node.args.get("limit")):
        query.relation = only_row(query.relation)
    return query


def _is_one(limit: exp.Expr | None) -> bool:
    """Whether a LIMIT leaves at most one row: no per cent, no ties, not one for each group."""
    if limit is None or limit.expressions:
        return False
    options = limit.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        return False
    return limit.args.get("count" if isinstance(limit, exp.Fetch) else "expression") == _ONE


def _block(select: exp.Select, scope: Scope, outer: Block | None, context: Context) -> Block:
    block = Block(select=select, outer=outer)
    read_from(block, scope, context)
    read_outputs(block, context)
    read_groups(block, context)
    for clause in ("having", "order", "qualify"):
        if select.args.get(clause) is not None:
            _resolve_but_aliases(select.args[clause], block, context)
    _read_subqueries(block, scope, context)
    block.output = _output(block, context)
    return block


def _resolve_but_aliases(clause: exp.Expr, block: Block, context: Context) -> None:
    """HAVING and ORDER BY may use the names of outputs."""
    names = {output.name.casefold() for output in block.outputs}
    for part in own_parts(clause):
        if isinstance(part, exp.Column) and (part.table or part.name.casefold() not in names):
            resolve_all(part, block, context)


def _read_subqueries(block: Block, scope: Scope, context: Context) -> None:
    """Queries in expressions: in WHERE, in the outputs, in ON."""
    for name, clause in block.select.args.items():
        if name in ("with_", "from_") or not clause:
            continue
        block.in_outputs = name == "expressions"
        parts = clause if isinstance(clause, list) else [clause]
        for part in parts:
            if isinstance(part, exp.Join):
                part = part.args.get("on")
            if not isinstance(part, exp.Expr):
                continue
            for node in own_parts(part):
                if isinstance(node, exp.Query):
                    query = _query(node, scope, block, context)
                    if query is not None:
                        block.subqueries.append(query)
    block.in_outputs = False


def _output(block: Block, context: Context) -> Relation:
    """From the rows of FROM and WHERE to what the block returns."""
    relation = block.rows
    outputs = union(output.attribute for output in block.outputs)
    if block.is_aggregate:
        identity = context.attributes.new("group")
        if block.is_regrouped:
            outputs = _apart(block, context)
            relation = opaque(identity, outputs)
        else:
            relation = grouped(relation, block.group or 0, identity, outputs)
            relation = filtered(relation, _having(block, context))
    relation = _first_of_each(block, relation, context)
    if any(makes_rows(output.expression) for output in block.outputs):
        block.unknown.append("the rows that an output makes of one")
        relation = opaque(context.attributes.new("made row"), outputs)
    if block.is_distinct:
        relation = _distinct(block, relation, outputs, context)
    return only_row(relation) if _is_one(block.select.args.get("limit")) else relation


def _apart(block: Block, context: Context) -> int:
    """Attributes for the outputs of ROLLUP: of two that show one column, one may be NULL."""
    found = 0
    for output in block.outputs:
        if output.attribute & found:
            output.attribute = context.attributes.new(output.name)
        found |= output.attribute
    return found


def _having(block: Block, context: Context) -> Predicate:
    """What HAVING says of columns; where a name may be an output's instead, nothing."""
    clause = block.select.args.get("having")
    result = TRUE
    for part in conjuncts(clause.this if clause else None):
        columns = [column for column in own_columns(part) if not column.table]
        named = {column.name.casefold() for column in columns}
        if not any(o.name.casefold() in named and not _is_itself(o) for o in block.outputs):
            result &= predicate(part, block, context)
    return result


def _is_itself(output: Output) -> bool:
    """Whether an output is a column under its own name."""
    column = output.expression
    return isinstance(column, exp.Column) and column.name.casefold() == output.name.casefold()


def _first_of_each(block: Block, relation: Relation, context: Context) -> Relation:
    """QUALIFY ROW_NUMBER() OVER (PARTITION BY p) = 1 leaves one row for each p."""
    qualify = block.select.args.get("qualify")
    for part in conjuncts(qualify.this if qualify else None):
        if isinstance(part, exp.EQ) and isinstance(bare(part.expression), exp.Literal):
            window = bare(part.this)
            named = (o for o in block.outputs if o.name.casefold() == window.name.casefold())
            if isinstance(window, exp.Column) and not window.table:
                output = next(named, None)
                window = output.expression if output else window
            partition = row_number(window, block, context)
            if partition is not None:
                relation = relation.with_dependency(Dependency(partition, relation.ids))
    return relation


def _distinct(block: Block, relation: Relation, outputs: int, context: Context) -> Relation:
    on = block.select.args["distinct"].args.get("on")
    by = outputs if on is None else _distinct_on(on, block, context)
    if not by or (on is None and any(output.name == "*" for output in block.outputs)):
        return relation
    return grouped(relation, by, context.attributes.new("distinct row"), outputs)


def _distinct_on(on: exp.Expr, block: Block, context: Context) -> int:
    """The attributes of DISTINCT ON; 0 where one is no plain column."""
    by = 0
    for key in on.expressions:
        names = [output.name.casefold() for output in block.outputs]
        # A name that is an output's too may mean that one.
        if not isinstance(key, exp.Column) or (not key.table and key.name.casefold() in names):
            same = [o for o in block.outputs if o.expression == key and o.name == key.name]
            if not same:
                return 0
        by |= resolve_all(key, block, context) & block.attributes
    return by
