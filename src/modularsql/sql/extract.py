"""Where in a model's reply the SQL may stand: fenced blocks, code spans, then plain lines.

Only places are offered here, best first; the caller takes the first that parses to a query, so
prose is never run. Markdown is read by a Markdown parser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# A query does not end before a line that begins with one of these, nor after one of the first.
_OPENING = (
    "all|and|anti|as|asof|between|by|case|collate|cross|distinct|else|escape|except|exclude|exists|"
    "fetch|filter|for|from|full|glob|group|having|ilike|in|inner|intersect|is|join|lateral|left|"
    "like|limit|natural|not|nulls|offset|on|or|order|outer|over|partition|pivot|positional|qualify|"
    "range|recursive|regexp|right|select|semi|set|similar|tablesample|then|union|unpivot|using|"
    "values|when|where|window|with|within|xor"
)
_CLOSING = "asc|desc|end|groups|materialized|null|rows|sample"
_UNFINISHED = re.compile(rf"(?:\b(?:{_OPENING})|[^\w\s)\]}}\"'`;?])\s*\Z", re.IGNORECASE)
_GOES_ON = re.compile(
    rf"[\s>]*(?:(?:{_OPENING}|{_CLOSING})\b|(?!\*\*|[#`])[^\w\s]|\Z)", re.IGNORECASE
)
_PARAGRAPH = re.compile(r"\n[ \t\r]*(?=\n)")

_NAME = r"(?:\"[^\"]*\"|[^\s,;(]+)"
_QUERY = (
    rf"(?:select\b|with\s+(?:recursive\s+)?{_NAME}\s*(?:\(|as\b)|values\s*\(|"
    rf"from\s+{_NAME}\s*(?:[,;(]|\Z|(?:{_OPENING})\b)|\((?=\s*(?:select|with|from|\()))"
)
# First words of statements: text that starts with one is handed to the database (which enforces
# that nothing is written) even when no parser understands it.
_WORDS = (
    r"(?:select|with|values|from|explain|pragma|table|describe|show|summarize|pivot|insert|update|"
    r"delete|replace|merge|create|drop|alter|truncate|attach|detach|vacuum|analyze|reindex|begin|"
    r"commit|rollback|savepoint|release|copy|load|install|set|reset|use|call|execute|prepare|"
    r"export|import|checkpoint|grant|revoke|end)\b"
)
_BLANK = r"(?>\s+|;|--[^\n]*+|/\*(?>.*?\*/))*+"
_BEGINS = re.compile(rf"{_BLANK}(?:\(|{_WORDS})", re.IGNORECASE | re.DOTALL)
_BEGINS_QUERY = re.compile(_BLANK + _QUERY, re.IGNORECASE | re.DOTALL)
_QUERY_LINE = re.compile(
    rf"^[ \t>*_`]*(?:<\w+>)?(?:[A-Za-z][\w ]{{0,30}}:[*_` \t]*)?(?P<sql>{_QUERY})",
    re.IGNORECASE | re.MULTILINE,
)
# A reply is short; a longer text that is no SQL is not worth a long search.
_MOST_LINES, _MOST_PLACES = 200, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A stretch of the text, and how it was found. `fenced`: marked as SQL by the writer."""

    start: int
    end: int
    how: str | None = None
    fenced: bool = False


def begins(text: str, at: int = 0) -> bool:
    """Whether a statement may begin here; prose may, too: "With this query you get …"."""
    return _BEGINS.match(text, at) is not None


def begins_query(text: str, at: int = 0) -> bool:
    """Whether this can only be the beginning of a query."""
    first_line = text[at:].strip().partition("\n")[0].rstrip()
    return _BEGINS_QUERY.match(text, at) is not None and not first_line.endswith(":")


def fences(text: str) -> Iterator[Place]:
    """The contents of fenced code blocks in their order, then those of code spans."""
    blocks = _markdown().parse(text)
    fenced = [block for block in blocks if block.type == "fence"]
    at = 0
    for number, block in enumerate(fenced, 1):
        content = block.content.strip()
        start = text.find(content, at) if content else -1
        if start < 0:
            continue
        at = start + len(content)
        some = f"the first of {len(fenced)} fenced blocks" if len(fenced) > 1 else "a fenced block"
        how = some if number == 1 else f"fenced block {number} of {len(fenced)}"
        yield Place(start=start, end=at, how=how, fenced=_says_sql(block.info))
    for block in blocks:
        for span in block.children or ():
            if span.type == "code_inline" and (start := text.find(span.content)) >= 0:
                yield Place(start=start, end=start + len(span.content), how="a code span")


@cache
def _markdown() -> "MarkdownIt":
    """Knows only what is looked for, so that no text is slow to read."""
    # Imported here: most texts are SQL and nothing else, and the import takes longer than those.
    from markdown_it import MarkdownIt

    return MarkdownIt("zero").enable(["fence", "list", "blockquote", "backticks"])


def lines(text: str) -> Iterator[Place]:
    """From each line that begins like a query: to the end, then to where it may end before."""
    if text.count("\n") <= _MOST_LINES:
        yield from islice(_lines(text), _MOST_PLACES)


def _lines(text: str) -> Iterator[Place]:
    how = "the surrounding text"
    for match in _QUERY_LINE.finditer(text):
        start = match.start("sql")
        yield Place(start=start, end=len(text), how=how)
        for end in (*_semicolons(text, start), *_breaks(text, start)):
            yield Place(start=start, end=end, how=how)


def beginnings(text: str) -> Iterator[Place]:
    """Where a query at the start of the text may end before text that explains it."""
    for end in islice(_semicolons(text, 0), _MOST_PLACES):
        yield Place(start=0, end=end, how="the text before the semicolon")
    for gap in islice(_PARAGRAPH.finditer(text), _MOST_PLACES):
        if _may_end(text, 0, gap.start()):
            yield Place(start=0, end=gap.start(), how="the text before the blank line")


def _says_sql(info: str) -> bool:
    return any(name in info.lower() for name in ("sql", "duckdb"))


def _semicolons(text: str, start: int) -> Iterator[int]:
    while (start := text.find(";", start + 1)) >= 0:
        if not begins(text, start + 1):
            yield start


def _breaks(text: str, start: int) -> Iterator[int]:
    """Closing tags and line breaks, the last one first."""
    end = len(text)
    while (end := max(text.rfind("\n", start, end), text.rfind("</", start, end))) > start:
        if text[end] == "<" or _may_end(text, start, end):
            yield end


def _may_end(text: str, start: int, end: int) -> bool:
    """Whether a query may end here: not before or after a word that only stands inside one.

    A query that we cannot parse must not lose its WHERE and then pass for a shorter one.
    """
    last_words = text[max(start, end - 40) : end]
    return not _UNFINISHED.search(last_words) and not _GOES_ON.match(text, end)
