"""A model that gives as many samples as it is asked for, where its server gives fewer a call.

vLLM and OpenAI take `n`; Ollama, llama.cpp and many providers answer with one reply, or refuse the
part. Who turned out to is asked for each sample singly from then on, all at the same time.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from modularsql.ports import ChatReply, ChatRequest, Model
from modularsql.records import Cost


class Sampled:
    """A model around one that may give fewer than `n` replies. Threads may share it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._singly = False
        self.name = model.name

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`; samples that are asked for singly have seeds that count up."""
        if request.n == 1:
            return self._model.chat(request)
        replies = [] if self._singly else [self._model.chat(request)]
        got = sum(len(reply.texts) for reply in replies)
        if got < request.n:
            self._singly = True
            replies += self._singles(request, range(got, request.n))
        return ChatReply(
            texts=tuple(text for reply in replies for text in reply.texts)[: request.n],
            cost=sum((reply.cost for reply in replies), Cost()),
        )

    def _singles(self, request: ChatRequest, places: Iterable[int]) -> list[ChatReply]:
        singles = [
            replace(request, n=1, seed=None if request.seed is None else request.seed + place)
            for place in places
        ]
        with ThreadPoolExecutor(len(singles)) as threads:
            return list(threads.map(self._model.chat, singles))
