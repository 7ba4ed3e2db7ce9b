"""What all engines share: the file they may open, the clock of a query, a watchdog."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from modularsql.errors import InputError, SetupError


class Clock:
    """The time left of a query; `passed` is cheap enough to ask thousands of times a second."""

    def __init__(self, seconds: float) -> None:
        self._start = time.monotonic()
        self._end = self._start + seconds

    def passed(self) -> bool:
        """Whether the limit is over."""
        return time.monotonic() >= self._end

    def left(self) -> float:
        """Seconds left, 0 when over."""
        return max(0.0, self._end - time.monotonic())

    def ms(self) -> float:
        """Milliseconds since the start."""
        return (time.monotonic() - self._start) * 1000


class Watchdog:
    """Calls `stop` from a thread of its own when an armed clock runs out.

    One thread serves all queries of an engine. What does not yield to `stop` runs on: see
    `engines/isolated.py` for queries that must be killed.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._clock: Clock | None = None
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def arm(self, clock: Clock) -> None:
        """Watch this clock from now on."""
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            self._clock = clock
            self._changed.notify()

    def disarm(self) -> None:
        """The query ended by itself."""
        with self._changed:
            self._clock = None

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                if self._clock is None:
                    self._changed.wait()
                elif self._clock.passed():
                    self._stop()
                    # Again until disarmed: an interrupt before the query began is forgotten.
                    self._changed.wait(0.05)
                else:
                    self._changed.wait(self._clock.left())


def existing_file(path: Path) -> Path:
    """The path itself if it is a file that can be read; opening must never create one."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder, not a database file")
        if not path.exists():
            raise InputError(f"no database file at {path}", "check the path", "not_found")
        with path.open("rb") as file:
            file.read(1)
    except (OSError, ValueError) as error:
        raise SetupError(f"cannot read {path}: {error}", "check its permissions") from error
    return path
