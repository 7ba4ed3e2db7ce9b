"""From whatever text came in to the one statement in it: `Statement`, `NoSql` or `Many`."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from modularsql.sql.extract import (
    Place,
    beginnings,
    begins,
    begins_query,
    fences,
    lines,
)
from modularsql.sql.parse import (
    Tree,
    Unparsed,
    is_query,
    line_column,
    parse,
    split_statements,
    tokenize,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement inside `source`: `text == source[start:end]`, without its semicolon.

    `tokens` are places in `text`. `extracted` says how it was found when `source` held more;
    `around` is the stretch of `source` that belongs to it, comments before and after included.
    """

    source: str
    start: int
    end: int
    tokens: tuple[Token, ...]
    tree: Tree
    around: tuple[int, int]
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


Found = Statement | Many


def read_statement(source: str, dialect: str, max_chars: int) -> Statement | NoSql | Many:
    """The one statement in `source`, taken out of Markdown, labels or prose where needed.

    Longer text than `max_chars` is not parsed: it comes back as an unparsed statement.
    """
    if reason := _unusable(source):
        return NoSql(reason=reason)
    whole = Place(start=1 if source.startswith("\ufeff") else 0, end=len(source))
    if len(source) > max_chars:
        return _unread(source, whole, f"it is longer than {max_chars:,} characters")
    direct = _at(source, whole, dialect)
    if isinstance(direct, Many) or (direct is not None and not _is_opaque(direct.tree)):
        return direct
    return _extracted(source, fences(source), dialect) or _around(source, direct, dialect)


def _unusable(source: str) -> str | None:
    if not source.strip("\ufeff \t\r\n\f\v;"):
        return "the text is empty"
    if "\0" in source:
        return f"the text holds a NUL character at position {source.index(chr(0)) + 1}"
    try:
        source.encode()
    except UnicodeEncodeError as error:
        return f"the text holds half a character at position {error.start + 1}"
    return None


def _is_opaque(tree: Tree) -> bool:
    """Whether our parser made nothing of it; then it may as well be a reply in words."""
    return isinstance(tree, Unparsed | exp.Command)


def _around(source: str, direct: Statement | None, dialect: str) -> Statement | NoSql | Many:
    """The query among unmarked prose.

    Text that begins like a query is not searched line by line: a line of a query that we cannot
    parse may be a query of its own, and another one than was meant.
    """
    if direct is not None and begins_query(source):
        return _extracted(source, beginnings(source), dialect) or direct
    found = _extracted(source, lines(source), dialect)
    return found or direct or NoSql(reason="no SQL statement found in the text")


def _extracted(source: str, places: Iterable[Place], dialect: str) -> Found | None:
    """The first query at one of the places, else what else was marked as SQL (to be refused)."""
    other: Statement | None = None
    for place in places:
        found = _at(source, place, dialect)
        if isinstance(found, Many):
            return found
        if found is None:
            continue
        if is_query(found.tree):
            return found
        if place.fenced or not _is_opaque(found.tree):
            other = other or found
    return other


def _at(source: str, place: Place, dialect: str) -> Found | None:
    """What stands at a place; None when it does not begin like a statement."""
    text = source[place.start : place.end]
    tokens = tokenize(text, dialect)
    if isinstance(tokens, Unparsed):
        return _unread(source, place, tokens.reason) if begins(text) else None
    parts = split_statements(tokens)
    if not parts or not begins(text, parts[0][0].start):
        return None
    first, *others = parts
    if first[0] is not tokens[0]:  # semicolons stand before it
        return _at(source, replace(place, start=place.start + first[0].start), dialect)
    statements = [first, *(part for part in others if _is_statement(part, text, dialect))]
    if len(statements) > 1:
        return Many(texts=tuple(text[part[0].start : part[-1].end + 1] for part in statements))
    # From the start of the place: comments before a statement belong to it, as hints may.
    end = place.start + first[-1].end + 1
    return Statement(
        source=source,
        start=place.start,
        end=end,
        tokens=first,
        tree=parse(first, text, dialect),
        around=(place.start, end if others else place.end),
        extracted=place.how or ("the text before the semicolon" if others else None),
    )


def _is_statement(part: tuple[Token, ...], text: str, dialect: str) -> bool:
    """Whether what follows a semicolon is another statement, or words about the first."""
    start = part[0].start
    if not begins(text, start):
        return False
    if begins_query(text, start) or text[start:].split(None, 1)[0].lower() in _NEVER_PROSE:
        return True
    return not _is_opaque(parse(part, text, dialect))


_NEVER_PROSE = {"insert", "update", "delete", "create", "drop", "alter", "attach", "pragma"}


def _unread(source: str, place: Place, reason: str) -> Statement:
    # Semicolons at the end are no part of it; inside a comment or quote they do no harm.
    end = place.start + len(source[place.start : place.end].rstrip("; \t\r\n"))
    return Statement(
        source=source,
        start=place.start,
        end=end,
        tokens=(),
        tree=Unparsed(reason=reason),
        around=(place.start, place.end),
        extracted=place.how,
    )
