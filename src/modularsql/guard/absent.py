"""Names of a query that mean nothing, or several things: no database with that schema would run it.

Only what is certain is told (`Block.absent`, `Block.ambiguous`). Tables of the engine itself are in
no schema file, and some names without parentheses are functions.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches

from sqlglot import exp

from modularsql.catalog import Catalog
from modularsql.guard import findings as say
from modularsql.multiplicity.model import Block, Query, Source
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
            near = _near(node.name, [table.name for table in catalog])
            yield what, node, say.unknown_table(name, near, place)
        else:
            lacks_source = node.table and _source(node, block) is None
            tell = _unknown_source if lacks_source else _unknown_column
            yield what, node, tell(node, block, catalog, place)
    for what, (column, sources) in block.ambiguous.items():
        place = statement.place(begins_at(column))
        homes = [(names((source,), block), f"{source.alias}.{column.name}") for source in sources]
        yield what, column, say.ambiguous_column(column.name, homes, place)


def _unknown_source(node: exp.Column, block: Block, catalog: Catalog, place: say.Place) -> Finding:
    """The name before the dot is that of nothing in FROM."""
    home = _home(node, block)
    near = home.alias if home else _near(node.table, [s.alias for s in block.sources])
    return say.unknown_source(
        node.table,
        node.name,
        near and f"{near}.{node.name}",
        place,
        is_table=catalog.table(node.table) is not None,
    )


def _unknown_column(node: exp.Column, block: Block, catalog: Catalog, place: say.Place) -> Finding:
    name = ".".join(part.name for part in node.parts)
    if (home := _home(node, block)) is not None:
        return say.unknown_column(name, f"{home.alias}.{node.name}", place)
    near = _near(node.name, _columns(node, block))
    return say.unknown_column(
        name, near and (f"{node.table}.{near}" if node.table else near), place
    )


def _columns(node: exp.Column, block: Block) -> list[str]:
    """The columns that a name can be of: those of its table, or of all that are read."""
    source = _source(node, block)
    sources = block.sources if source is None else (source,)
    return list(dict.fromkeys(column for one in sources for column in _spelled(one)))


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
    return [known.get(name, name) for name in source.columns if name != row_id]


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
