"""FROM: what a block reads, and how its parts are joined."""

from sqlglot import exp

from modularsql.catalog import Table
from modularsql.multiplicity.algebra import (
    GRADES,
    TRUE,
    Dependency,
    Predicate,
    Relation,
    full_join,
    inner_join,
    left_join,
    only_row,
    opaque,
    union,
)
from modularsql.multiplicity.columns import kind_of
from modularsql.multiplicity.context import Context, Scope
from modularsql.multiplicity.model import Block, JoinKind, Query, Source
from modularsql.multiplicity.predicates import predicate


def read_from(block: Block, scope: Scope, context: Context) -> None:
    """Fill `block.sources`, and `block.rows` with what FROM yields."""
    clause = block.select.args.get("from_")
    if clause is None:
        block.rows = only_row(opaque(context.attributes.new("the one row"), 0))
        return
    _add(block, clause.this, None, scope, context)
    for join in block.select.args.get("joins") or ():
        _add(block, join.this, join, scope, context)
    for lateral in block.select.args.get("laterals") or ():
        _add(block, lateral, None, scope, context)
    undone = _rejected_sources(block, context)
    relation: Relation | None = None
    for number, source in enumerate(block.sources):
        before = block.sources[:number]
        source.before = relation
        if relation is not None:
            source.predicate = _on(block, source, before, context)
        source.undone = source.kind == JoinKind.LEFT and bool(undone & _columns(source))
        relation = source.after = _joined(relation, source, before)
    block.rows = relation or Relation(ids=0)


def _add(
    block: Block, node: exp.Expr, join: exp.Join | None, scope: Scope, context: Context
) -> None:
    """Append a source; joins inside parentheses become joins of the block.

    `a LEFT JOIN (b JOIN c)` is read as one source that nothing is known of, since its inner
    joins happen before the outer one.
    """
    inner = node.this if isinstance(node, exp.Subquery) else None
    joins = list(node.args.get("joins") or ())
    if isinstance(inner, exp.Table) and not node.alias:
        plain = join is None or _kind(join) == JoinKind.INNER
        if plain or not inner.args.get("joins"):
            _add(block, inner, join, scope, context)
        else:
            block.unknown.append("a join in parentheses on the side of an outer join")
            _add_nested(block, inner, join, scope, context)
    else:
        source = _source(node, scope, block, context)
        source.join, source.kind = join, _kind(join)
        block.sources.append(source)
    for more in joins:
        _add(block, more.this, more, scope, context)


def _add_nested(
    block: Block, inner: exp.Table, join: exp.Join | None, scope: Scope, context: Context
) -> None:
    """The tables of a nested join, each with its columns, none with a key."""
    tables = [inner, *(more.this for more in inner.args.get("joins") or ())]
    for number, table in enumerate(tables):
        source = _source(table, scope, block, context)
        source.relation = Relation(
            ids=source.relation.ids,
            dependencies=(Dependency(source.relation.ids, _columns(source)),),
        )
        source.join, source.kind = (join, _kind(join)) if number == 0 else (None, JoinKind.FULL)
        block.sources.append(source)


def _kind(join: exp.Join | None) -> JoinKind:
    if join is None:
        return JoinKind.INNER
    side = (join.side or "").lower()
    if side in ("left", "right", "full"):
        return JoinKind(side)
    return JoinKind.SEMI if (join.kind or "").upper() in ("SEMI", "ANTI") else JoinKind.INNER


def _columns(source: Source) -> int:
    return union(source.columns.values())


def _joined(left: Relation | None, source: Source, before: list[Source]) -> Relation:
    if left is None:
        source.kind = JoinKind.FIRST
        return source.relation
    if source.kind == JoinKind.SEMI:
        return left
    if source.kind == JoinKind.LEFT and not source.undone:
        source.optional = True
        return left_join(left, source.relation, source.predicate)
    if source.kind in (JoinKind.RIGHT, JoinKind.FULL):
        for other in before:
            other.optional = True
    if source.kind == JoinKind.RIGHT:
        return left_join(source.relation, left, source.predicate)
    if source.kind == JoinKind.FULL:
        source.optional = True
        return full_join(left, source.relation)
    return inner_join(left, source.relation, source.predicate)


def _rejected_sources(block: Block, context: Context) -> int:
    """Columns that WHERE rejects NULLs of: an outer join that pads these is undone."""
    where = block.select.args.get("where")
    if where is None or not any(s.kind == JoinKind.LEFT for s in block.sources):
        return 0
    return predicate(where.this, block, context).not_null


def _on(block: Block, source: Source, before: list[Source], context: Context) -> Predicate:
    join = source.join
    if join is None:
        return TRUE
    if join.args.get("using") or (join.args.get("method") or "").upper() == "NATURAL":
        return _by_name(block, source, before, context)
    return predicate(join.args.get("on"), block, context)


def _by_name(block: Block, source: Source, before: list[Source], context: Context) -> Predicate:
    """USING and NATURAL: equal names are equal values."""
    names = [name.name.casefold() for name in (source.join or exp.Join()).args.get("using") or ()]
    if not names:
        if not source.complete or not all(other.complete for other in before):
            block.unknown.append(f"the columns that NATURAL JOIN {source.alias} compares")
            return Predicate(opaque=True)
        names = [n for n in source.columns if any(n in other.columns for other in before)]
    result = TRUE
    for name in names:
        theirs = source.columns.get(name)
        ours = next((o.columns[name] for o in before if name in o.columns), None)
        if theirs is None or ours is None:
            block.unknown.append(f"the column {name} of USING")
            result &= Predicate(opaque=True)
            continue
        pair = ((ours, theirs),) if context.comparable(ours, theirs) else ()
        result &= Predicate(equal=pair, not_null=ours | theirs, mentioned=ours | theirs)
    return result


def _source(node: exp.Expr, scope: Scope, block: Block, context: Context) -> Source:
    alias = node.alias_or_name
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        definition = None if node.db else scope.get(node.name.casefold())
        if definition is not None and definition.recursive and _is_self(definition, node):
            return _unknown(alias, node, block, context, f"the recursive {node.name}")
        if definition is not None:
            query = context.read(definition.query, definition.scope, block.outer)
            return _of_query(alias, node, query, definition.names, context, block)
        table = context.catalog.table(node.name, node.db or None)
        if table is not None and table.columns:
            return _of_table(alias, node, table, context)
        return _unknown(alias, node, block, context, f"the table {node.name}")
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
        query = context.read(node, scope, block.outer)
        names = (
            [column.name for column in node.args["alias"].args.get("columns") or ()]
            if (node.args.get("alias"))
            else []
        )
        return _of_query(alias, node, query, names, context, block)
    return _unknown(alias, node, block, context, f"{type(node).__name__.lower()} in FROM")


def _is_self(definition: object, node: exp.Table) -> bool:
    """Whether a recursive CTE is read inside its own definition, or refers to itself at all."""
    query = definition.query  # type: ignore[attr-defined]
    return any(t.name.casefold() == node.name.casefold() for t in query.find_all(exp.Table))


def _of_table(alias: str, node: exp.Expr, table: Table, context: Context) -> Source:
    new = context.attributes.new
    identity = new(f"row of {alias}")
    columns, not_null = {}, 0
    for column in table.columns:
        attribute = columns[column.name.casefold()] = new(f"{alias}.{column.name}")
        context.kinds[attribute] = kind_of(column, context.dialect)
        not_null |= 0 if column.nullable else attribute
    dependencies = [Dependency(identity, union(columns.values()))]
    if table.row_id and table.row_id not in columns:
        row_id = columns[table.row_id] = new(f"{alias}.{table.row_id}")
        not_null |= row_id
        dependencies += [Dependency(row_id, identity), Dependency(identity, row_id)]
    for key in table.keys:
        attributes = union(columns.get(name.casefold(), 0) for name in key.columns)
        if all(name.casefold() in columns for name in key.columns):
            guard = attributes & ~not_null if key.null_distinct else 0
            grade = GRADES.index(key.evidence)
            dependencies.append(Dependency(attributes, identity, grade, guard))
    relation = Relation(ids=identity, dependencies=tuple(dependencies), not_null=not_null)
    return Source(alias=alias, node=node, relation=relation, columns=columns, table=table)


def _of_query(
    alias: str,
    node: exp.Expr,
    query: Query | None,
    names: list[str],
    context: Context,
    block: Block,
) -> Source:
    if query is None:
        return _unknown(alias, node, block, context, f"the query {alias}")
    columns: dict[str, int] = {}
    for number, (name, attribute) in enumerate(query.columns):
        given = names[number] if number < len(names) else name
        columns.setdefault(given.casefold(), attribute)
    return Source(
        alias=alias,
        node=node,
        relation=query.relation,
        columns=columns,
        complete=query.complete,
        query=query,
    )


def _unknown(alias: str, node: exp.Expr, block: Block, context: Context, what: str) -> Source:
    block.unknown.append(what)
    relation = opaque(context.attributes.new(f"row of {alias}"), 0)
    return Source(alias=alias, node=node, relation=relation, columns={}, complete=False)
