"""Values of a database as JSON, cell by cell as docs/interfaces.md writes them down."""

import base64
import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any


def plain(value: Any) -> Any:
    """A value made of lists, dictionaries and scalars with all its text made fit for JSON."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {text(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def cell(value: Any) -> Any:
    """One value of a row; nothing is rounded, nothing fails."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, str):
        return _text_cell(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return {"base64": base64.b64encode(bytes(value)).decode()}
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, list | tuple):
        return [cell(item) for item in value]
    if isinstance(value, dict):
        return _map(value)
    # Decimal with its digits, UUID, and whatever a driver adds: the value's own text.
    return text(format(value, "f") if isinstance(value, Decimal) else str(value))


def text(value: str) -> str:
    """Text that a JSON file can hold; bytes that are no UTF-8 are shown as such."""
    return value if value.isascii() else _bytes(value).decode("utf-8", "backslashreplace")


def _text_cell(value: str) -> Any:
    if value.isascii():
        return value
    raw = _bytes(value)
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}
    return value


def _bytes(value: str) -> bytes:
    """The bytes a text stands for: lone surrogates are bytes that were no UTF-8 (PEP 383)."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair, which no driver makes but a caller may
        return value.encode("utf-8", "surrogatepass")


def _map(value: dict[Any, Any]) -> Any:
    """An object; a list of pairs where two keys would become one name."""
    names = [text(key) if isinstance(key, str) else str(cell(key)) for key in value]
    items = [cell(item) for item in value.values()]
    if len(set(names)) == len(names):
        return dict(zip(names, items, strict=True))
    return [list(pair) for pair in zip(map(cell, value), items, strict=True)]


def _duration(value: timedelta) -> str:
    """ISO 8601, in days and seconds: `P1DT2.5S`."""
    sign = "-" if value < timedelta(0) else ""
    value = abs(value)
    seconds = f"{value.seconds}.{value.microseconds:06d}".rstrip("0").rstrip(".")
    return f"{sign}P{value.days}DT{seconds}S"
