"""PostgreSQL's values in Python: exact, and never an error where a type is too narrow.

What Python's types cannot hold (a date before the year 1, infinity, an interval of months) stays
the text PostgreSQL writes.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Any, cast

from psycopg import Connection, DataError, NotSupportedError, adapters
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.json import set_json_loads

from modularsql.rows import Row

PLAIN = frozenset(
    """
    bool int2 int4 int8 oid float4 float8 numeric text varchar name bytea uuid date time timestamp
    timestamptz inet cidr macaddr macaddr8 tid xid bit varbit money
    """.split()
)
"""Types whose values are equal in Python exactly where `=` says so in the database.

Not: json (no equality there), bpchar (blanks), interval (a month is 30 days), timetz (Python looks
at the moment alone), citext, and whatever an extension adds.
"""

_NOT_A_NUMBER = ("float4", "float8", "numeric")
_UNKNOWN = 0  # the type of what no type is known of
_NAN = Decimal("NaN")
_INTERVAL = re.compile(
    r"(?:(?P<years>-?\d+) years? ?)?(?:(?P<months>-?\d+) mons? ?)?(?:(?P<days>[-+]?\d+) days? ?)?"
    r"(?:(?P<sign>[-+])?(?P<hours>\d+):(?P<minutes>\d\d):(?P<seconds>\d\d(?:\.\d+)?))?"
)


class IntervalLoader(Loader):
    """A `timedelta`; the text as it came where years, months or another style are in it."""

    def load(self, data: Buffer) -> timedelta | str:
        """See `psycopg.abc.Loader`."""
        text = bytes(data).decode()
        found = _INTERVAL.fullmatch(text)
        if found is None or found["years"] or found["months"]:
            return text
        seconds = Decimal(found["seconds"] or 0)
        seconds += 3600 * int(found["hours"] or 0) + 60 * int(found["minutes"] or 0)
        micros = int(seconds * 1_000_000) * (-1 if found["sign"] == "-" else 1)
        try:
            return timedelta(days=int(found["days"] or 0), microseconds=micros)
        except OverflowError:
            return text


class BytewiseText(Loader):
    """Text of a database without an encoding: what is no UTF-8 keeps its bytes (PEP 383)."""

    def load(self, data: Buffer) -> str:
        """See `psycopg.abc.Loader`."""
        return bytes(data).decode("utf-8", "surrogateescape")


def set_up(connection: "Connection[Any]", encoded: bool) -> None:
    """Register the loaders; `encoded` is False for a database in SQL_ASCII."""
    types = connection.adapters
    for name in ("date", "timestamp", "timestamptz", "time", "timetz"):
        types.register_loader(name, _or_text(name))
    types.register_loader("interval", IntervalLoader)
    set_json_loads(_read_json, connection)
    if not encoded:
        for kind in ("text", "varchar", "bpchar", "name", _UNKNOWN):
            types.register_loader(kind, BytewiseText)


def one_nan(types: tuple[str, ...]) -> Callable[[Row], Row] | None:
    """What makes each NaN of a row the same object, None where there can be none.

    It then equals itself, as it does in PostgreSQL.
    """
    if not any(name.rstrip("[]").removeprefix("_") in _NOT_A_NUMBER for name in types):
        return None
    return lambda row: tuple(map(_one, row))


def _one(value: Any) -> Any:
    if value.__class__ is list:
        return list(map(_one, value))
    if value == value:
        return value
    return math.nan if value.__class__ is float else _NAN


def _or_text(name: str) -> type[Loader]:
    """psycopg's own loader, with the text in place of what it cannot hold."""
    oid = adapters.types[name].oid
    own = cast("type[Loader]", adapters.get_loader(oid, Format.TEXT))

    class OrText(Loader):
        def __init__(self, oid: int, context: Any = None) -> None:
            super().__init__(oid, context)
            self._own = own(oid, context).load

        def load(self, data: Buffer) -> Any:
            try:
                return self._own(data)
            except (DataError, NotSupportedError, ValueError, OverflowError):
                return bytes(data).decode()

    return OrText


def _read_json(text: str | bytes) -> Any:
    try:
        return json.loads(text, parse_float=_exact)
    except RecursionError:
        return text if isinstance(text, str) else text.decode()


def _exact(text: str) -> float | Decimal:
    """A float where it holds all the digits, else a Decimal."""
    near, exact = float(text), Decimal(text)
    return near if math.isfinite(near) and Decimal(repr(near)) == exact else exact


def names_of(oids: Iterable[int]) -> dict[int, str | None]:
    """The names psycopg knows types by; None for those of this database alone."""
    found: dict[int, str | None] = {}
    for oid in oids:
        info = adapters.types.get(oid)
        name = info.name if info else None
        found[oid] = f"{name}[]" if info and name and oid == info.array_oid else name
    return found
