"""Text to tokens and tree, by sqlglot. What does not parse is a value with a reason.

Tokens keep their places (0-based), so that edits touch only what they mean.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from sqlglot import Dialect, exp
from sqlglot.dialects.dialect import NormalizationStrategy
from sqlglot.errors import ParseError, TokenError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

# sqlglot warns on the log when it falls back to an opaque Command; our answer says it instead.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

# Deeper than any database reads (SQLite stops at about 100), and well before a compiled parser
# would run out of stack, which ends the process.
_MOST_DEPTH = 200
# Steps of the parser, about a second's worth. Where two readings are possible it tries one, then
# the other, so each further one inside doubles the work: 30 joins without ON take it a day.
_MOST_WORK = 2**18


@dataclass(frozen=True, slots=True, kw_only=True)
class Unparsed:
    """Why there is no tree, as the end of a sentence, and where in the text (0-based).

    The database may still run the text.
    """

    reason: str
    at: int = 0


Tree = exp.Expr | Unparsed


@cache
def _dialect(name: str) -> Dialect:
    """Making one anew takes a tenth of the time of parsing a short query."""
    return Dialect.get_or_raise(name)


@cache
def _as_said(name: str) -> Dialect:
    """The dialect, as if NULL came last in it unless a query says otherwise."""
    dialect = Dialect.get_or_raise(name)
    dialect.NULL_ORDERING = "nulls_are_last"
    return dialect


def is_known(dialect: str) -> bool:
    """Whether our parser knows a dialect of this name; without a name it reads what most share."""
    return Dialect.get(dialect) is not None


def is_folded(name: str, dialect: str) -> bool:
    """Whether the dialect takes a name without quotes for one in other letters."""
    how = _dialect(dialect).normalization_strategy
    if how is NormalizationStrategy.UPPERCASE:
        return name != name.upper()
    return how is NormalizationStrategy.LOWERCASE and name != name.lower()


def tokenize(text: str, dialect: str) -> tuple[Token, ...] | Unparsed:
    """The tokens of `text` without its comments, or why it has none (an unclosed quote)."""
    tokenizer = _dialect(dialect)
    try:
        tokens = tokenizer.tokenize(text)
        if any(token.comments for token in tokens):
            # Again with blanks for comments: sqlglot knows no ORDER /* … */ BY.
            tokens = tokenizer.tokenize(_blanked(text, tokens))
    except (TokenError, RecursionError, ValueError, IndexError):
        return Unparsed(reason="our parser cannot tell its words apart (is a quote left open?)")
    return tuple(tokens)


def _blanked(text: str, tokens: Sequence[Token]) -> str:
    """`text` with white space of the same length for what stands between the tokens."""
    parts, at = [], 0
    for token in tokens:
        parts += [
            _NOT_A_LINE_BREAK.sub(" ", text[at : token.start]),
            text[token.start : token.end + 1],
        ]
        at = token.end + 1
    return "".join(parts)


_NOT_A_LINE_BREAK = re.compile(r"[^\n]")


def parse(tokens: Sequence[Token], text: str, dialect: str) -> Tree:
    """The tree of one statement; its root's `meta` holds the text and the dialect.

    sqlglot accepts some text that no database does.
    """
    return _parse(tokens, text, _dialect(dialect), dialect)


def _parse(tokens: Sequence[Token], text: str, reads: Dialect, dialect: str) -> Tree:
    if reason := _too_hard(tokens, text):
        return Unparsed(reason=reason)
    try:
        trees = reads.parser().parse(list(tokens), text)
    except ParseError as error:
        return _stopped(error, tokens)
    except RecursionError:
        return Unparsed(reason="it is nested too deeply for our parser")
    except Exception as error:
        # A parser that meets arbitrary text; whatever it trips over, the text is still runnable.
        return Unparsed(reason=f"our parser failed ({type(error).__name__})")
    if len(trees) != 1 or trees[0] is None:
        return Unparsed(reason="it is not one statement")
    tree = _plain(trees[0], tokens)
    tree.meta.update(text=text, dialect=dialect)
    return tree


def _plain(tree: exp.Expr, tokens: Sequence[Token]) -> exp.Expr:
    """The tree with `IS NOT …` as NOT of IS, however the dialect's parser has it.

    PostgreSQL's marks the IS instead, and who does not look at the mark takes it for the opposite.
    """
    if any(token.token_type == TokenType.IS for token in tokens):
        for found in list(tree.find_all(exp.Is)):
            if found.args.get("negate"):
                found.set("negate", None)
                whole = exp.Not(this=found.copy())
                if found is tree:
                    return whole
                found.replace(whole)
    return tree


def parse_text(text: str, dialect: str) -> Tree:
    """Tokenize and parse in one go."""
    tokens = tokenize(text, dialect)
    return tokens if isinstance(tokens, Unparsed) else parse(tokens, text, dialect)


def parse_as_said(text: str, dialect: str) -> Tree:
    """The same tree, but `nulls_first` stands in it only where the text says NULLS FIRST.

    Else it also stands where the dialect puts NULL first by itself.
    """
    tokens = tokenize(text, dialect)
    if isinstance(tokens, Unparsed):
        return tokens
    return _parse(tokens, text, _as_said(dialect), dialect)


def path(node: exp.Expr) -> tuple[tuple[str, int | None], ...]:
    """The way from the root to a node: the argument at each step, and the place in its list."""
    steps = []
    while node.parent is not None:
        steps.append((str(node.arg_key), node.index))
        node = node.parent
    return tuple(reversed(steps))


def follow(tree: Tree, steps: Sequence[tuple[str, int | None]]) -> exp.Expr | None:
    """The node at the end of a way; None where the tree has no such way."""
    found: object = tree
    for name, index in steps:
        found = found.args.get(name) if isinstance(found, exp.Expr) else None
        if index is not None:
            found = found[index] if isinstance(found, list) and index < len(found) else None
    return found if isinstance(found, exp.Expr) else None


def is_query(tree: Tree | None) -> bool:
    """Whether the tree is one that returns rows by reading: SELECT, set operation, VALUES."""
    if isinstance(tree, exp.Subquery):
        return is_query(tree.this)
    return isinstance(tree, exp.Select | exp.SetOperation | exp.Values)


def split_statements(tokens: Sequence[Token]) -> list[tuple[Token, ...]]:
    """The tokens of each statement between semicolons; empty ones are left out."""
    parts: list[tuple[Token, ...]] = []
    start = 0
    for i, token in enumerate(tokens):
        if token.token_type == TokenType.SEMICOLON:
            parts.append(tuple(tokens[start:i]))
            start = i + 1
    parts.append(tuple(tokens[start:]))
    return [part for part in parts if part]


def levels(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """Each token with the number of parentheses around it (those themselves: outside)."""
    depth = 0
    for token in tokens:
        if token.token_type == TokenType.R_PAREN:
            depth -= 1
        yield token, depth
        if token.token_type == TokenType.L_PAREN:
            depth += 1


def begins_at(node: exp.Expr) -> int:
    """Where a node begins in its text: the place of its first part that has one (0-based)."""
    return min((p.meta["start"] for p in node.walk() if "start" in p.meta), default=0)


def line_column(text: str, at: int) -> tuple[int, int]:
    """1-based line and column of a 0-based place."""
    before = text[:at]
    return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1


def _stopped(error: ParseError, tokens: Sequence[Token]) -> Unparsed:
    """sqlglot's own words name its classes; the word it stopped at says more to a reader."""
    where = error.errors[0] if error.errors else {}
    place = (where.get("line"), where.get("col"))
    token = next((t for t in tokens if (t.line, t.col) == place), None)
    if token is None:
        return Unparsed(reason="our parser does not understand it")
    word = " ".join(token.text.split())
    word = word if len(word) <= 40 else word[:37] + "..."
    return Unparsed(reason=f'our parser stops at "{word}"', at=token.start)


def _too_hard(tokens: Sequence[Token], text: str) -> str | None:
    kinds = [token.token_type for token in tokens]
    parentheses = kinds.count(TokenType.L_PAREN)
    words = parentheses + kinds.count(TokenType.JOIN) + kinds.count(TokenType.FROM)
    words += text.upper().count("IF")
    if parentheses <= _MOST_DEPTH and len(tokens) << words <= _MOST_WORK:
        return None  # even if each of them were nested in all others
    if max((depth for _, depth in levels(tokens)), default=0) > _MOST_DEPTH:
        return "it is nested too deeply for our parser"
    if len(tokens) << _forks(tokens) > _MOST_WORK:
        return "it has too many readings for our parser (joins without a condition, for one)"
    return None


def _forks(tokens: Sequence[Token]) -> int:
    """How many places with two readings may stand one inside the other.

    Joins that may still find their ON further on, calls named like a type (`date(date(…`), and
    DuckDB's bare IF. FROM after FROM is no query, but a compiled parser runs out of stack on it.
    """
    bare_joins = others = most = 0
    calls: list[bool] = []
    before: TokenType | None = None
    bare_if = False
    for token in tokens:
        kind = token.token_type
        if kind == TokenType.JOIN:
            bare_joins += 1
        elif kind in _SETTLES_A_JOIN and before != TokenType.JOIN:
            bare_joins -= 1
        elif kind == TokenType.L_PAREN:
            calls.append(before in Parser.TYPE_TOKENS)
            most = max(most, sum(calls))
        elif kind == TokenType.R_PAREN and calls:
            calls.pop()
        others += bare_if and kind != TokenType.L_PAREN
        others += kind == before == TokenType.FROM
        before, bare_if = kind, token.text.upper() == "IF"
    return min(max(bare_joins, 0) + most + others, 64)


_SETTLES_A_JOIN = (TokenType.ON, TokenType.USING, TokenType.CROSS, TokenType.NATURAL)
