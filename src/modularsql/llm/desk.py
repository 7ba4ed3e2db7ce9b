"""One model for many processes: it stays in this one, and workers ask through a socket.

So the budget, the cache and the limit on calls hold for all workers together, and a process that
runs foreign SQL has neither a key nor a need for the network.
"""

import multiprocessing
import secrets
import threading
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from multiprocessing.connection import Client, Connection, Listener
from types import TracebackType
from typing import Any

from modularsql.errors import ModelError, ModularSqlError
from modularsql.ports import ChatReply, ChatRequest, Model

_GONE = (EOFError, OSError, multiprocessing.AuthenticationError)


class ModelDesk:
    """Serves a model to the processes that get its door, while it is open."""

    def __init__(self, model: Model, host: str | None = None) -> None:
        """For processes of this machine, or for all that can reach `host`, an address of it."""
        self._model = model
        self._key = secrets.token_bytes(32)
        self._listener = Listener(None if host is None else (host, 0), authkey=self._key)
        self._closed = False
        # Spans of telemetry belong to what the desk was opened for.
        self._context = copy_context()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def door(self) -> "DeskModel":
        """The model as a worker process uses it; it can be sent there."""
        return DeskModel(self._model.name, self._listener.address, self._key)

    def _accept(self) -> None:
        while True:
            caller: Any = None
            with suppress(*_GONE):
                caller = self._listener.accept()
            if self._closed:  # looked at after a call: the one that ends this must be taken
                return
            if caller is not None:
                serve = partial(self._context.copy().run, self._serve, caller)
                threading.Thread(target=serve, daemon=True).start()

    def _serve(self, caller: "Connection[Any, Any]") -> None:
        with suppress(*_GONE), caller:
            while True:
                caller.send(self._answer(caller.recv()))

    def _answer(self, request: ChatRequest) -> ChatReply | ModularSqlError:
        try:
            return self._model.chat(request)
        except ModularSqlError as error:
            return error
        except Exception as error:  # a mistake of ours costs one reply, and not the worker
            return ModelError(f"the model failed: {type(error).__name__}: {error}")

    def __enter__(self) -> "ModelDesk":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed = True
        with suppress(*_GONE):  # wakes the thread that waits for callers
            Client(self._listener.address, authkey=self._key).close()
        self._thread.join(5)
        self._listener.close()


class DeskModel:
    """A `Model` that asks a `ModelDesk`; each thread has its own connection."""

    def __init__(self, name: str, address: Any, key: bytes) -> None:
        self.name = name
        self._address = address
        self._key = key
        self._local = threading.local()

    def __getstate__(self) -> tuple[str, Any, bytes]:
        return self.name, self._address, self._key

    def __setstate__(self, state: tuple[str, Any, bytes]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`."""
        try:
            connection = self._connection()
            connection.send(request)
            reply: ChatReply | ModularSqlError = connection.recv()
        except _GONE as error:
            self._local.__dict__.pop("connection", None)
            raise ModelError("the process with the model is gone") from error
        if isinstance(reply, ModularSqlError):
            raise reply
        return reply

    def _connection(self) -> Any:
        if not hasattr(self._local, "connection"):
            self._local.connection = Client(self._address, authkey=self._key)
        return self._local.connection
