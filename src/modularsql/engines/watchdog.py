"""Stops queries that run beyond their clock, from one thread for the whole process.

What does not yield to being stopped runs on: see `isolated.py` for queries that must be killed.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from modularsql.engines.base import Clock

_AGAIN = 0.05
"""Seconds until a query is stopped once more: an interrupt before it began is forgotten."""

_PATIENCE = 2.0
"""Seconds a server may take to end a query that it was asked to end."""


class Watchdog:
    """Calls `stop` when the clock it was armed with runs out, again and again until disarmed.

    A thread for each engine would cost as much as opening a small database does.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything: after a fork there is no thread, and nobody who would disarm."""
        self._armed: dict[Clock, Callable[[], None]] = {}
        self._changed = threading.Condition()
        self._wakes = float("inf")
        self._thread: threading.Thread | None = None
        self._on_duty = True

    def stand_down(self) -> None:
        """Start no thread in this process: something else ends it in time."""
        self._on_duty = False

    def arm(self, clock: Clock, stop: Callable[[], None]) -> None:
        """Watch this clock from now on."""
        if not self._on_duty:
            return
        with self._changed:
            self._armed[clock] = stop
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            elif clock.end < self._wakes:  # else it wakes early enough by itself
                self._changed.notify()

    def disarm(self, clock: Clock) -> None:
        """The query ended by itself; from here on its `stop` is not called."""
        with self._changed:
            self._armed.pop(clock, None)

    def _watch(self) -> None:
        with self._changed:
            while True:
                late = [stop for clock, stop in self._armed.items() if clock.passed()]
                for stop in late:
                    with suppress(Exception):  # the others are still to be watched
                        stop()
                ends = [clock.end for clock in self._armed]
                self._wait(_AGAIN if late else min(ends) - time.monotonic() if ends else None)

    def _wait(self, seconds: float | None) -> None:
        self._wakes = float("inf") if seconds is None else time.monotonic() + seconds
        self._changed.wait(seconds if seconds is None else max(0.0, seconds))


class _Ender:
    """Ends a query on a server from a thread of its own: the watchdog has others to watch."""

    def __init__(self, ways: tuple[Callable[[], None], ...]) -> None:
        self._ways = ways
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self) -> None:
        """The time is over."""
        if self._thread is None and not self._over.is_set():
            self._thread = threading.Thread(target=self._end, daemon=True)
            self._thread.start()

    def over(self) -> None:
        """The query ended; waits for what is being asked of the server: it must hit no other."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _end(self) -> None:
        for way in self._ways:
            if self._over.is_set():
                return
            with suppress(Exception):  # the next way is still to be tried
                way()
            self._over.wait(_PATIENCE)


WATCHDOG = Watchdog()
"""The one of this process."""


@contextmanager
def ended_at(clock: Clock, *ways: Callable[[], None]) -> Iterator[None]:
    """What runs inside is ended when the clock runs out, by one way after the other."""
    ender = _Ender(ways)
    WATCHDOG.arm(clock, ender)
    try:
        yield
    finally:
        WATCHDOG.disarm(clock)
        ender.over()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCHDOG.reset)
