"""Words for messages: tables and joins as a data analyst calls them."""

from collections.abc import Sequence

from sqlglot import exp

from modularsql.multiplicity.columns import conjuncts
from modularsql.multiplicity.model import Block, Source
from modularsql.sql.quote import quoted

_MOST = 90  # characters of SQL in a message
_TABLES = 5


def names(sources: Sequence[Source], block: Block | None = None) -> str:
    """`orders`, `orders and lines`, `orders, lines and tags`; never empty.

    With the block, a table that it reads twice is called by its alias too: `staff (boss)`.
    """
    called = list(dict.fromkeys(_name(source, block) for source in sources))
    if len(called) < 2:
        return "".join(called) or "the query"
    if len(called) > _TABLES:
        called = [*called[: _TABLES - 1], f"{len(called) - _TABLES + 1} more"]
    return ", ".join(called[:-1]) + " and " + called[-1]


def _name(source: Source, block: Block | None) -> str:
    twice = block is not None and sum(s.name == source.name for s in block.sources) > 1
    return f"{source.name} ({source.alias})" if twice else source.name or "the subquery"


def rows_of(sources: Sequence[Source], block: Block | None = None) -> str:
    """Rows of an entity: `a row of orders`, `a pair of rows of orders and tags`."""
    what = "a row of" if len(sources) < 2 else "a combination of rows of"
    return f"{what} {names(sources, block)}"


def does(verb: str, sure: bool) -> str:
    """`adds` where the schema speaks for it, `may add` where only the data can tell."""
    if sure:
        return verb
    stem = verb[:-3] + "y" if verb.endswith("ies") else verb[:-1]
    return f"may {stem}"


def text(node: exp.Expr, most: int = _MOST) -> str:
    """SQL as it was written, in one line, cut where it is long."""
    sql = quoted(node)
    return sql if len(sql) <= most else sql[: most - 1].rstrip() + "…"


def join_of(block: Block, source: Source) -> str:
    """How a source is joined, in brackets: ` (p.inv_id = i.inv_id)`; empty where it is not."""
    join = source.join
    if join is not None and join.args.get("using"):
        using = ", ".join(name.name for name in join.args["using"])
        return f" (same {using})"
    where = block.select.args.get("where")
    conditions = [*conjuncts(join.args.get("on") if join is not None else None)]
    conditions += conjuncts(where.this if where else None)
    for condition in conditions:
        homes = [block.columns.get(id(column)) for column in condition.find_all(exp.Column)]
        used = {id(home[0]) for home in homes if home is not None}
        if id(source) in used and len(used) > 1:
            return f" ({text(condition)})"
    return ""
