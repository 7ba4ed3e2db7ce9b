"""One thing in FROM: a table, a CTE, a derived table, VALUES, or what nothing is known of."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from modularsql.catalog import UNSURE, Column, Table
from modularsql.multiplicity.algebra import GRADES, Dependency, Relation, opaque, union
from modularsql.multiplicity.columns import whole_number
from modularsql.multiplicity.context import Context, Definition, Scope
from modularsql.multiplicity.model import UNNAMED, Block, Query, Source
from modularsql.multiplicity.names import mark_correlated
from modularsql.multiplicity.views import view_query


def source_of(node: exp.Expr, scope: Scope, block: Block, context: Context) -> Source:
    """What stands in FROM, with its columns and what is known of its rows."""
    if node.args.get("pivots"):
        return _unknown(node, block, context, "a pivot")
    if isinstance(node, exp.Final):  # of ClickHouse: the last version of each row
        source = source_of(node.this, scope, block, context)
        source.node = node
        return source
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        definition = None if node.db else scope.get(node.name.casefold())
        if definition is not None:
            return _of_definition(node, definition, block, context)
        table = _table(node, context)
        if table is not None:
            if _holds_versions(node):
                table = replace(table, keys=(), row_id=None, definition=None)
            if table.kind == "view":
                return _of_view(node, table, block, context)
            return _of_table(node, table, context)
        what = f"the table {node.name}"
        if _is_absent(node, context):
            block.absent[what] = node
        return _unknown(node, block, context, what)
    query = node
    if isinstance(node, exp.Lateral) and node.args.get("cross_apply") is not False:
        query = node.this  # but not of OUTER APPLY, which pads
    if isinstance(query, exp.Subquery) and isinstance(query.this, exp.Query):
        # Other databases let a derived table use what stands before it, some without LATERAL.
        outer = block if context.reads.derived_sees_siblings else block.outer
        before = block.borrowed
        read = _read(query, scope, outer, block, context)
        source = _of_query(node, read, _column_names(node), block, context)
        source.lateral = block.borrowed > before
        return source
    if isinstance(node, exp.Values):
        read = _read(node, scope, None, block, context)
        return _of_query(node, read, _column_names(node), block, context)
    what = f"{type(node).__name__.lower()} in FROM"
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Func):
        call = node.this.sql(context.dialect).partition("(")[0]
        what = f"the rows of {call.lower()}()"
    return _unknown(node, block, context, what)


def _read(
    query: exp.Expr, scope: Scope, outer: Block | None, block: Block, context: Context
) -> Query | None:
    """The query, with the block that reads it marked where the query depends on blocks around."""
    around = []
    level = block.outer
    while level is not None:
        around.append((level, level.borrowed))
        level = level.outer
    read = context.read(query, scope, outer)
    for level, before in around:
        if level.borrowed > before:
            mark_correlated(block, level)
    return read


def _holds_versions(node: exp.Table) -> bool:
    """Whether rows come back as they were at several times: no key tells these apart."""
    version = node.args.get("version")
    return bool(node.args.get("changes")) or (
        version is not None and version.text("kind") != "AS OF"
    )


def _table(node: exp.Table, context: Context) -> Table | None:
    """The table of that name; None where it is not known, or not known which one it is."""
    found = context.catalog.meant(node.name, node.db)
    # A name of three parts may be in a database that the catalog does not describe.
    known = len(found) == 1 and not node.catalog and bool(found[0].columns)
    return found[0] if known else None


def _is_absent(node: exp.Table, context: Context) -> bool:
    """Whether no table has that name, and its schema, if named, is one that is known.

    Where it is not known in which schemas a bare name is looked up, none of them has it.
    """
    name, schema, catalog = node.name.casefold(), node.db.casefold(), context.catalog
    known = {"", *catalog.homes, *(table.schema.casefold() for table in catalog)}
    if node.catalog or schema not in known or not catalog.tables:
        return False
    if catalog.path:
        return not catalog.meant(name, schema)
    return all(table.name.casefold() != name for table in catalog)


def _of_definition(
    node: exp.Expr, definition: Definition, block: Block, context: Context
) -> Source:
    if definition.busy:
        definition.recursive = True
        return _unknown(node, block, context, f"the recursive {node.name}")
    definition.busy = True
    query = _read(definition.query, definition.scope, definition.outer, block, context)
    definition.busy = False
    if query is not None and definition.recursive:
        _forget(query, context)
    return _of_query(node, query, _column_names(node) or definition.names, block, context)


def _forget(query: Query, context: Context) -> None:
    """A recursive query's rows come from many rounds: only that UNION drops repeats is known."""
    columns = union(attribute for _, attribute in query.columns)
    identity = context.attributes.new("row of a recursive query")
    query.relation = opaque(identity, columns)
    drops = isinstance(query.node, exp.Union) and query.node.args.get("distinct") is not False
    if drops and query.complete:
        query.relation = query.relation.with_dependency(Dependency(columns, identity))


def _column_names(node: exp.Expr) -> list[str]:
    """The names that `AS t(a, b)` gives to columns, folded."""
    alias = node.args.get("alias")
    names = alias.args.get("columns") or () if isinstance(alias, exp.TableAlias) else ()
    return [column.name.casefold() for column in names]


def _of_query(
    node: exp.Expr, query: Query | None, names: list[str], block: Block, context: Context
) -> Source:
    if query is None:
        return _unknown(node, block, context, f"the query {node.alias_or_name}")
    columns: dict[str, int] = {}
    relation = query.relation
    # Names by position mean nothing where a star stands for nobody knows how many columns.
    known = query.columns if query.complete or not names else []
    for number, (name, attribute) in enumerate(known):
        given = names[number] if number < len(names) else name.casefold()
        if not given or given in columns:
            given = f"{UNNAMED}{number}"
        if attribute & context.mixed:
            attribute = context.attributes.new(name)
            context.mixed |= attribute
            relation = relation.with_attribute(attribute)
        if attribute:
            columns[given] = attribute
    return Source(
        alias=node.alias_or_name,
        node=node,
        relation=replace(relation, own=relation.own | union(columns.values())),
        columns=columns,
        complete=query.complete,
        query=query,
    )


def _of_view(node: exp.Expr, view: Table, block: Block, context: Context) -> Source:
    """A view, read through its definition; where that cannot be, only its columns are known."""
    names = [column.name.casefold() for column in view.columns]
    query = _definition(view, context)
    if query is not None and (not query.complete or len(query.columns) != len(names)):
        query = None
    if query is None or any(inner.unknown for inner in query.blocks()):
        block.unknown.append(f"the rows of the view {view.name}")
    if query is None:
        # What the database lists as their types need not be what they hold.
        columns = tuple(Column(name=column.name, collation=UNSURE) for column in view.columns)
        source = _of_table(node, replace(view, columns=columns, row_id=None), context)
        # Which of them SQLite converts where they are read is not known either.
        if context.reads.affinities:
            context.mixed |= union(source.columns.values())
        return source
    given = _column_names(node)
    called = [*given, *names[len(given) :]]
    source = _of_query(node, query, called, block, context)
    source.table, source.query, source.view = view, None, query
    known = source.columns
    by_name = {n: known[c] for n, c in zip(names, called, strict=False) if c in known}
    said = _keys(view, by_name, source.relation.ids, source.relation.not_null)
    source.relation = source.relation.with_dependency(*said)
    return source


def _definition(view: Table, context: Context) -> Query | None:
    """The query of a view; None where it does not parse or reads itself.

    In a schema that is not searched, a name that several schemas have may mean another table
    than it does elsewhere.
    """
    name = f"{view.schema}.{view.name}".casefold()
    tree = view_query(view, context.dialect)
    if tree is None or name in context.open_views:
        return None
    if view.schema not in context.catalog.homes and not _is_clear(tree, context):
        return None
    context.open_views.add(name)
    query = context.read(tree, {}, None)
    context.open_views.discard(name)
    return query


def _is_clear(tree: exp.Expr, context: Context) -> bool:
    """Whether each table is named with its schema, or no other schema has one of its name."""
    names = Counter(table.name.casefold() for table in context.catalog.tables)
    return all(table.db or names[table.name.casefold()] < 2 for table in tree.find_all(exp.Table))


def _of_table(node: exp.Expr, table: Table, context: Context) -> Source:
    new, alias = context.attributes.new, node.alias_or_name
    identity = new(f"row of {alias}")
    given = _column_names(node)
    names = [column.name.casefold() for column in table.columns]
    attributes = context.attributes.several(column.name for column in table.columns)
    by_column = list(zip(attributes, table.columns, strict=True))
    context.declared.update(by_column)
    not_null = union(attribute for attribute, column in by_column if not column.nullable)
    # Names that differ in case alone: which one is meant depends on the database.
    is_clear = len(set(names)) == len(names)
    called = (
        [*given, *names[len(given) :]] if is_clear else [f"{UNNAMED}{n}" for n in range(len(names))]
    )
    columns = dict(zip(called, attributes, strict=False))
    whole = union(attributes)
    dependencies, own = [Dependency(identity, whole)], identity | whole
    if table.row_id and table.row_id not in columns:
        row_id = columns[table.row_id] = new(f"{alias}.{table.row_id}")
        context.note(row_id, whole_number(context.dialect))
        not_null |= row_id
        dependencies += [Dependency(row_id, identity), Dependency(identity, row_id)]
        own |= row_id
    if is_clear:
        dependencies += _keys(table, dict(zip(names, attributes, strict=True)), identity, not_null)
    relation = Relation(ids=identity, dependencies=tuple(dependencies), not_null=not_null, own=own)
    return Source(
        alias=alias, node=node, relation=relation, columns=columns, complete=is_clear, table=table
    )


def _keys(
    table: Table, columns: dict[str, int], identity: int, not_null: int
) -> Iterator[Dependency]:
    solid = {c.name.casefold(): c.not_null for c in table.columns if c.not_null is not None}
    for key in table.keys:
        names = [name.casefold() for name in key.columns]
        if not names or not all(name in columns for name in names):
            continue
        attributes, grade = union(columns[name] for name in names), GRADES.index(key.evidence)
        guard = attributes & ~not_null if key.null_distinct else 0
        yield Dependency(attributes, identity, grade, guard)
        # It needs no guard against NULLs that are only said not to be there, with less evidence.
        said = [name for name in names if guard & columns[name] and name in solid]
        if said:
            grade = max(grade, *(GRADES.index(solid[name]) for name in said))
            guard &= ~union(columns[name] for name in said)
            yield Dependency(attributes, identity, grade, guard)


def _unknown(node: exp.Expr, block: Block, context: Context, what: str) -> Source:
    block.unknown.append(what)
    alias = node.alias_or_name
    relation = opaque(context.attributes.new(f"row of {alias}"), 0)
    return Source(alias=alias, node=node, relation=relation, columns={}, complete=False)
