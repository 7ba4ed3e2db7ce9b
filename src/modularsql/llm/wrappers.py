"""Small wrappers around a model: so many calls at once, and none while it is out of order."""

import threading
import time
from collections.abc import Callable

from modularsql.errors import (
    BudgetError,
    ModelError,
    ModelReplyError,
    RefusedError,
    SetupError,
)
from modularsql.ports import ChatReply, ChatRequest, Model

_NO_FAULT = (BudgetError, ModelReplyError, RefusedError)


class Limited:
    """At most so many calls at a time; the others wait for their turn."""

    def __init__(self, model: Model, concurrency: int) -> None:
        self._model = model
        self._turns = threading.BoundedSemaphore(concurrency)
        self.name = model.name

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`."""
        with self._turns:
            return self._model.chat(request)


class Breaker:
    """A circuit breaker: after failures in a row nobody is made to wait for the next one.

    It opens after `most` failures, at once when an operator has to mend something, and lets one
    call through when `pause` seconds are over, to see whether the model is back.
    """

    def __init__(
        self,
        model: Model,
        most: int = 5,
        pause: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._most, self._pause, self._clock = most, pause, clock
        self._lock = threading.Lock()
        self._failures = 0
        self._until: float | None = None
        self._last: ModelError | SetupError | None = None
        self.name = model.name

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`."""
        self._admit()
        try:
            reply = self._model.chat(request)
        except _NO_FAULT:
            raise
        except (ModelError, SetupError) as error:
            self._failed(error)
            raise
        with self._lock:
            self._failures, self._until = 0, None
        return reply

    def _admit(self) -> None:
        with self._lock:
            if self._until is None:
                return
            left = self._until - self._clock()
            if left <= 0 and not isinstance(self._last, SetupError):
                self._until = self._clock() + self._pause  # this one tries, the others wait
                return
            assert self._last is not None
            if isinstance(self._last, SetupError):
                raise SetupError(self._last.message, self._last.hint, self._last.kind)
            raise ModelError(
                f"the model is left alone for {max(left, 0):.0f} s after {self._failures} failures "
                f"in a row; the last: {self._last.message}",
                "check the model's server",
                "circuit_open",
            )

    def _failed(self, error: ModelError | SetupError) -> None:
        with self._lock:
            self._failures += 1
            self._last = error
            if self._failures >= self._most or isinstance(error, SetupError):
                self._until = self._clock() + self._pause
