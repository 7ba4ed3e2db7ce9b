"""The columns of a view, as far as its query tells them without running it.

A view has no key here: what its rows repeat is for the analysis of its query to say, which comes
along as text.
"""

from sqlglot import exp

from modularsql.catalog import Catalog, Column, Table
from modularsql.declared.ddl_script import View
from modularsql.declared.facts import unsaid
from modularsql.sql.parse import Unparsed, parse_text


def read_view(view: View, catalog: Catalog) -> Table:
    """The view as a table; `problem` says why its columns are not known."""
    tree = parse_text(view.query, catalog.dialect)
    if isinstance(tree, Unparsed):
        return _opaque(view, tree.reason)
    if view.columns:
        columns = [Column(name=name) for name in view.columns]
        found = _columns(tree, catalog)
        if isinstance(found, list) and len(found) == len(columns):
            columns = [_as(f, name) for f, name in zip(found, view.columns, strict=True)]
        return _table(view, columns)
    found = _columns(tree, catalog)
    return _opaque(view, found) if isinstance(found, str) else _table(view, found)


def _table(view: View, columns: list[Column]) -> Table:
    return Table(
        name=view.name,
        schema=view.schema,
        kind="view",
        columns=tuple(columns),
        definition=view.query,
    )


def _opaque(view: View, why: str) -> Table:
    columns = tuple(Column(name=name) for name in view.columns)
    problem = None if columns else f"its columns are not known: {why}"
    return Table(name=view.name, schema=view.schema, kind="view", columns=columns, problem=problem)


def _columns(tree: exp.Expr, catalog: Catalog) -> list[Column] | str:
    """The output columns, or why they are not known.

    A set operation takes its names from the left side; its types are nobody's alone.
    """
    if isinstance(tree, exp.SetOperation):
        left = _columns(tree.this, catalog)
        return left if isinstance(left, str) else [Column(name=column.name) for column in left]
    if isinstance(tree, exp.Subquery):
        return _columns(tree.this, catalog)
    if not isinstance(tree, exp.Select):
        return "it is no SELECT"
    sources = _sources(tree, catalog)
    columns: list[Column] = []
    for projection in tree.expressions:
        inner = projection.unalias()
        if projection.is_star:
            qualifier = inner.table if isinstance(inner, exp.Column) else ""
            tables = [t for alias, t in sources.items() if qualifier.casefold() in ("", alias)]
            if not tables or any(t is None or not t.columns for t in tables):
                return f"{projection.sql(catalog.dialect)} is over what was not read"
            columns += [unsaid(c) for t in tables if t for c in t.columns]
        elif not isinstance(projection, exp.Alias | exp.Column):
            return f"{inner.sql(catalog.dialect)} has no name of its own"
        else:
            column = _origin(inner, sources) or Column(name="")
            columns.append(_as(column, projection.alias_or_name))
    if len({column.name.casefold() for column in columns}) < len(columns):
        return "two of them have the same name"
    return [_as(column, column.name) for column in columns]


def _sources(tree: exp.Select, catalog: Catalog) -> dict[str, Table | None]:
    """What FROM reads by folded alias, None for what is no table of the catalog."""
    with_ = tree.args.get("with_")
    own = {cte.alias.casefold() for cte in with_.expressions} if with_ else set()
    nodes = [tree.args["from_"].this] if tree.args.get("from_") else []
    nodes += [join.this for join in tree.args.get("joins") or ()]
    found: dict[str, Table | None] = {}
    for node in nodes:
        plain = isinstance(node, exp.Table) and not node.args.get("joins")
        known = plain and not (node.name.casefold() in own and not node.db)
        table = catalog.table(node.name, node.db or None) if known else None
        found[node.alias_or_name.casefold()] = table
    return found


def _origin(expression: exp.Expr, sources: dict[str, Table | None]) -> Column | None:
    """The base column that an output column is, if it is one and it is clear which."""
    if not isinstance(expression, exp.Column):
        return None
    if expression.table:
        table = sources.get(expression.table.casefold())
        return table.column(expression.name) if table else None
    if None in sources.values():
        return None
    found = [c for t in sources.values() if t and (c := t.column(expression.name))]
    return found[0] if len(found) == 1 else None


def _as(column: Column, name: str) -> Column:
    """Its type and collation under another name; joins and set operations may bring NULLs."""
    return Column(name=name, type=column.type, collation=column.collation)
