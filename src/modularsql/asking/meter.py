"""What a piece of work spends on models: for each stage, whatever becomes of the replies."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from modularsql.ports import ChatReply, ChatRequest, Model
from modularsql.records import Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The cost of a stage and the seconds it waited for the model."""

    cost: Cost = field(default_factory=Cost)
    seconds: float = 0.0


class Meter:
    """A `Model` that counts what passes through it; make one for each question."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._stages: dict[str, Spent] = {}
        self.name = model.name

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`; a call that fails costs time only."""
        start = time.monotonic()
        cost = Cost()
        try:
            reply = self._model.chat(request)
            cost = reply.cost
        finally:
            with self._lock:
                before = self._stages.get(request.stage, Spent())
                self._stages[request.stage] = Spent(
                    cost=before.cost + cost, seconds=before.seconds + time.monotonic() - start
                )
        return reply

    def stages(self) -> Mapping[str, Spent]:
        """What each stage spent."""
        with self._lock:
            return dict(self._stages)

    def cost(self) -> Cost:
        """What all stages spent together."""
        return sum((spent.cost for spent in self.stages().values()), Cost())
