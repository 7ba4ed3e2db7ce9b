"""The clauses of the outermost SELECT as stretches of its text.

Rewrites move whole clauses and conditions, so what they keep is kept to the byte. Keywords count
only on the level of the block: not in parentheses, CASE or BETWEEN.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from modularsql.sql.outermost import outermost
from modularsql.sql.statement import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One source in FROM: `lead` is what joins it (`LEFT JOIN`, `,`; empty for the first)."""

    lead: str
    table: str
    conditions: tuple[str, ...]
    using: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Clauses:
    """`text[:start]`, FROM with its items, WHERE with its conditions, `text[end:]`."""

    start: int
    end: int
    items: tuple[Item, ...]
    conditions: tuple[str, ...]


_ENDS = frozenset(
    {
        TokenType.GROUP_BY,
        TokenType.HAVING,
        TokenType.ORDER_BY,
        TokenType.LIMIT,
        TokenType.OFFSET,
        TokenType.FETCH,
        TokenType.WINDOW,
        TokenType.QUALIFY,
        TokenType.UNION,
        TokenType.INTERSECT,
        TokenType.EXCEPT,
    }
)
_JOINS = frozenset(
    {
        TokenType.JOIN,
        TokenType.INNER,
        TokenType.LEFT,
        TokenType.RIGHT,
        TokenType.FULL,
        TokenType.OUTER,
        TokenType.CROSS,
        TokenType.NATURAL,
        TokenType.SEMI,
        TokenType.ANTI,
        TokenType.ASOF,
        TokenType.STRAIGHT_JOIN,
    }
)


def clauses(statement: Statement) -> Clauses | None:
    """The outermost SELECT taken apart; None where it is no SELECT with a FROM."""
    if not isinstance(outermost(statement.tree), exp.Select):
        return None
    level = _level(statement)
    select = _find(level, {TokenType.SELECT})
    begin = None if select is None else _find(level, {TokenType.FROM}, select)
    if begin is None:
        return None
    end = _find(level, _ENDS, begin)
    where = _find(level, {TokenType.WHERE}, begin)
    stop = len(level) if end is None else end
    text, last = statement.text, _end_of(statement, level, stop)
    first_where = stop if where is None else where
    items = tuple(_items(text, level[begin + 1 : first_where], statement))
    conditions: tuple[str, ...] = ()
    if where is not None:
        conditions = _conditions(text, level[where + 1 : stop])
    return Clauses(start=level[begin].start, end=last, items=items, conditions=conditions)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A token on the block's level, or everything between one pair of parentheses."""

    kind: TokenType | None
    start: int
    end: int


def _level(statement: Statement) -> list[_Piece]:
    wanted, tree = 0, statement.tree
    while isinstance(tree, exp.Subquery):
        wanted, tree = wanted + 1, tree.this
    depth, opened, pieces = 0, 0, []
    for token in statement.tokens:
        if token.token_type == TokenType.L_PAREN:
            depth += 1
            opened = token.start if depth == wanted + 1 else opened
        elif token.token_type == TokenType.R_PAREN:
            depth -= 1
            if depth == wanted:
                pieces.append(_Piece(None, opened, token.end + 1))
        elif depth == wanted:
            pieces.append(_Piece(token.token_type, token.start, token.end + 1))
    return pieces


def _find(
    level: Sequence[_Piece], kinds: "set[TokenType] | frozenset[TokenType]", start: int = 0
) -> int | None:
    return next((i for i in range(start, len(level)) if level[i].kind in kinds), None)


def _end_of(statement: Statement, level: list[_Piece], stop: int) -> int:
    """Where FROM and WHERE end: behind their last piece, before what follows."""
    return level[stop - 1].end


def _items(text: str, pieces: list[_Piece], statement: Statement) -> Iterator[Item]:
    starts = [0]
    for i, piece in enumerate(pieces):
        joins = piece.kind in _JOINS and pieces[i - 1].kind not in _JOINS
        if i and (piece.kind == TokenType.COMMA or joins):
            starts.append(i)
    for start, stop in zip(starts, [*starts[1:], len(pieces)], strict=True):
        yield _item(text, pieces[start:stop])


def _item(text: str, pieces: list[_Piece]) -> Item:
    lead = 0
    while lead < len(pieces) and (
        pieces[lead].kind in _JOINS or pieces[lead].kind == TokenType.COMMA
    ):
        lead += 1
    on = next((i for i, p in enumerate(pieces) if p.kind in (TokenType.ON, TokenType.USING)), None)
    body = pieces[lead:on]
    conditions: tuple[str, ...] = ()
    using = on is not None and pieces[on].kind == TokenType.USING
    if on is not None and not using:
        conditions = _conditions(text, pieces[on + 1 :])
    elif on is not None:
        conditions = (text[pieces[on].start : pieces[-1].end],)
    return Item(
        lead=text[pieces[0].start : pieces[lead - 1].end] if lead else "",
        table=text[body[0].start : body[-1].end] if body else "",
        conditions=conditions,
        using=using,
    )


def _conditions(text: str, pieces: list[_Piece]) -> tuple[str, ...]:
    """The parts joined by AND; the whole where OR stands beside them."""
    if not pieces:
        return ()
    cuts, between, case = [0], 0, 0
    for i, piece in enumerate(pieces):
        if piece.kind == TokenType.CASE:
            case += 1
        elif piece.kind == TokenType.END:
            case -= 1
        elif case:
            continue
        elif piece.kind == TokenType.OR:
            return (text[pieces[0].start : pieces[-1].end],)
        elif piece.kind == TokenType.BETWEEN:
            between += 1
        elif piece.kind == TokenType.AND:
            if between:
                between -= 1
            else:
                cuts.append(i + 1)
    stops = [cut - 1 for cut in cuts[1:]] + [len(pieces)]
    return tuple(
        text[pieces[a].start : pieces[b - 1].end] for a, b in zip(cuts, stops, strict=True) if a < b
    )


def token_at(statement: Statement, start: int) -> Token | None:
    """The token that begins at a place."""
    return next((token for token in statement.tokens if token.start == start), None)
