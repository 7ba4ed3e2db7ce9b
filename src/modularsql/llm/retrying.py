"""How often and how long a server is asked: backoff, `Retry-After`, one deadline for all of it.

Tried again: 408, 409, 429, 5xx, broken connections and replies that are none. Not: what another
try cannot mend. The `openai` library retries too, but knows no deadline over all its attempts.
"""

import email.utils
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from time import sleep as pause
from typing import TypeVar

Result = TypeVar("Result")

_AGAIN = frozenset({0, 408, 409, 429})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0


class HttpError(Exception):
    """A call that brought no completion; `status` 0 where there is no HTTP status to blame."""

    def __init__(
        self, *, status: int, words: str, retry_after: str | None = None, again: bool = False
    ) -> None:
        super().__init__(words)
        self.status = status
        self.words = words
        self.retry_after = retry_after
        self.again = again or status in _AGAIN or status >= 500


@dataclass(slots=True)
class Attempt:
    """The deadline as one attempt sees it."""

    end: float

    def seconds(self) -> float:
        """Seconds left."""
        return max(0.001, self.end - time.monotonic())

    def check(self) -> None:
        """Ends an answer that trickles in for ever."""
        if time.monotonic() > self.end:
            raise HttpError(status=0, words="no answer in time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """At most `attempts` tries within `seconds`, pauses included."""

    seconds: float
    attempts: int

    def run(self, call: Callable[[Attempt], Result]) -> Result:
        """The first result; else the last `HttpError`."""
        attempt = Attempt(time.monotonic() + self.seconds)
        for number in range(1, self.attempts + 1):
            try:
                return call(attempt)
            except HttpError as failure:
                seconds = _seconds(failure.retry_after, number)
                over = number == self.attempts or seconds >= attempt.end - time.monotonic()
                if over or not failure.again:
                    raise
                pause(seconds)
        raise AssertionError("attempts is at least 1")


def _seconds(retry_after: str | None, number: int) -> float:
    """Seconds as the server wishes, else doubling with every try and a little by chance."""
    asked = _asked(retry_after)
    if asked is not None:
        return asked
    doubled = min(_FIRST_PAUSE * 2.0 ** (number - 1), _LONGEST_PAUSE)
    return doubled * (1 - 0.25 * random.random())  # noqa: S311 - spreads clients, hides nothing


def _asked(retry_after: str | None) -> float | None:
    """`Retry-After` in seconds or as a date; None for neither."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        date = email.utils.parsedate_tz(retry_after)
        if date is None:
            return None
        seconds = email.utils.mktime_tz(date) - time.time()
    return seconds if 0 <= seconds < float("inf") else None
