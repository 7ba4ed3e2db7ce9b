"""Where in a model's reply the SQL may stand: Markdown fences, then labelled or plain lines.

Only places are offered here, best first; the caller takes the first that parses to a query, so
prose is never run. Markdown is read by a Markdown parser.
"""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt

Place = tuple[int, int, str]
"""Start and end in the text, and how the place was found."""

_QUERY_LINE = re.compile(
    r"^[ \t>*`]*(?:[A-Za-z][\w ]{0,30}:[ \t]*)?"
    r"(?P<sql>(?:select|with|values|from)\b|\((?=\s*select))",
    re.IGNORECASE | re.MULTILINE,
)
# A reply is short; a longer text that is no SQL is not worth a quadratic search.
_MOST_LINES = 200


def fences(text: str) -> Iterator[Place]:
    """The contents of fenced code blocks, in order."""
    blocks = [t for t in MarkdownIt().parse(text) if t.type == "fence"]
    at = 0
    for number, block in enumerate(blocks, 1):
        content = block.content.strip()
        start = text.find(content, at) if content else -1
        if start < 0:
            continue
        at = start + len(content)
        some = f"the first of {len(blocks)} fenced blocks" if len(blocks) > 1 else "a fenced block"
        how = some if number == 1 else f"fenced block {number} of {len(blocks)}"
        yield start, at, how


def lines(text: str) -> Iterator[Place]:
    """From each line that begins like a query: to the end, to a semicolon, then ever shorter."""
    if text.count("\n") > _MOST_LINES:
        return
    for match in _QUERY_LINE.finditer(text):
        start = match.start("sql")
        end = len(text)
        semicolon = text.find(";", start)
        yield start, end, "the surrounding text"
        if semicolon >= 0:
            yield start, semicolon, "the surrounding text"
        while (end := text.rfind("\n", start, end)) > start:
            yield start, end, "the surrounding text"
