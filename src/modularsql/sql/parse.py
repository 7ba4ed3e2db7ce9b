"""Text to tokens and tree, by sqlglot. What does not parse is a value with a reason.

Tokens keep their places (0-based, end exclusive here), so that edits touch only what they mean.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import Dialect, exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

# sqlglot warns on the log when it falls back to an opaque Command; our answer says it instead.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unparsed:
    """Why there is no tree; the database may still run the text."""

    reason: str
    line: int = 1
    column: int = 1


Tree = exp.Expr | Unparsed


def tokenize(text: str, dialect: str) -> tuple[Token, ...] | Unparsed:
    """The tokens of `text`, or why it has none (an unclosed quote, for one)."""
    try:
        return tuple(Dialect.get_or_raise(dialect).tokenize(text))
    except (TokenError, RecursionError, ValueError, IndexError) as error:
        return Unparsed(reason=_one_line(error))


def parse(tokens: Sequence[Token], text: str, dialect: str) -> Tree:
    """The tree of one statement. sqlglot accepts some text that no database does."""
    try:
        trees = Dialect.get_or_raise(dialect).parser().parse(list(tokens), text)
    except ParseError as error:
        where = error.errors[0] if error.errors else {}
        return Unparsed(
            reason=str(where.get("description") or _one_line(error)),
            line=int(where.get("line") or 1),
            column=int(where.get("col") or 1),
        )
    except RecursionError:
        return Unparsed(reason="nested too deeply to parse")
    except Exception as error:
        # A parser that meets arbitrary text; whatever it trips over, the text is still runnable.
        return Unparsed(reason=f"the parser failed: {_one_line(error)}")
    if len(trees) != 1 or trees[0] is None:
        return Unparsed(reason="not one statement")
    return trees[0]


def parse_text(text: str, dialect: str) -> Tree:
    """Tokenize and parse in one go."""
    tokens = tokenize(text, dialect)
    return tokens if isinstance(tokens, Unparsed) else parse(tokens, text, dialect)


def is_query(tree: Tree | None) -> bool:
    """Whether the tree is one that returns rows by reading: SELECT, set operation, VALUES."""
    if isinstance(tree, exp.Subquery):
        return is_query(tree.this)
    return isinstance(tree, exp.Select | exp.SetOperation | exp.Values)


def split_statements(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Places `(start, end)` of the statements between semicolons; empty ones are left out."""
    places: list[tuple[int, int]] = []
    first: Token | None = None
    last: Token | None = None
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            if first is not None and last is not None:
                places.append((first.start, last.end + 1))
            first = last = None
        else:
            first = first or token
            last = token
    if first is not None and last is not None:
        places.append((first.start, last.end + 1))
    return places


def line_column(text: str, at: int) -> tuple[int, int]:
    """1-based line and column of a 0-based place."""
    before = text[:at]
    return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1


def _one_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
