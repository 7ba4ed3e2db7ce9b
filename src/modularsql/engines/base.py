"""What all engines share: the clock of a query, the caps on what is kept."""

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from modularsql.config import Settings
from modularsql.errors import InputError, SetupError
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


class OneAtATime:
    """What engines have in common: a name, settings, one query at a time, and an end."""

    def __init__(self, name: str, settings: Settings | None) -> None:
        """`name` is the path as given, or a URL without secrets."""
        self.name = name
        self._settings = settings or Settings()
        self._lock = threading.RLock()
        self._closed = False

    def close(self) -> None:
        """Give back what is held; a closed engine runs nothing more."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._give_back()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Nobody else's query runs inside. Raises `InputError` when closed."""
        with self._lock:
            if self._closed:
                raise closed(self.name)
            yield

    def _give_back(self) -> None:
        """Close what is open."""
        raise NotImplementedError


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
    message = f"the SQL has more than {LONGEST_SQL:,} characters"
    return Failure(kind=FailureKind.REFUSED, message=message)


def no_value(names: Iterable[str] = ()) -> Failure:
    """Parameters of the query that nobody gave a value for, by name or number where known."""
    called = ", ".join(names)
    message = "it has parameters without values" + (f" ({called})" if called else "")
    return Failure(kind=FailureKind.UNBOUND, message=message)


def no_parameter(names: Iterable[str]) -> Failure:
    """Values for parameters that the query does not have: most likely a typing error."""
    called = ", ".join(names)
    return Failure(kind=FailureKind.UNBOUND, message=f"it has no parameter {called}")


def miscounted(wanted: int, given: int) -> Failure:
    """Another number of values by position than the query has places for."""
    if given > wanted:
        return no_parameter(str(position) for position in range(wanted + 1, given + 1))
    # Without any value nothing says whether they have names.
    return no_value(str(position) for position in range(given + 1, wanted + 1) if given)


def unread(name: str, why: Failure) -> SetupError:
    """Why a server's schema cannot be read; where it is away, as any query would say it."""
    kind = "unreachable" if why.kind == FailureKind.DIED else ""
    return SetupError(f"cannot read the schema of {name}: {why.message}", "try again later", kind)


def closed(name: str) -> InputError:
    """What every method of a closed engine raises."""
    return InputError(f"the engine of {name} is closed", "open it again", "closed")
