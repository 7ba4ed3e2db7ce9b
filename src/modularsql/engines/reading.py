"""What a text may be before a server sees it: one statement that reads, without functions that act.

A server's own fence comes first (a role that may only read, a read-only transaction that is rolled
back). It does not stop what acts outside the data: files, the network, locks, settings. Those are
functions, and statements other than queries; both are told from the words of the text, so this
also holds for SQL that our parser does not understand.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from modularsql.records import Failure, FailureKind
from modularsql.sql.parse import Unparsed, split_statements, tokenize

_QUERIES = frozenset("SELECT WITH VALUES TABLE (".split())
_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_ENDS = (TokenType.R_PAREN, TokenType.STRING)
_EXPLAIN_WORDS = frozenset("ANALYZE VERBOSE EXTENDED".split())

Acts = Callable[[str, bool], bool]
"""Whether a function of that name (in lower case) may do more than compute; the second value says
that the name is surely that of a function, and not of an alias with columns, or a keyword."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a dialect's text is looked at: `explain` are its words for showing a plan.

    `forbidden` are runs of words that no query needs that only reads. `hides` are texts, and
    `hides_in_gaps` a pattern between the words, that let a server read other words than we do.
    """

    dialect: str
    explain: frozenset[str] = frozenset({"EXPLAIN"})
    forbidden: tuple[tuple[str, ...], ...] = ()
    hides: tuple[str, ...] = ()
    hides_in_gaps: str = ""


def refusal_of(sql: str, manner: Manner, acts: Acts) -> Failure | None:
    """Why a text is not run; None where it is one query or the plan of one."""
    hidden = next((part for part in manner.hides if part in sql.upper()), None)
    if hidden is not None:
        return refused(f"the text holds {hidden}, behind which it could hide other words")
    tokens = tokenize(sql, manner.dialect)
    if isinstance(tokens, Unparsed):
        return refused(f"its words cannot be told apart: {tokens.reason}")
    if manner.hides_in_gaps and (found := _in_gaps(sql, tokens, manner.hides_in_gaps)):
        return refused(f"the text holds {found} outside quotes, behind which it could hide words")
    statements = split_statements(tokens)
    if len(statements) != 1:
        some = "no statement" if not statements else f"{len(statements)} statements"
        return refused(f"{some} given, one is run at a time")
    return _of_statement(sql, statements[0], manner, acts)


def refused(message: str) -> Failure:
    """A refusal with a reason."""
    return Failure(kind=FailureKind.REFUSED, message=message)


def _of_statement(sql: str, tokens: Sequence[Token], manner: Manner, acts: Acts) -> Failure | None:
    if tokens[0].text.upper() in manner.explain and len(tokens) > 1:
        rest = _explained(sql[tokens[0].end + 1 :], manner)
        if isinstance(rest, Failure):
            return rest
        tokens = rest
    first = tokens[0].text.upper()
    if first not in _QUERIES:
        return refused(f"{first[:20]} is not allowed: queries may only read")
    words = ["" if token.token_type in _QUOTED else token.text.upper() for token in tokens]
    for run in manner.forbidden:
        if any(tuple(words[i : i + len(run)]) == run for i in range(len(words))):
            return refused(f"{' '.join(run)} is not allowed: queries may only read")
    closings = _closings(tokens)
    for i, (token, after) in enumerate(pairwise(tokens)):
        if after.token_type != TokenType.L_PAREN:
            continue
        sure = token.token_type in _NAMES and not _has_columns(tokens, i, closings.get(i + 1))
        if acts(token.text.lower(), sure):
            return refused(
                f"the function {token.text.lower()}() is not allowed: it may do more than compute"
            )
    return None


def _closings(tokens: Sequence[Token]) -> dict[int, int]:
    """The place of each opening parenthesis with that of the one that closes it."""
    found: dict[int, int] = {}
    open_: list[int] = []
    for i, token in enumerate(tokens):
        if token.token_type == TokenType.L_PAREN:
            open_.append(i)
        elif token.token_type == TokenType.R_PAREN and open_:
            found[open_.pop()] = i
    return found


def _has_columns(tokens: Sequence[Token], at: int, closing: int | None) -> bool:
    """Whether a name before a parenthesis, closed at `closing`, is an alias with its columns.

    No function stands behind AS, a closing parenthesis or a text (as `COLUMNS` does in JSON_TABLE),
    or has AS and a query behind it.
    """
    before = tokens[at - 1] if at else None
    if before and (before.token_type in _ENDS or before.text.upper() == "AS"):
        return True
    if closing is None:
        return False
    return [token.text.upper() for token in tokens[closing + 1 : closing + 3]] == ["AS", "("]


def _in_gaps(sql: str, tokens: Sequence[Token], pattern: str) -> str:
    """What stands between the words and matches, "" where nothing does."""
    at = 0
    for start, end in [*((t.start, t.end + 1) for t in tokens), (len(sql), len(sql))]:
        if found := re.search(pattern, sql[at:start]):
            return found.group()
        at = end
    return ""


def _explained(text: str, manner: Manner) -> Sequence[Token] | Failure:
    """The statement whose plan is asked for: what follows the options of EXPLAIN."""
    tokens = tokenize(text, manner.dialect)
    if isinstance(tokens, Unparsed):
        return refused(f"its words cannot be told apart: {tokens.reason}")
    at = 0
    while at < len(tokens) and tokens[at].text.upper() in _EXPLAIN_WORDS:
        at += 1
    if at < len(tokens) - 1 and tokens[at].token_type == TokenType.L_PAREN:
        if tokens[at + 1].text.upper() not in _QUERIES:  # else it is the statement itself
            closing = (i for i, t in enumerate(tokens) if t.token_type == TokenType.R_PAREN)
            at = next(closing, len(tokens)) + 1
    elif at < len(tokens) - 2 and tokens[at + 1].text == "=":  # FORMAT = JSON
        at += 3
    if at >= len(tokens):
        return refused("EXPLAIN of nothing is not allowed")
    return tokens[at:]
