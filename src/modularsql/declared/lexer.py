"""SQL text to statements and tokens, fast enough for dumps of hundreds of megabytes.

Statements are cut by one regular expression that runs over data without looking at it; only the
few that declare something become tokens. How a dialect quotes is read off sqlglot's tokenizer.
sqlglot's own parser is not used on DDL: it refuses what is harmless to us (`UNIQUE (a DESC)`,
names in single quotes) and does not keep types as written, which decide SQLite's row ids.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from sqlglot import Dialect
from sqlglot.dialects.dialect import NormalizationStrategy

from modularsql.errors import InputError


class Token(NamedTuple):
    """`word` is upper case, or punctuation, and empty for what stands in quotes.

    `name` is the token as a name: unquoted, and folded as the dialect folds.
    """

    word: str
    name: str
    start: int
    end: int


class Statement(NamedTuple):
    """The text of one statement and its 1-based line; `problem` says why it has no end."""

    text: str
    line: int
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexer:
    """The patterns of one dialect. `statement` ends before a semicolon or an open quote."""

    token: re.Pattern[str]
    statement: re.Pattern[str]
    fold: NormalizationStrategy
    hints: bool  # /*!40101 … */ is no comment but SQL (MySQL)


_COMMENT = r"--[^\n]*+|/\*.*?\*/"
_GAP = re.compile(rf"(?:\s++|;|{_COMMENT}|\\[^\n]*+)*+", re.DOTALL)  # `\c db` is psql's
_COPY = re.compile(r"COPY\b.*\bFROM\s+stdin\b", re.IGNORECASE | re.DOTALL)
_DELIMITER = re.compile(r"DELIMITER\s+(\S+)[^\n]*", re.IGNORECASE)
_BACK = re.compile(r"^\s*DELIMITER\s+;", re.IGNORECASE | re.MULTILINE)
_HINT = re.compile(r"/\*M?!\d*(.*?)\*/", re.DOTALL)
_END_OF_DATA = re.compile(r"^\\\.", re.MULTILINE)


@lru_cache(maxsize=32)
def lexer_of(dialect: str) -> Lexer:
    """The lexer of a dialect sqlglot knows; another name is the caller's error."""
    try:
        known = Dialect.get_or_raise(dialect or "none")
    except ValueError:
        names = ", ".join(sorted(name for name in Dialect.classes if name))
        raise InputError(f"no SQL dialect is called {dialect!r}", f"one of {names}") from None
    tokenizer = known.tokenizer_class
    escaped = "\\" in tokenizer.STRING_ESCAPES
    marks = {"'": "'", '"': '"'}
    for mark in tokenizer.IDENTIFIERS:
        marks[mark[0]] = mark[-1]
    strings = [_quote(a, b, escaped and a in "'\"") for a, b in marks.items()]
    strings.append(r"[eE]" + _quote("'", "'", escaped=True))
    if tokenizer.HEREDOC_STRINGS or dialect == "snowflake":
        strings.append(r"\$(?P<tag>\w*)\$.*?\$(?P=tag)\$")
    comment = _COMMENT + (r"|#[^\n]*+" if "#" in tokenizer.COMMENTS else "")
    quoted = "|".join(strings)
    ends = re.escape("".join(a for a in marks if a != "["))
    return Lexer(
        token=re.compile(
            rf"(?P<gap>\s+|{comment})|(?P<quoted>{quoted})|(?P<word>[^\W\d][\w$]*|\d[\w.]*)|.",
            re.DOTALL,
        ),
        statement=re.compile(
            rf"(?:[^;{ends}\[$/#eE-]++|{comment}|{quoted}|[^;{ends}])*+", re.DOTALL
        ),
        fold=known.normalization_strategy,
        hints=dialect in ("mysql", "doris", "starrocks", "singlestore"),
    )


def statements(text: str, lexer: Lexer) -> Iterator[Statement]:
    """The statements of a script or dump; COPY data and DELIMITER blocks are passed over."""
    if lexer.hints:
        text = _HINT.sub(r" \1 ", text)
    at, seen, line = 0, 0, 1
    while True:
        at = _end(_GAP, text, at)
        if at >= len(text):
            return
        line, seen = line + text.count("\n", seen, at), at
        block = _DELIMITER.match(text, at)
        if block and block[1] != ";":
            back = _BACK.search(text, block.end())
            at = back.end() if back else len(text)
            continue
        end = _end(lexer.statement, text, at)
        if end < len(text) and text[end] != ";":
            yield Statement(text[at:end], line, f"the quote {text[end]} is not closed")
            end = text.find(";\n", end)
            end = len(text) if end < 0 else end
        elif text[at : at + 4].upper() == "COPY" and _COPY.match(text, at, end):
            data = _END_OF_DATA.search(text, end)
            end = len(text) if data is None else data.end()
        else:
            yield Statement(text[at:end], line)
        at = end


def tokens(text: str, lexer: Lexer) -> list[Token]:
    """The tokens of one statement, without comments."""
    found = []
    for match in lexer.token.finditer(text):
        kind, value = match.lastgroup, match.group()
        if kind == "gap":
            continue
        if match["quoted"] is not None:
            found.append(Token("", _unquoted(value), *match.span()))
        else:
            found.append(Token(value.upper(), _folded(value, lexer.fold), *match.span()))
    return found


def _quote(start: str, end: str, escaped: bool) -> str:
    a, b = re.escape(start), re.escape(end)
    if start != end:
        return rf"{a}[^{b}]*+{b}"
    inner = rf"[^{b}\\]++|\\." if escaped else rf"[^{b}]++"
    return rf"{a}(?:{inner}|{b}{b})*+{b}"


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _unquoted(value: str) -> str:
    if value[0] in "eE":
        value = value[1:]
    if value[0] == "$":
        return value.strip("$")
    mark = value[-1]
    return value[1:-1] if mark == "]" else value[1:-1].replace(mark * 2, mark)


def _folded(value: str, strategy: NormalizationStrategy) -> str:
    if strategy is NormalizationStrategy.LOWERCASE:
        return value.lower()
    return value.upper() if strategy is NormalizationStrategy.UPPERCASE else value
