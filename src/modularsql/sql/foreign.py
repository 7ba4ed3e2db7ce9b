"""A query that was written for another dialect: which ones read it, and how they put it here.

`sql/dialects.py` says what each dialect lacks; a dialect that lacks what the query has is not the
one it was written for.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from modularsql.sql.dialects import Construct, dialect_of
from modularsql.sql.parse import Unparsed, is_query, parse, tokenize

NAMES = {
    "mysql": "MySQL",
    "postgres": "PostgreSQL",
    "tsql": "T-SQL (SQL Server)",
    "sqlite": "SQLite",
    "duckdb": "DuckDB",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
    "oracle": "Oracle",
}
"""Dialects that are tried, the likeliest first, and what people call them."""

_TREES: dict[Construct, type[exp.Expr]] = {
    "QUALIFY": exp.Qualify,
    "ILIKE": exp.ILike,
    "FETCH FIRST": exp.Fetch,
}
_QUOTES: dict[str, Construct] = {"`": "`name`", "[": "[name]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a text means in `dialect`, written in the one that was asked for.

    `because` is what it has that the latter lacks, as far as the table knows it.
    """

    dialect: str
    sql: str
    because: tuple[Construct, ...] = ()


def readings(text: str, dialect: str, in_time: Callable[[], bool]) -> Iterator[Reading]:
    """The ways in which other dialects read a query, each different text once.

    To read a long text in all of them takes seconds: no further one once `in_time` says no.
    """
    seen = {text}
    for other in NAMES:
        if not in_time():
            return
        tokens = tokenize(text, other) if other != dialect else Unparsed(reason="")
        tree = tokens if isinstance(tokens, Unparsed) else parse(tokens, text, other)
        if isinstance(tokens, Unparsed) or isinstance(tree, Unparsed) or not is_query(tree):
            continue
        has = constructs(text, tokens, tree)
        written = _written(tree, dialect)
        if has & dialect_of(other).lacks or written is None or written in seen:
            continue
        seen.add(written)
        because = tuple(sorted(has & dialect_of(dialect).lacks))
        yield Reading(dialect=other, sql=written, because=because)


def constructs(text: str, tokens: Sequence[Token], tree: exp.Expr) -> set[Construct]:
    """Which of the things that not all dialects take are in a query."""
    found = {name for name, kind in _TREES.items() if tree.find(kind) is not None}
    if any(node.args.get("on") for node in tree.find_all(exp.Distinct)):
        found.add("DISTINCT ON")
    if any(join.side == "FULL" for join in tree.find_all(exp.Join)):
        found.add("FULL JOIN")
    kinds = [token.token_type for token in tokens]
    words = [token.text.upper() for token in tokens]
    for i, kind in enumerate(kinds):
        if kind == TokenType.IDENTIFIER and (quote := _QUOTES.get(text[tokens[i].start])):
            found.add(quote)
        elif kind == TokenType.DCOLON:
            found.add("::")
        elif kind == TokenType.LIMIT and kinds[i + 2 : i + 3] == [TokenType.COMMA]:
            found.add("LIMIT a, b")
        elif words[i] == "TOP" and i and words[i - 1] in ("SELECT", "DISTINCT"):
            after = kinds[i + 1 : i + 2]
            if after in ([TokenType.NUMBER], [TokenType.L_PAREN]):
                found.add("TOP")
    return found


def _written(tree: exp.Expr, dialect: str) -> str | None:
    if dialect_of(dialect).unknown_quoted_is_text and not _unquoted(tree):
        return None
    try:
        text: str = tree.sql(dialect=dialect, unsupported_level=ErrorLevel.RAISE)
    except (SqlglotError, ValueError, RecursionError):
        return None
    return text


def _unquoted(tree: exp.Expr) -> bool:
    """Whether all names stand without quotes now: in quotes one that is unknown would be a text."""
    quoted = [name for name in tree.find_all(exp.Identifier) if name.args.get("quoted")]
    for name in quoted:
        name.set("quoted", False)
    return all(name.name.isidentifier() for name in quoted)
