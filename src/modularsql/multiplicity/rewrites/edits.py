"""Finding places of tree nodes in the text, and cutting there."""

from collections.abc import Iterable

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from modularsql.sql.statement import Statement

Cut = tuple[int, int, str]
"""Start and end in the text, and what stands there instead."""


def spliced(text: str, cuts: Iterable[Cut]) -> str:
    """The text with all cuts made; they may not overlap."""
    for start, end, new in sorted(cuts, reverse=True):
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
    if at is None or at + 1 >= len(statement.tokens):
        return None
    if statement.tokens[at + 1].token_type != TokenType.L_PAREN:
        return None
    close = closing(statement.tokens, at + 1)
    return None if close is None else (at + 1, close)


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
