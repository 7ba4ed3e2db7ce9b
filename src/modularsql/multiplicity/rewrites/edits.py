"""What a rewrite gives back; finding places of tree nodes in the text, and cutting there."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects import DuckDB
from sqlglot.tokenizer_core import Token, TokenType

from modularsql.multiplicity.model import Source
from modularsql.records import Evidence
from modularsql.sql.clauses import Clauses
from modularsql.sql.outermost import Declined
from modularsql.sql.parse import Unparsed, is_folded, tokenize
from modularsql.sql.statement import Statement


class Promise(StrEnum):
    """What the rewritten SELECT returns, compared with the one before; columns stay in any case.

    For an aggregate the rows are its groups: what no aggregate supplies stays as it is.
    """

    ROWS = "the same rows"
    SET = "the same rows, some less often"
    GROUPS = "the same groups"
    MORE = "no row less"
    KEYS = "the same groups, each with one row or more"
    ANSWER = "another answer"


@dataclass(frozen=True, slots=True)
class Edit:
    """A rewritten statement, what it promises, and the grade of the facts the promise rests on.

    `once`: FROM and WHERE then let each row of the measured entity through once. `doubt` says why
    another reading stays open whatever the data shows; it is empty where none is.
    """

    text: str
    promise: Promise
    evidence: Evidence = Evidence.ENFORCED
    once: bool = False
    doubt: str = ""


Rewritten = Edit | Declined


Cut = tuple[int, int, str]
"""Start and end in the text, and what stands there instead."""


def spliced(text: str, cuts: Iterable[Cut]) -> str:
    """The text with all cuts made; they may not overlap, and at one place keep their order."""
    ordered = sorted(enumerate(cuts), key=lambda cut: (cut[1][:2], cut[0]), reverse=True)
    for _, (start, end, new) in ordered:
        text = text[:start] + new + text[end:]
    return text


def first_place(node: exp.Expr) -> int | None:
    """Where the first part of a node that has a place begins."""
    return min((p.meta["start"] for p in node.walk() if "start" in p.meta), default=None)


def last_place(node: exp.Expr) -> int | None:
    """Where the last part of a node that has a place ends (the place of its last character)."""
    return max((p.meta["end"] for p in node.walk() if "end" in p.meta), default=None)


def index_at(statement: Statement, start: int) -> int | None:
    """The index of the token that begins at a place."""
    return next((i for i, token in enumerate(statement.tokens) if token.start == start), None)


def call(statement: Statement, node: exp.Expr) -> tuple[int, int] | None:
    """Indexes of the parentheses of a function call."""
    start = node.meta.get("start")
    at = None if start is None else index_at(statement, start)
    opening = _opening_around(statement, node) if at is None else at + 1
    if opening is None or opening >= len(statement.tokens):
        return None
    if statement.tokens[opening].token_type != TokenType.L_PAREN:
        return None
    close = closing(statement.tokens, opening)
    return None if close is None else (opening, close)


def _opening_around(statement: Statement, node: exp.Expr) -> int | None:
    """The parenthesis of a call whose name the parser gave no place: before its first argument."""
    inside = first_place(node)
    at = None if inside is None else index_at(statement, inside)
    while at is not None and at > 0:
        at -= 1
        name = statement.tokens[at - 1].text if at else ""
        if statement.tokens[at].token_type == TokenType.L_PAREN and name.lower() in _UNPLACED:
            return at
        if statement.tokens[at].token_type not in _BEFORE_ARGUMENT:
            return None
    return None


_UNPLACED = frozenset("group_concat string_agg listagg".split())
_BEFORE_ARGUMENT = (TokenType.L_PAREN, TokenType.DISTINCT)


def closing(tokens: tuple[Token, ...], opening: int) -> int | None:
    """The index of the parenthesis that closes the one at an index."""
    depth = 0
    for i in range(opening, len(tokens)):
        if tokens[i].token_type == TokenType.L_PAREN:
            depth += 1
        elif tokens[i].token_type == TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                return i
    return None


def and_where(statement: Statement, parts: Clauses, condition: str) -> list[Cut]:
    """Cuts that add a condition to WHERE."""
    if parts.where is None:
        return [(parts.end, parts.end, f" WHERE {condition}")]
    return [*bracketed(statement, parts), (parts.end, parts.end, f" AND {condition}")]


def bracketed(statement: Statement, parts: Clauses) -> list[Cut]:
    """Cuts that put a WHERE with OR on its top in parentheses, to stand beside AND."""
    where = statement.tree.args.get("where") if isinstance(statement.tree, exp.Select) else None
    if where is None or not isinstance(where.this, exp.Or | exp.Xor):
        return []
    span = parts.conditions[0].span
    return [(span.start, span.start, "("), (span.end, span.end, ")")]


# To the tokenizer `group` and `order` are words of SQL only before BY. The list of PostgreSQL's
# words, which are SQLite's too, stands with DuckDB, which took that parser over.
_RESERVED = DuckDB.Generator.RESERVED_KEYWORDS


def written(name: str, dialect: str) -> str:
    """A name as SQL, in quotes only where it needs them."""
    tokens = tokenize(name, dialect)
    plain = (
        not isinstance(tokens, Unparsed)
        and [(t.token_type, t.text) for t in tokens] == [(TokenType.VAR, name)]
        and name.isidentifier()  # an emoji is a word to the tokenizer, and not to MariaDB
        and name.lower() not in _RESERVED
    )
    return exp.to_identifier(name, quoted=not plain).sql(dialect=dialect)


def column(source: Source, name: str, dialect: str) -> str:
    """A column of a source as SQL, qualified; in quotes where the dialect folds its name."""
    alias = source.qualifier.sql(dialect=dialect)
    return f"{alias}.{bare_column(source, name, dialect)}"


def bare_column(source: Source, name: str, dialect: str) -> str:
    """The same without the source's name."""
    known = source.table.column(name) if source.table is not None else None
    return declared(known.name, dialect) if known is not None else written(name, dialect)


@lru_cache(maxsize=10_000)
def declared(name: str, dialect: str) -> str:
    """The name of a table or column as SQL; in quotes also where the dialect folds it."""
    if is_folded(name, dialect):
        return exp.to_identifier(name, quoted=True).sql(dialect=dialect)
    return written(name, dialect)


def has_positions(select: exp.Expr) -> bool:
    """Whether it holds a `?`, which means the next value: its place must not change."""
    return any(not mark.name for mark in select.find_all(exp.Placeholder))


def free_name(statement: Statement, *wanted: str) -> str:
    """The first of the names that stands nowhere in the statement, else the last with a number."""
    used = {token.text.casefold() for token in statement.tokens}
    used |= {word.casefold() for word in statement.text.split()}
    numbered = (f"{wanted[-1]}{i}" for i in range(2, len(used) + 3))
    return next(name for name in (*wanted, *numbered) if name.casefold() not in used)


def never_null(source: Source) -> str | None:
    """A column of the table that is NULL in padded rows only: of a key if there is one."""
    if source.table is None:
        return None
    keyed = [name for key in source.table.keys for name in key.columns]
    names = [c.name for c in source.table.columns if not c.nullable]
    return next((name for name in keyed if name in names), names[0] if names else None)
