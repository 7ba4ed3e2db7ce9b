"""SQLite's date functions under a clock that stands still (setting `today`).

A gold query over the last thirty days is empty once the data is older (case E18): with the clock
set to the time the data is of, it asks for what it once did. The functions take the place of
SQLite's own and ask them, on a connection of their own, with that time instead of now.
"""

import sqlite3
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

_TIMES = {  # function: the places of its arguments that are times
    **dict.fromkeys(("date", "time", "datetime", "julianday", "unixepoch"), (0,)),
    "strftime": (1,),
    "timediff": (0, 1),
}
_CURRENT = {"current_date": "date", "current_time": "time", "current_timestamp": "datetime"}
_PRECISE = ("subsec", "subsecond")


def stop_clock(connection: sqlite3.Connection, today: str) -> sqlite3.Connection:
    """Makes `today` (ISO) the time that it is, for all queries of a connection.

    Returns the connection that its date functions ask, to be closed after it.
    """
    asked = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    now = datetime.fromisoformat(today).isoformat(sep=" ")
    known = {row[0] for row in asked.execute("SELECT name FROM pragma_function_list")}
    for name, places in _TIMES.items():
        if name not in known:
            continue  # of a newer SQLite
        function = partial(_native, asked, name, places, now)
        connection.create_function(name, -1, function, deterministic=True)
    for name, native in _CURRENT.items():
        given: Callable[[], Any] = partial(_native, asked, native, (0,), now)
        connection.create_function(name, 0, given, deterministic=True)
    return asked


def _native(
    asked: sqlite3.Connection, name: str, places: tuple[int, ...], now: str, *arguments: Any
) -> Any:
    """What SQLite's own function says with `now` for each time that is missing, or now itself."""
    given = list(arguments)
    first = places[0]
    if len(given) == first or (len(given) > first and _folded(given[first]) in _PRECISE):
        given.insert(first, now)
    given = [
        now if at in places and _folded(value) == "now" else value for at, value in enumerate(given)
    ]
    marks = ", ".join("?" * len(given))
    return asked.execute(f"SELECT {name}({marks})", given).fetchone()[0]


def _folded(value: Any) -> Any:
    return value.strip().casefold() if isinstance(value, str) else value
