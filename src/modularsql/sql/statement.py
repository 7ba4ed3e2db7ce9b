"""From whatever text came in to the one statement in it: `Statement`, `NoSql` or `Many`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlglot.tokenizer_core import Token

from modularsql.sql.extract import Place, fences, lines
from modularsql.sql.parse import (
    Tree,
    Unparsed,
    is_query,
    line_column,
    parse,
    split_statements,
    tokenize,
)

# First words of statements, reading and writing ones: text that starts with one is handed to the
# database (which enforces that nothing is written) even when no parser understands it.
_STATEMENT = re.compile(
    r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
    r"(?:\(|(?:select|with|values|from|explain|pragma|table|describe|show|summarize|pivot|insert|"
    r"update|delete|replace|merge|create|drop|alter|truncate|attach|detach|vacuum|analyze|reindex|"
    r"begin|commit|rollback|savepoint|release|copy|load|install|set|reset|use|call|execute|prepare|"
    r"export|import|checkpoint|grant|revoke|end)\b)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement inside `source`: `text == source[start:end]`, without its semicolon.

    `tokens` are places in `text`. `extracted` says how it was found when `source` held more.
    """

    source: str
    start: int
    end: int
    tokens: tuple[Token, ...]
    tree: Tree
    extracted: str | None = None

    @property
    def text(self) -> str:
        """What is run."""
        return self.source[self.start : self.end]

    def with_text(self, text: str) -> str:
        """`source` with the statement replaced; only the statement where it had to be extracted."""
        if self.extracted:
            return text
        return self.source[: self.start] + text + self.source[self.end :]

    def place(self, at: int) -> tuple[int, int]:
        """1-based line and column in `source` of a place in `text`."""
        return line_column(self.source, self.start + at)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSql:
    """The text holds no statement."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """The text holds more than one statement; which was meant is not for us to say."""

    texts: tuple[str, ...]


def read_statement(source: str, dialect: str, max_chars: int) -> Statement | NoSql | Many:
    """The one statement in `source`, taken out of Markdown, labels or prose where needed.

    Longer text than `max_chars` is not parsed: it comes back as an unparsed statement.
    """
    if not source.strip():
        return NoSql(reason="the text is empty")
    if "\0" in source:
        return NoSql(reason=f"the text holds a NUL character at position {source.index(chr(0))}")
    if len(source) > max_chars:
        return _unread(source, f"longer than {max_chars:,} characters, not analysed")
    direct = _direct(source, dialect)
    if isinstance(direct, Many) or (direct is not None and not isinstance(direct.tree, Unparsed)):
        return direct
    # Text that begins like SQL is not searched line by line: a line of a query that we cannot
    # parse may be a query of its own, and another one than was meant.
    places = fences(source) if direct else (*fences(source), *lines(source))
    return _extracted(source, places, dialect) or direct or _NOTHING


_NOTHING = NoSql(reason="no SQL statement found in the text")


def _direct(source: str, dialect: str) -> Statement | Many | None:
    """`source` read as SQL throughout; None when it does not begin like a statement."""
    if not _STATEMENT.match(source):
        return None
    tokens = tokenize(source, dialect)
    if isinstance(tokens, Unparsed):
        return _unread(source, tokens.reason)
    places = split_statements(tokens)
    if not places:
        return None
    statements = [source[start:end] for start, end in places if _STATEMENT.match(source[start:end])]
    if len(statements) > 1:
        return Many(texts=tuple(statements))
    start, end = places[0]
    # A leading comment stays with the statement: some databases take hints from it.
    start = 0 if source[:start].strip() else start
    statement = _statement(source, start, end, dialect, tokens)
    if len(places) == 1:
        return statement
    if is_query(statement.tree):
        return replace(statement, extracted="the text before the semicolon")
    return _unread(source, "text follows the statement")


def _statement(
    source: str, start: int, end: int, dialect: str, known: tuple[Token, ...] = ()
) -> Statement:
    """`known` are the tokens of `source`, if it was read already and the places still fit."""
    text = source[start:end]
    reusable = known and start == 0
    tokens = tuple(t for t in known if t.end < end) if reusable else tokenize(text, dialect)
    if isinstance(tokens, Unparsed):
        return replace(_unread(source, tokens.reason), start=start, end=end)
    tree = parse(tokens, text, dialect)
    return Statement(source=source, start=start, end=end, tokens=tokens, tree=tree)


def _extracted(source: str, places: Iterable[Place], dialect: str) -> Statement | Many | None:
    """The first query at one of the places, else the first other statement (to be refused)."""
    other: Statement | None = None
    for start, end, how in places:
        tokens = tokenize(source[start:end], dialect)
        if isinstance(tokens, Unparsed):
            continue
        parts = [(start + a, start + b) for a, b in split_statements(tokens)]
        parts = [(a, b) for a, b in parts if _STATEMENT.match(source[a:b])]
        if len(parts) > 1:
            return Many(texts=tuple(source[a:b] for a, b in parts))
        if len(parts) == 1:
            statement = _statement(source, *parts[0], dialect)
            found = replace(statement, extracted=how)
            if is_query(statement.tree):
                return found
            if not isinstance(statement.tree, Unparsed):
                other = other or found
    return other


def _unread(source: str, reason: str) -> Statement:
    return Statement(
        source=source,
        start=0,
        end=len(source),
        tokens=(),
        tree=Unparsed(reason=reason),
    )
