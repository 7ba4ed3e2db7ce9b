"""What all engines share: the clock of a query, a watchdog, the caps on what is kept."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from modularsql.errors import InputError
from modularsql.records import Failure, FailureKind, Limits
from modularsql.rows import Row

LONGEST_SQL = 1_000_000
"""Characters of one statement; generated lists of literals stay well below."""

SPILL_MB = 4_096
"""Megabytes one query may write to temporary files, where they can be bounded."""

_LONG = (str, bytes)
_NESTED = (list, tuple, dict)


class TooLargeError(Exception):
    """One cell or row alone passes its cap."""


class Clock:
    """The time left of a query; `passed` is cheap enough to ask thousands of times a second."""

    def __init__(self, seconds: float) -> None:
        self._start = time.monotonic()
        self.end = self._start + seconds

    def passed(self) -> bool:
        """Whether the limit is over."""
        return time.monotonic() >= self.end

    def left(self) -> float:
        """Seconds left, 0 when over."""
        return max(0.0, self.end - time.monotonic())

    def pause(self, seconds: float) -> bool:
        """Sleep, not beyond the limit; False when the limit was over before."""
        if self.passed():
            return False
        time.sleep(min(seconds, self.left()))
        return True

    def ms(self) -> float:
        """Milliseconds since the start."""
        return (time.monotonic() - self._start) * 1000


class Watchdog:
    """Calls `stop` from a thread of its own when an armed clock runs out.

    One thread serves all queries of an engine. What does not yield to `stop` runs on: see
    `engines/isolated.py` for queries that must be killed.
    """

    def __init__(self) -> None:
        self._armed: tuple[Clock, Callable[[], None]] | None = None
        self._changed = threading.Condition()
        self._closed = False
        self._wakes = 0.0
        self._thread: threading.Thread | None = None

    def arm(self, clock: Clock, stop: Callable[[], None]) -> None:
        """Watch this clock from now on."""
        with self._changed:
            self._armed = (clock, stop)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            elif clock.end < self._wakes:  # else it wakes early enough by itself
                self._changed.notify()

    def disarm(self) -> None:
        """The query ended by itself."""
        with self._changed:
            self._armed = None

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                if self._armed is None:
                    self._wait(None)
                    continue
                clock, stop = self._armed
                if clock.passed():
                    stop()
                    # Again until disarmed: an interrupt before the query began is forgotten.
                    self._wait(0.05)
                else:
                    self._wait(clock.left())

    def _wait(self, seconds: float | None) -> None:
        self._wakes = float("inf") if seconds is None else time.monotonic() + seconds
        self._changed.wait(seconds)


def first_rows(rows: Iterable[Row], limits: Limits, max_cell: int) -> tuple[list[Row], bool]:
    """The rows that fit the caps, and whether there were more; asks for one row at a time.

    Text counts by its characters, other plain cells by eight bytes. Raises `TooLargeError` for a
    cell beyond `max_cell` and for a first row that alone passes `limits.max_bytes`.
    """
    kept: list[Row] = []
    total = 0
    for row in rows:
        if len(kept) >= limits.max_rows:
            return kept, True
        total += 8 * len(row)
        for cell in row:
            if cell.__class__ in _LONG:
                size = len(cell)
            elif cell.__class__ in _NESTED:
                size = _size(cell)
            else:
                continue
            if size > max_cell:
                raise TooLargeError(f"a cell has more than {max_cell} bytes (max_cell_bytes)")
            total += size
        if total > limits.max_bytes:
            if not kept:
                raise TooLargeError(f"one row has more than {limits.max_bytes} bytes (max_bytes)")
            return kept, True
        kept.append(row)
    return kept, False


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return sum(_size(k) + _size(v) for k, v in value.items())
    if isinstance(value, list | tuple):
        return 8 + sum(map(_size, value))
    return len(value) if isinstance(value, _LONG) else 8


def too_long(sql: str) -> Failure | None:
    """A refusal where the text passes `LONGEST_SQL`."""
    if len(sql) <= LONGEST_SQL:
        return None
    message = f"the SQL has more than {LONGEST_SQL} characters"
    return Failure(kind=FailureKind.REFUSED, message=message)


def closed(name: str) -> InputError:
    """What every method of a closed engine raises."""
    return InputError(f"the engine of {name} is closed", "open it again", "closed")
