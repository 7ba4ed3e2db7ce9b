"""Names of a query that its catalog does not have: no database with that schema would run it.

Only what is certain is told (`Block.absent`). Tables of the engine itself are in no schema file,
and some names without parentheses are functions.
"""

from difflib import get_close_matches

from sqlglot import exp

from modularsql.catalog import Catalog
from modularsql.guard import findings as say
from modularsql.multiplicity.model import Block, Query
from modularsql.records import Finding
from modularsql.sql.parse import begins_at
from modularsql.sql.statement import Statement

_OWN_TABLES = {
    "sqlite": ("sqlite_", "pragma_", "dbstat"),
    "duckdb": ("duckdb_", "pragma_", "pg_", "sqlite_"),
    "postgres": ("pg_",),
    "mysql": ("dual",),
}
"""How the names of an engine's own tables begin."""

_OWN_COLUMNS = {
    "sqlite": {"rank"},  # of a full-text search
    "duckdb": {"all", "current_role", "current_user", "rowid", "session_user", "user"},
    "postgres": {"ctid", "current_role", "current_user", "session_user", "tableoid", "user"}
    | {"cmax", "cmin", "xmax", "xmin"},
    "mysql": {"current_user"},
}
"""What an engine knows by a bare name beside columns."""


def absent(query: Query, statement: Statement, catalog: Catalog) -> dict[str, Finding]:
    """An error for each table and column that is not there, by what `Block.unknown` calls it."""
    found: dict[str, Finding] = {}
    for block in query.blocks():
        for what, node in block.absent.items():
            if _is_own(node, catalog.dialect):
                continue
            known = _tables(catalog) if isinstance(node, exp.Table) else _columns(block)
            make = say.unknown_table if isinstance(node, exp.Table) else say.unknown_column
            place = statement.place(begins_at(node))
            near = next(iter(get_close_matches(node.name, known, n=1)), None)
            name = ".".join(part.name for part in node.parts)
            found.setdefault(what, make(name, near, place))
    return found


def _is_own(node: exp.Table | exp.Column, dialect: str) -> bool:
    name = node.name.casefold()
    if isinstance(node, exp.Table):
        is_file = node.this.args.get("quoted") and ("." in name or "/" in name)
        return name.startswith(_OWN_TABLES.get(dialect, ())) or bool(is_file)
    # `x -> x + 1`, and units in functions that sqlglot does not know, read as columns.
    inside = node.find_ancestor(exp.Lambda, exp.Query)
    is_word = dialect != "sqlite" and isinstance(node.parent, exp.Anonymous)
    if node.arg_key == "field" and isinstance(node.parent, exp.In):
        return True  # SQLite's `x IN t`: a table
    own = not node.table and name in _OWN_COLUMNS.get(dialect, ())
    return own or is_word or isinstance(inside, exp.Lambda)


def _tables(catalog: Catalog) -> list[str]:
    return [table.name for table in catalog]


def _columns(block: Block) -> list[str]:
    return [name for source in block.sources for name in source.columns]
