"""The relations a query is made of, each as a query of its own that a database can run.

These are the query and all it reads or asks, the rows of each FROM with its WHERE, and what stands
in FROM before each of its joins. What means something only for a row of a query around it is run
for each row of that one's FROM.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from sqlglot import Dialect, exp

from modularsql.multiplicity.model import Block, Query, Source


@dataclass(frozen=True)
class Rows:
    """Rows as a query; `around` is the FROM of the query it is correlated to, with its CTEs."""

    sql: str
    around: str | None = None


class Writer:
    """Writes parts of one tree as text."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self._generator = _generator(dialect)
        self._written: dict[int, str] = {}

    def text(self, node: exp.Expr) -> str:
        """The node as SQL; not copied before, which would take most of the time."""
        if id(node) not in self._written:
            self._written[id(node)] = self._generator.generate(node, copy=False)
        return self._written[id(node)]

    def whole(self, query: Query) -> Rows | None:
        """A part of a query alone; None inside a recursive CTE, or where it hangs on two levels."""
        node = query.node
        definitions = self._definitions(node)
        if definitions is None:
            return None
        sql = self.text(node)
        if isinstance(node, exp.Values) and node.alias:
            sql = f"SELECT * FROM {sql}"
        if not _is_correlated(query):
            return Rows(_with(definitions, sql, bool(node.args.get("with_"))))
        outer = _outer(query)
        return None if outer is None else self._correlated(sql, outer)

    def rows(self, block: Block, columns: Sequence[str], last: int | None = None) -> Rows | None:
        """Columns (as SQL) of FROM and WHERE, or of FROM up to its join number `last`."""
        select = block.select
        definitions = self._definitions(select, inside=True)
        if definitions is None or not columns:
            return None
        items = [f"{column} AS r{i}" for i, column in enumerate(columns)]
        where = select.args.get("where") if last is None else None
        if where is not None:
            items += [self.text(item) for item in _named_in(where, select)]
        sql = f"SELECT {', '.join(items)}{self.from_(block, last)}"
        if where is not None:
            sql += f" {self.text(where)}"
        if not block.correlated:
            return Rows(_with(definitions, sql))
        return (
            None if block.outer is None else self._correlated(_own(self, select, sql), block.outer)
        )

    def from_(self, block: Block, last: int | None = None) -> str:
        """FROM, up to its join number `last`."""
        clause = block.select.args.get("from_")
        if clause is None:
            return ""
        joins = block.select.args.get("joins") or []
        laterals = (block.select.args.get("laterals") or []) if last is None else []
        parts = [self.text(part).lstrip(", ") for part in (clause, *joins[:last], *laterals)]
        for at, join in enumerate(joins[:last], start=1):
            parts[at] = f", {parts[at]}" if _is_comma(join) else parts[at]
        return " " + " ".join(parts)

    def _correlated(self, sql: str, outer: Block) -> Rows | None:
        definitions = self._definitions(outer.select, inside=True)
        around = self.from_(outer)
        if outer.correlated or definitions is None or not around:
            return None
        clauses = f"WITH RECURSIVE {', '.join(definitions)} " if definitions else ""
        return Rows(sql, f"{clauses}SELECT MAX(x) FROM (SELECT ({{}}) AS x{around}) AS every")

    def _definitions(self, node: exp.Expr, inside: bool = False) -> list[str] | None:
        """The CTEs a part may use, its own too if `inside`; None inside a recursive one."""
        clauses: list[exp.Expr] = []
        own = node.args.get("with_")
        if inside and own is not None:
            clauses += own.expressions
        child, level = node, node.parent
        while level is not None:
            if isinstance(level, exp.CTE) and _reads(level.this, level.alias):
                return None
            if isinstance(level, exp.With):
                clauses[:0] = level.expressions[: level.expressions.index(child)]
            elif level.args.get("with_") is not None and level.args["with_"] is not child:
                clauses[:0] = level.args["with_"].expressions
            child, level = level, level.parent
        return [self.text(clause) for clause in clauses]


def _named_in(where: exp.Expr, select: exp.Select) -> list[exp.Expr]:
    """The outputs whose aliases WHERE uses: without them `"a"` would become a text in SQLite."""
    named = {column.name.casefold() for column in where.find_all(exp.Column) if not column.table}
    return [
        item
        for item in select.expressions
        if isinstance(item, exp.Alias)
        and item.alias.casefold() in named
        and item.find(exp.AggFunc, exp.Window) is None
    ]


@cache
def _generator(dialect: str):  # type: ignore[no-untyped-def]
    return Dialect.get_or_raise(dialect).generator()


def _with(definitions: list[str], sql: str, has_own: bool = False) -> str:
    if not definitions:
        return sql
    whole = f"SELECT * FROM ({sql}) AS alone" if has_own else sql
    return f"WITH RECURSIVE {', '.join(definitions)} {whole}"


def _own(writer: Writer, select: exp.Select, sql: str) -> str:
    own = select.args.get("with_")
    return f"{writer.text(own)} {sql}" if own is not None else sql


def queries(query: Query) -> Iterator[Query]:
    """The query and all that it reads or asks."""
    yield query
    inner = list(query.branches)
    if query.block is not None:
        inner += [source.query for source in query.block.sources if source.query is not None]
        inner += query.block.subqueries
    for one in inner:
        yield from queries(one)


def prefixes(block: Block, dialect: str) -> Iterator[tuple[int, list[Source]]]:
    """Each prefix of FROM by the number of its joins, with its sources.

    Other than in SQLite a comma binds weaker than JOIN: what stands between commas is one part.
    """
    joins = block.select.args.get("joins") or []
    met: list[Source] = []
    for number, part in enumerate([block.select.args.get("from_"), *joins]):
        met += [source for source in block.sources if _part(source, block.select) is part]
        whole = dialect == "sqlite" or not any(_is_comma(join) for join in joins)
        if 0 < number < len(joins) and (whole or _is_comma(joins[number])):
            yield number, list(met)


def _part(source: Source, select: exp.Select) -> exp.Expr | None:
    """The part of FROM that a source stands in."""
    node: exp.Expr | None = source.node
    while node is not None and node.parent is not select:
        node = node.parent
    return node


def _is_comma(join: exp.Join) -> bool:
    words = ("side", "kind", "method", "on", "using")
    return not any(join.args.get(word) for word in words)


def _is_correlated(query: Query) -> bool:
    """Whether it means something only for a row of a query around it."""
    if query.block is not None:
        return query.block.correlated
    return any(_is_correlated(branch) for branch in query.branches)


def _outer(query: Query) -> Block | None:
    if query.block is not None:
        return query.block.outer
    return next((_outer(branch) for branch in query.branches), None)


def _reads(node: exp.Expr, name: str) -> bool:
    return any(table.name == name for table in node.find_all(exp.Table))
