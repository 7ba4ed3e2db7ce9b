"""`-- modularsql: allow RULE[, RULE]`: a reader's note in the SQL that silences a rule there.

Before the first word it holds for the whole statement, elsewhere for its own line and the next.
Comments are told from string literals by the tokenizer: only the gaps between tokens are read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from modularsql.sql.statement import Statement

_NOTE = re.compile(r"modularsql:\s*allow\s+(?P<rules>\w+(?:\s*,\s*\w+)*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """`rule` is silent on lines `first..last` of the source (1-based, both included)."""

    rule: str
    first: int
    last: int


def allowances(statement: Statement) -> tuple[Allowance, ...]:
    """All notes of that kind in and around the statement."""
    if "modularsql:" not in statement.source:
        return ()
    return tuple(_read(statement))


def _read(statement: Statement) -> Iterator[Allowance]:
    source = statement.source
    for start, end, leading in _gaps(statement):
        for note in _NOTE.finditer(source, start, end):
            line = source.count("\n", 0, note.start()) + 1
            first, last = (1, source.count("\n") + 1) if leading else (line, line + 1)
            for rule in re.split(r"\s*,\s*", note["rules"]):
                yield Allowance(rule=rule, first=first, last=last)


def _gaps(statement: Statement) -> Iterator[tuple[int, int, bool]]:
    """Stretches of the source that hold only white space and comments, and if they lead."""
    at = 0 if not statement.extracted else statement.start
    for number, token in enumerate(statement.tokens):
        yield at, statement.start + token.start, number == 0
        at = statement.start + token.end + 1
    if statement.tokens and not statement.extracted:
        yield at, len(statement.source), False
