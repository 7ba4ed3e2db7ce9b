"""Names of a query that mean nothing, or several things: no database with that schema would run it.

Only what is certain is told (`Block.absent`, `Block.ambiguous`). Tables of the engine itself are in
no schema file, and some names without parentheses are functions.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches

from sqlglot import exp

from modularsql.catalog import Catalog
from modularsql.guard import findings as say
from modularsql.multiplicity.model import UNNAMED, Block, Query, Source
from modularsql.multiplicity.rewrites.edits import bare_column, column, declared
from modularsql.multiplicity.words import names
from modularsql.records import Failure, Finding
from modularsql.sql.dialects import dialect_of
from modularsql.sql.parse import begins_at
from modularsql.sql.statement import Statement

_MOST = 8  # names that a message lists


def absent(query: Query, statement: Statement, catalog: Catalog) -> dict[str, Finding]:
    """An error for each name that is not there or not clear, by what `Block.unknown` calls it."""
    found: dict[str, Finding] = {}
    for block in query.blocks():
        for what, node, finding in _told(block, statement, catalog):
            if not _is_own(node, catalog.dialect):
                found.setdefault(what, finding)
    return found


def explained(
    rejected: Finding, failure: Failure, query: Query, statement: Statement, catalog: Catalog
) -> Finding:
    """What a database rejects, with its place and more words where it is for a name in it."""
    for block in query.blocks():
        for _, node, finding in _told(block, statement, catalog):
            if any(_names(failure.message, part.name) for part in node.parts):
                near = finding.measured.get("nearest")
                words = f"Did you mean {near}?" if near else finding.message
                if not near and not finding.tables:  # nothing that the database did not say
                    words = _there(node, block, catalog)
                stop = "" if rejected.message.endswith(("!", "?")) else "."
                return replace(
                    rejected,
                    message=f"{rejected.message}{stop} {words}" if words else rejected.message,
                    line=finding.line,
                    column=finding.column,
                    tables=finding.tables,
                )
    return rejected


def _there(node: exp.Table | exp.Column, block: Block, catalog: Catalog) -> str:
    """The names that could have been meant, the first of them; empty where there are none."""
    if isinstance(node, exp.Table):
        what, known = "There are", [table.name for table in catalog]
    elif node.table and _source(node, block) is None:
        what, known = "FROM has", [source.alias for source in block.sources]
    else:
        what, known = "There are", _columns(node, block)
    more = f" and {len(known) - _MOST:,} more" if len(known) > _MOST else ""
    return f"{what} {', '.join(known[:_MOST])}{more}." if known else ""


def _names(message: str, name: str) -> bool:
    """Whether a message has the name, and not only as a part of another word."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message, re.IGNORECASE) is not None


def _told(
    block: Block, statement: Statement, catalog: Catalog
) -> Iterator[tuple[str, exp.Table | exp.Column, Finding]]:
    for what, node in block.absent.items():
        place = statement.place(begins_at(node))
        if isinstance(node, exp.Table):
            name = ".".join(part.name for part in node.parts)
            yield what, node, say.unknown_table(name, _near_table(node, catalog), place)
        else:
            lacks_source = node.table and _source(node, block) is None
            tell = _unknown_source if lacks_source else _unknown_column
            yield what, node, tell(node, block, catalog, place)
    for what, (node, sources) in block.ambiguous.items():
        place = statement.place(begins_at(node))
        homes = [(names((s,), block), _qualified(s, node.name, catalog)) for s in sources]
        yield what, node, say.ambiguous_column(node.name, homes, place)


def _unknown_source(node: exp.Column, block: Block, catalog: Catalog, place: say.Place) -> Finding:
    """The name before the dot is that of nothing in FROM."""
    is_table = catalog.table(node.table) is not None
    called = {name.casefold(): s for s in reversed(block.sources) for name in (s.name, s.alias)}
    # Who names another table rightly does not mean one that is called nearly so.
    likely = node.table.casefold() if is_table else _near(node.table, list(called))
    meant, name = called.get(likely or ""), node.name.casefold()
    may_have = meant is not None and (name in meant.columns or not meant.complete)
    home = meant if may_have else _home(node, block)
    near = None
    if home is not None:
        near = _qualified(home, node.name, catalog)
    elif meant is not None and (known := _near(node.name, _spelled(meant))):
        near = _qualified(meant, known, catalog)
    return say.unknown_source(node.table, node.name, near, place, is_table=is_table)


def _unknown_column(node: exp.Column, block: Block, catalog: Catalog, place: say.Place) -> Finding:
    name = ".".join(part.name for part in node.parts)
    if (home := _home(node, block)) is not None:
        return say.unknown_column(name, _qualified(home, node.name, catalog), place)
    near = _near(node.name, _columns(node, block))
    if near is None:
        return say.unknown_column(name, None, place)
    homes = [s for s in _sources(node, block) if near.casefold() in s.columns]
    if node.table or len(homes) > 1:
        return say.unknown_column(name, _qualified(homes[0], near, catalog), place)
    return say.unknown_column(name, bare_column(homes[0], near, catalog.dialect), place)


def _near_table(node: exp.Table, catalog: Catalog) -> str | None:
    """A table of nearly that name, first of the schema that is named; as SQL."""
    inside = [t for t in catalog if node.db and t.schema.casefold() == node.db.casefold()]
    for tables in (inside, list(catalog)):
        known = {table.name: table for table in reversed(tables)}
        near = known.get(_near(node.name, list(known)) or "")
        if near is not None:
            is_far = near.schema not in catalog.homes and any(
                t.schema != near.schema for t in catalog
            )
            parts = (near.schema, near.name) if near in inside or is_far else (near.name,)
            return ".".join(declared(part, catalog.dialect) for part in parts)
    return None


def _qualified(source: Source, name: str, catalog: Catalog) -> str:
    """A column as SQL, with the name of its source if that has one."""
    return (column if source.alias else bare_column)(source, name, catalog.dialect)


def _sources(node: exp.Column, block: Block) -> Sequence[Source]:
    """What a column can be of: its table, or all that is read."""
    source = _source(node, block)
    return block.sources if source is None else (source,)


def _columns(node: exp.Column, block: Block) -> list[str]:
    """The columns that a name can be of."""
    return list(dict.fromkeys(c for source in _sources(node, block) for c in _spelled(source)))


def _home(node: exp.Column, block: Block) -> Source | None:
    """The first other source that has a column of that name."""
    own, name = _source(node, block), node.name.casefold()
    return next((s for s in block.sources if s is not own and name in s.columns), None)


def _source(node: exp.Column, block: Block | None) -> Source | None:
    """What the name before the dot is that of, in the block or in one around it."""
    while block is not None and node.table:
        if (source := block.source(node.table)) is not None:
            return source
        block = block.outer
    return None


def _near(name: str, known: list[str]) -> str | None:
    folded = {one.casefold(): one for one in known}
    return next((folded[n] for n in get_close_matches(name.casefold(), folded, n=1)), None)


def _spelled(source: Source) -> list[str]:
    """A source's columns, as its table spells them, without the engine's own row identity."""
    table = source.table
    known = {column.name.casefold(): column.name for column in table.columns} if table else {}
    row_id = (table.row_id or "").casefold() if table else ""
    spelled = (name for name in source.columns if name != row_id and not name.startswith(UNNAMED))
    return [known.get(name, name) for name in spelled]


def _is_own(node: exp.Table | exp.Column, dialect: str) -> bool:
    name, reads = node.name.casefold(), dialect_of(dialect)
    if isinstance(node, exp.Table):
        is_file = node.this.args.get("quoted") and ("." in name or "/" in name)
        return name.startswith(reads.own_tables) or bool(is_file)
    # `x -> x + 1`, and units in functions that sqlglot does not know, read as columns.
    inside = node.find_ancestor(exp.Lambda, exp.Query)
    is_word = reads.words_in_calls and isinstance(node.parent, exp.Anonymous)
    if node.arg_key == "field" and isinstance(node.parent, exp.In):
        return True  # SQLite's `x IN t`: a table
    own = not node.table and name in reads.own_words
    return own or is_word or isinstance(inside, exp.Lambda)
