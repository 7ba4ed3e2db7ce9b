"""A budget over all calls of a run: a call that could pass it is not made.

The bound of a call is set aside before it is sent and given back for what it really cost, so
that calls at the same time cannot pass the budget together. Whoever asks lets the `BudgetError`
through: a question is answered with all its calls, or left as it is.
"""

import threading
from dataclasses import dataclass

from modularsql.errors import BudgetError
from modularsql.llm.prices import Price
from modularsql.ports import ChatReply, ChatRequest, Model
from modularsql.records import Cost

_BYTES_PER_TOKEN = 2  # fewer than any tokenizer in use needs for text and SQL
_FRAME_TOKENS = 16  # what a chat format puts around one message


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Calls, tokens (sent and received) and US dollars; 0 where there is no bound."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def passed(self, cost: Cost) -> BudgetError | None:
        """The bound that such a cost would pass, and what it is set by."""
        tokens = cost.prompt_tokens + cost.completion_tokens
        if self.calls and cost.llm_calls > self.calls:
            return _over(f"{self.calls:,} calls", "the setting budget_calls")
        if self.tokens and tokens > self.tokens:
            return _over(f"{self.tokens:,} tokens", "the setting budget_tokens")
        if self.usd and cost.usd > self.usd * (1 + 1e-9):
            return _over(f"{self.usd:g} US dollars", "--budget")
        return None


def _over(bound: str, by: str) -> BudgetError:
    return BudgetError(f"the next call could pass the budget of {bound}", f"raise {by}")


class Budget:
    """A model that is not asked beyond some bounds."""

    def __init__(self, model: Model, bounds: Bounds, price: Price) -> None:
        self._model = model
        self._bounds, self._price = bounds, price
        self._lock = threading.Lock()
        self._spent = Cost()
        self._set_aside: dict[object, Cost] = {}
        self.name = model.name

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`; raises `BudgetError` where the call could pass a bound."""
        ticket = object()
        most = self._most(request)
        with self._lock:
            expected = sum((*self._set_aside.values(), most), self._spent)
            if (error := self._bounds.passed(expected)) is not None:
                raise error
            self._set_aside[ticket] = most
        spent = Cost()
        try:
            reply = self._model.chat(request)
            spent = reply.cost
        finally:
            with self._lock:
                del self._set_aside[ticket]
                self._spent += spent
        return reply

    def spent(self) -> Cost:
        """What was really spent so far."""
        with self._lock:
            return self._spent

    def _most(self, request: ChatRequest) -> Cost:
        """What a call can cost at most; a server may have to be asked for each sample singly."""
        sent = sum(
            len(message.text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + _FRAME_TOKENS
            for message in request.messages
        )
        bound = Cost(
            llm_calls=request.n,
            prompt_tokens=sent * request.n,
            completion_tokens=request.max_tokens * request.n,
        )
        return bound + Cost(usd=self._price.usd(bound))
