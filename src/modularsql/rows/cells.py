"""Cells as keys: two cells are the same answer exactly where their keys are equal in Python.

Numbers compare by value whatever the driver's type (int, float, bool, Decimal); NULL equals NULL
and NaN equals NaN; a date equals the timestamp at its midnight, as in SQL. Text is never a number,
bytes are never text, and NULL, NaN, '' and 'NULL' are four values. Text that is not UTF-8 compares
by its bytes (engines keep them as lone surrogates).
"""

from collections.abc import Hashable, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from itertools import chain
from operator import ne
from types import NoneType
from typing import Any

Row = tuple[Any, ...]


class Special(Enum):
    """Stand-ins for values that Python does not compare, or hash, as needed here."""

    NAN = "NaN"
    MINUS_ONE = "-1"
    NO_TEXT = "''"


NUMBERS = (int, float, Decimal)
"""Types whose values are numbers; the abstract `numbers.Number` takes five times as long to ask."""

_AS_THEY_ARE = frozenset({NoneType, int, bool, str, bytes})


def comparable(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows with keys for cells; the very same object where Python compares them as we do."""
    types = types_in(rows)
    if types <= _AS_THEY_ARE or (types <= _AS_THEY_ARE | {float} and not _any_nan(rows)):
        return rows
    return [tuple(map(key, row)) for row in rows]


def types_in(rows: Sequence[Row]) -> set[type]:
    """The Python types of all cells."""
    return set(map(type, chain.from_iterable(rows)))


def key(value: Any) -> Hashable:
    """What stands for a cell in comparisons."""
    convert = _KEYS.get(type(value))
    if convert is not None:
        return convert(value)  # type: ignore[no-any-return]
    for kind, convert in _KEYS.items():
        if isinstance(value, kind):
            return convert(value)  # type: ignore[no-any-return]
    return value  # type: ignore[no-any-return]


def _any_nan(rows: Sequence[Row]) -> bool:
    cells = list(chain.from_iterable(rows))
    return True in map(ne, cells, cells)


def _float(value: float) -> Hashable:
    return Special.NAN if value != value else value


def _decimal(value: Decimal) -> Hashable:
    """The float that is written the same, where there is one: 6.90 is 6.9."""
    if value.is_nan():
        return Special.NAN
    if value == value.to_integral_value():
        return value  # Python compares it with any whole number exactly
    near = float(value)
    return near if Decimal(repr(near)) == value else value


def _date(value: date) -> Hashable:
    return datetime(value.year, value.month, value.day)


def _list(value: Sequence[Any]) -> Hashable:
    return ("list", *map(key, value))


def _map(value: dict[Any, Any]) -> Hashable:
    return ("map", *((key(name), key(item)) for name, item in value.items()))


def _itself(value: Hashable) -> Hashable:
    return value


# A datetime is a date to isinstance, so it stands first.
_KEYS: dict[type, Any] = {
    float: _float,
    Decimal: _decimal,
    datetime: _itself,
    date: _date,
    list: _list,
    tuple: _list,
    dict: _map,
    bytearray: bytes,
    memoryview: bytes,
}
