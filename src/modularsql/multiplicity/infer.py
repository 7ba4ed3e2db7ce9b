"""Facts for every relation of a query, bottom up (docs/design/multiplicity.md, section 1).

Names are resolved here, against the catalog, because sqlglot's own resolver stops at the first
name it does not know. What cannot be resolved is listed in `Block.unknown`, and nothing that
needs it is claimed.
"""

from sqlglot import exp

from modularsql.catalog import Catalog
from modularsql.multiplicity.algebra import (
    Dependency,
    Relation,
    filtered,
    grouped,
    only_row,
    opaque,
    union,
)
from modularsql.multiplicity.columns import own_parts
from modularsql.multiplicity.context import Context, Definition, Scope
from modularsql.multiplicity.from_clause import read_from
from modularsql.multiplicity.model import Block, Query
from modularsql.multiplicity.names import resolve_all
from modularsql.multiplicity.outputs import read_groups, read_outputs
from modularsql.multiplicity.predicates import predicate

# A CTE is read anew wherever it is used, since each use has rows of its own; a query that uses
# CTEs of CTEs many times over would grow without end.
_MOST_QUERIES = 300


def infer(tree: exp.Expr, catalog: Catalog) -> Query | None:
    """The query's blocks with their facts; None for what is not a query or grows too large."""
    context = Context(
        catalog=catalog, read=lambda node, scope, outer: _query(node, scope, outer, context)
    )
    return _query(tree, {}, None, context)


def _query(node: exp.Expr, scope: Scope, outer: Block | None, context: Context) -> Query | None:
    context.blocks += 1
    if context.blocks > _MOST_QUERIES:
        return None
    scope = _with_definitions(node, scope)
    if isinstance(node, exp.Subquery):
        inner = _query(node.this, scope, outer, context)
        return inner and _cut(inner, node)
    if isinstance(node, exp.Select):
        return _of_block(_block(node, scope, outer, context))
    if isinstance(node, exp.SetOperation):
        return _set_operation(node, scope, outer, context)
    return None


def _with_definitions(node: exp.Expr, scope: Scope) -> Scope:
    clause = node.args.get("with_")
    if clause is None:
        return scope
    scope = dict(scope)
    for cte in clause.expressions:
        names = [column.name for column in cte.args["alias"].args.get("columns") or ()]
        scope[cte.alias.casefold()] = Definition(
            query=cte.this,
            names=names,
            scope=dict(scope),
            recursive=bool(clause.args.get("recursive")),
        )
    return scope


def _of_block(block: Block) -> Query:
    return Query(
        node=block.select,
        relation=block.output,
        columns=[(output.name, output.attribute) for output in block.outputs],
        complete=not any(output.name == "*" for output in block.outputs),
        block=block,
    )


def _cut(query: Query, node: exp.Expr) -> Query:
    limit = node.args.get("limit")
    if isinstance(limit, exp.Limit) and limit.expression == exp.Literal.number(1):
        query.relation = only_row(query.relation)
    return query


def _set_operation(
    node: exp.SetOperation, scope: Scope, outer: Block | None, context: Context
) -> Query | None:
    left = _query(node.this, scope, outer, context)
    right = _query(node.expression, scope, outer, context)
    if left is None or right is None:
        return None
    columns = [(name, context.attributes.new(name)) for name, _ in left.columns]
    whole = union(attribute for _, attribute in columns)
    identity = context.attributes.new("row of the set operation")
    relation = opaque(identity, whole)
    complete = left.complete and right.complete
    if node.args.get("distinct") is not False and complete:
        relation = relation.with_dependency(Dependency(whole, identity))
    query = Query(
        node=node, relation=relation, columns=columns, complete=complete, branches=(left, right)
    )
    return _cut(query, node)


def _block(select: exp.Select, scope: Scope, outer: Block | None, context: Context) -> Block:
    block = Block(select=select, outer=outer)
    read_from(block, scope, context)
    where = select.args.get("where")
    if where is not None:
        block.where = predicate(where.this, block, context)
        block.rows = filtered(block.rows, block.where)
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


def _output(block: Block, context: Context) -> Relation:
    """From the rows of FROM and WHERE to what the block returns."""
    relation = block.rows
    outputs = union(output.attribute for output in block.outputs)
    if block.is_aggregate:
        identity = context.attributes.new("group")
        relation = grouped(relation, block.group or 0, identity, outputs)
        if any("ROLLUP" in reason for reason in block.unknown):
            relation = opaque(identity, outputs)
    if block.select.args.get("distinct"):
        relation = _distinct(block, relation, outputs, context)
    limit = block.select.args.get("limit")
    if isinstance(limit, exp.Limit) and limit.expression == exp.Literal.number(1):
        relation = only_row(relation)
    return relation


def _distinct(block: Block, relation: Relation, outputs: int, context: Context) -> Relation:
    on = block.select.args["distinct"].args.get("on")
    by = outputs
    if on is not None:
        keys = [resolve_all(key, block, context) for key in on.expressions]
        if not all(isinstance(key, exp.Column) for key in on.expressions) or not all(keys):
            return relation
        by = union(keys)
    elif any(output.name == "*" for output in block.outputs):
        return relation
    return (
        grouped(relation, by, context.attributes.new("distinct row"), outputs) if by else relation
    )
