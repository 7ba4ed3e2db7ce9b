"""`-- modularsql: allow RULE[, RULE]`: a reader's note in the SQL that silences a rule there.

Before the first word it holds for the whole statement, elsewhere for its own line and the next.
Comments are told from string literals by the tokenizer: only the gaps between tokens are read.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from modularsql.records import Finding
from modularsql.sql.statement import Statement

_NOTE = re.compile(
    r"\bmodularsql:[ \t]*allow[ \t]+(?P<rules>\w+(?:[ \t]*,[ \t]*\w+)*)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """`rule` is silent on lines `first..last` of the source (1-based, both included)."""

    rule: str
    first: int
    last: int


def allowances(statement: Statement) -> tuple[Allowance, ...]:
    """All notes of that kind in and around the statement."""
    if "modularsql" not in statement.source.lower():
        return ()  # most queries: the gaps need not be looked at
    return tuple(_read(statement))


def is_allowed(finding: Finding, names: Collection[str], notes: Iterable[Allowance]) -> bool:
    """Whether a finding is to be silent: its rule is named, or a note covers its place."""
    return finding.rule in names or any(
        note.rule == finding.rule and note.first <= finding.line <= note.last for note in notes
    )


def _read(statement: Statement) -> Iterator[Allowance]:
    source = statement.source
    for number, (start, end) in enumerate(_gaps(statement)):
        for note in _NOTE.finditer(source, start, end):
            line = source.count("\n", 0, note.start()) + 1
            first, last = (1, source.count("\n") + 1) if number == 0 else (line, line + 1)
            for rule in re.split(r"\s*,\s*", note["rules"]):
                yield Allowance(rule=rule, first=first, last=last)


def _gaps(statement: Statement) -> Iterator[tuple[int, int]]:
    """Stretches of the source that hold only white space and comments; the first one leads."""
    at, last = statement.around
    for token in statement.tokens:
        start, end = statement.start + token.start, statement.start + token.end + 1
        yield at, start
        if _TWO_WORDS.fullmatch(statement.source, start, end):
            yield start, end
        at = end
    if statement.tokens:
        yield at, last


_TWO_WORDS = re.compile(r"[A-Za-z]+(?:\s|--|/\*).*\w", re.DOTALL)  # ORDER /* … */ BY
