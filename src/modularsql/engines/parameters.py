"""Values for `?`, `:name`, `$name` and `$1` on servers whose drivers write them otherwise."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot.tokenizer_core import Token, TokenType

from modularsql.engines.base import no_parameter, no_value
from modularsql.records import Failure, Params
from modularsql.sql.parse import Unparsed, tokenize


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A text with the driver's own placeholders, and the values in their order."""

    sql: str
    values: list[Any]


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    name: str  # "" for the next position


def bind(
    sql: str,
    params: Params,
    dialect: str,
    mark: Callable[[int], str],
    rest: Callable[[str], str] = str,
) -> Bound | Failure:
    """The text with `mark(n)` (n from 1) for each placeholder; a failure where values lack.

    `rest` is applied to all between them. Without values the text stays as it is.
    """
    if not params:
        return Bound(sql=sql, values=[])
    tokens = tokenize(sql, dialect)
    places = [] if isinstance(tokens, Unparsed) else list(_places(tokens))
    if isinstance(params, Mapping):  # then `?` is what it is elsewhere, as jsonb's operator
        places = [place for place in places if place.name]
    values = _values(places, params)
    if isinstance(values, Failure):
        return values
    parts, at = [], 0
    for number, place in enumerate(places, 1):
        parts += [rest(sql[at : place.start]), mark(number)]
        at = place.end
    return Bound(sql="".join([*parts, rest(sql[at:])]), values=values)


def has_placeholders(sql: str, dialect: str) -> bool:
    """Whether the text waits for values."""
    tokens = tokenize(sql, dialect)
    return not isinstance(tokens, Unparsed) and any(True for _ in _places(tokens))


def _values(places: list[_Place], params: Params) -> list[Any] | Failure:
    """The values in the order of the places; every place has one, and every value a place."""
    if isinstance(params, Mapping):
        names = [place.name for place in places]
        given = dict(params)
    else:
        numbers = (str(number) for number in range(1, len(places) + 1))
        names = [place.name or next(numbers) for place in places]
        given = {str(number): value for number, value in enumerate(params or (), 1)}
    if lacking := [name for name in dict.fromkeys(names) if name not in given]:
        return no_value(lacking)
    if spare := [name for name in given if name not in names]:
        return no_parameter(spare)
    return [given[name] for name in names]


def _places(tokens: tuple[Token, ...]) -> list[_Place]:
    """Every placeholder; `a[1:n]` and `a::int` hold none."""
    found = []
    brackets = 0
    for i, token in enumerate(tokens):
        brackets += token.token_type == TokenType.L_BRACKET
        brackets -= token.token_type == TokenType.R_BRACKET
        after = tokens[i + 1] if i + 1 < len(tokens) else None
        touches = after is not None and after.start == token.end + 1
        named = after if touches else None
        if token.token_type == TokenType.PLACEHOLDER:
            found.append(_Place(token.start, token.end + 1, ""))
        elif named and (_is_dollar(token) or _is_colon(token, brackets)):
            found.append(_Place(token.start, named.end + 1, named.text))
        elif token.token_type == TokenType.VAR and token.text[0] == "$" and len(token.text) > 1:
            found.append(_Place(token.start, token.end + 1, token.text[1:]))
    return found


def _is_dollar(token: Token) -> bool:
    return token.token_type == TokenType.PARAMETER and token.text == "$"


def _is_colon(token: Token, brackets: int) -> bool:
    """Whether a value may begin at a colon: not inside the brackets of a slice."""
    return token.token_type == TokenType.COLON and not brackets
