"""A model made of given replies, for tests and for trying a pipeline out."""

import threading
from collections.abc import Callable, Iterable

from modularsql.errors import ModelError
from modularsql.ports import ChatReply, ChatRequest
from modularsql.records import Cost

Said = str | Exception


class ScriptedModel:
    """Says its lines one after the other, or what a function makes of each request.

    An exception as a line is raised. `requests` are all it was asked. With `n` samples a line is
    said `n` times by a function, and `n` lines are taken from a list.
    """

    def __init__(
        self, lines: Iterable[Said] | Callable[[ChatRequest], Said], name: str = "script"
    ) -> None:
        self.name = name
        self.requests: list[ChatRequest] = []
        self._lock = threading.Lock()
        self._function = lines if callable(lines) else None
        self._lines = iter(() if callable(lines) else lines)

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`; one token for each word sent and said."""
        with self._lock:
            self.requests.append(request)
            said = [self._next(request) for _ in range(request.n)]
        for line in said:
            if isinstance(line, Exception):
                raise line
        texts = tuple(str(line) for line in said)
        cost = Cost(
            llm_calls=1,
            prompt_tokens=sum(len(message.text.split()) for message in request.messages),
            completion_tokens=sum(len(text.split()) for text in texts),
        )
        return ChatReply(texts=texts, cost=cost)

    def _next(self, request: ChatRequest) -> Said:
        if self._function is not None:
            return self._function(request)
        try:
            return next(self._lines)
        except StopIteration:
            return ModelError("the script has no more lines")
