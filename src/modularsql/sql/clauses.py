"""The clauses of a SELECT as stretches of its text.

Rewrites move whole clauses and conditions, so what they keep is kept to the byte. Keywords count
only on the level of the block: not in parentheses, CASE or BETWEEN.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from modularsql.sql.outermost import outermost
from modularsql.sql.parse import levels
from modularsql.sql.statement import Statement


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the text: `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Condition:
    """One of several conditions joined by AND; `joint` is the AND before it, None for the first."""

    span: Span
    joint: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One source in FROM.

    `lead` is what joins it (`LEFT JOIN`, `,`; None for the first), `on` the word ON, and
    `conditions` what follows it. A USING is one condition, word and names.
    """

    whole: Span
    lead: Span | None
    table: Span
    on: Span | None
    conditions: tuple[Condition, ...]
    using: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Clauses:
    """A SELECT from its word SELECT to `end`, the end of WHERE; `stop` is that of the whole.

    `start` is the word FROM, `where` the word WHERE; `after` are the later clauses by their first
    word (GROUP BY, HAVING …), each up to the next.
    """

    select: Span
    start: int
    items: tuple[Item, ...]
    where: Span | None
    conditions: tuple[Condition, ...]
    end: int
    after: dict[TokenType, Span]
    stop: int


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
_SETS = frozenset({TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT})
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
    """The statement's own SELECT taken apart; None where it is no SELECT with a FROM."""
    if not isinstance(outermost(statement.tree), exp.Select):
        return None
    level = _level(statement)
    select = _find(level, {TokenType.SELECT})
    begin = None if select is None else _find(level, {TokenType.FROM}, select)
    if select is None or begin is None:
        return None
    end = _find(level, _ENDS, begin)
    where = _find(level, {TokenType.WHERE}, begin)
    stop = len(level) if end is None else end
    if stop <= begin + 1 or (where is not None and where >= stop):
        return None
    first_where = stop if where is None else where
    return Clauses(
        select=_span(level[select : select + 1]),
        start=level[begin].start,
        items=tuple(_items(level[begin + 1 : first_where])),
        where=None if where is None else _span(level[where : where + 1]),
        conditions=() if where is None else _conditions(level[where + 1 : stop]),
        end=level[stop - 1].end,
        after=_after(level, stop),
        stop=level[-1].end,
    )


def within(statement: Statement, select: exp.Select) -> Statement | None:
    """The statement as if one SELECT in it were all: its tree, and its tokens of the same text.

    None where its words are not found in the text.
    """
    if outermost(statement.tree) is select:
        return statement
    inner, enclosing = _first_place(select)
    at = next((i for i, t in enumerate(statement.tokens) if t.start == inner), None)
    depths = [depth for _, depth in levels(statement.tokens)]
    while at is not None and enclosing:
        at = _select_before(statement.tokens, depths, at)
        enclosing -= 1
    if at is None:
        return None
    stop = next(
        (
            i
            for i in range(at, len(depths))
            if depths[i] < depths[at]
            or (depths[i] == depths[at] and statement.tokens[i].token_type in _SETS)
        ),
        len(depths),
    )
    return replace(statement, tokens=statement.tokens[at:stop], tree=select)


def _first_place(select: exp.Select) -> tuple[int | None, int]:
    """Where its first part begins, CTEs aside, and how many SELECTs around that part are inside."""
    best: exp.Expr | None = None
    for name, value in select.args.items():
        for part in value if isinstance(value, list) else [value]:
            if name == "with_" or not isinstance(part, exp.Expr):
                continue
            for node in part.walk():
                if "start" in node.meta and (
                    best is None or node.meta["start"] < best.meta["start"]
                ):
                    best = node
    if best is None:
        return None, 0
    around, count = best, 1
    while (above := around.find_ancestor(exp.Select)) is not None and above is not select:
        around, count = above, count + 1
    return int(best.meta["start"]), count


def _select_before(tokens: Sequence[Token], depths: list[int], at: int) -> int | None:
    """The SELECT around a token: the nearest before it that no closed parenthesis hides."""
    lowest = depths[at] - (tokens[at].token_type == TokenType.SELECT)
    for i in range(at - 1, -1, -1):
        if tokens[i].token_type == TokenType.SELECT and depths[i] <= lowest:
            return i
        if tokens[i].token_type == TokenType.L_PAREN:
            lowest = min(lowest, depths[i])
    return None


def leftovers(statement: Statement, stretch: Span, carried: Sequence[Span] = ()) -> str:
    """The comments in a stretch that is to go, but for those inside what is carried elsewhere."""
    found: list[str] = []
    tokens = [t for t in statement.tokens if stretch.start <= t.start < stretch.end]
    edges = [stretch.start, *(place for t in tokens for place in (t.start, t.end + 1))]
    for start, end in zip(edges[::2], [*edges[1::2], stretch.end], strict=False):
        comment = statement.text[start:end].strip()
        if comment and not any(c.start <= start and end <= c.end for c in carried):
            found.append(comment + ("\n" if "--" in comment.splitlines()[-1] else " "))
    return "".join(found)


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


def _span(pieces: Sequence[_Piece]) -> Span:
    return Span(pieces[0].start, pieces[-1].end)


def _find(
    level: Sequence[_Piece], kinds: "set[TokenType] | frozenset[TokenType]", start: int = 0
) -> int | None:
    return next((i for i in range(start, len(level)) if level[i].kind in kinds), None)


def _after(level: list[_Piece], stop: int) -> dict[TokenType, Span]:
    """The clauses behind WHERE, each with all it holds."""
    starts = [i for i in range(stop, len(level)) if level[i].kind in _ENDS]
    return {
        kind: _span(level[start:end])
        for start, end in pairwise([*starts, len(level)])
        if (kind := level[start].kind) is not None
    }


def _items(pieces: list[_Piece]) -> Iterator[Item]:
    starts = [0]
    for i, piece in enumerate(pieces):
        joins = piece.kind in _JOINS and pieces[i - 1].kind not in _JOINS
        if i and (piece.kind == TokenType.COMMA or joins):
            starts.append(i)
    for start, stop in zip(starts, [*starts[1:], len(pieces)], strict=True):
        yield _item(pieces[start:stop])


def _item(pieces: list[_Piece]) -> Item:
    lead = 0
    while lead < len(pieces) - 1 and (
        pieces[lead].kind in _JOINS or pieces[lead].kind == TokenType.COMMA
    ):
        lead += 1
    on = next((i for i, p in enumerate(pieces) if p.kind in (TokenType.ON, TokenType.USING)), None)
    using = on is not None and pieces[on].kind == TokenType.USING
    conditions: tuple[Condition, ...] = ()
    if using and on is not None:
        conditions = (Condition(_span(pieces[on:]), None),)
    elif on is not None:
        conditions = _conditions(pieces[on + 1 :])
    body = pieces[lead:on] or pieces[lead : lead + 1]
    return Item(
        whole=_span(pieces),
        lead=_span(pieces[:lead]) if lead else None,
        table=_span(body),
        on=_span(pieces[on : on + 1]) if on is not None and not using else None,
        conditions=conditions,
        using=using,
    )


def _conditions(pieces: list[_Piece]) -> tuple[Condition, ...]:
    """The parts joined by AND; the whole where OR stands beside them."""
    if not pieces:
        return ()
    cuts, between, case = [-1], 0, 0
    for i, piece in enumerate(pieces):
        if piece.kind == TokenType.CASE:
            case += 1
        elif piece.kind == TokenType.END:
            case -= 1
        elif case:
            continue
        elif piece.kind == TokenType.OR:
            return (Condition(_span(pieces), None),)
        elif piece.kind == TokenType.BETWEEN:
            between += 1
        elif piece.kind == TokenType.AND:
            if between:
                between -= 1
            else:
                cuts.append(i)
    return tuple(
        Condition(_span(pieces[a + 1 : b]), _span(pieces[a : a + 1]) if a >= 0 else None)
        for a, b in zip(cuts, [*cuts[1:], len(pieces)], strict=True)
        if a + 1 < b
    )
