"""What the stages lean on, handed in from outside: model, engine, indexes, settings, threads."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import TypeVar

from modularsql.catalog import Catalog
from modularsql.config import Settings
from modularsql.guard.run import Guard
from modularsql.pipeline.waiting import meet
from modularsql.ports import ChatRequest, Engine, ExampleIndex, Message, Model, ValueIndex

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """Model, database and helpers of one pipeline; shared by all its questions.

    `without` names parts that are left out, as `linking.reversed` (for ablations).
    """

    model: Model
    engine: Engine
    guard: Guard
    catalog: Catalog
    settings: Settings
    values: ValueIndex | None = None
    examples: ExampleIndex | None = None
    definitions: str = ""
    without: frozenset[str] = frozenset()
    pool: ThreadPoolExecutor | None = None

    def has(self, part: str) -> bool:
        """Whether a part takes part: neither it nor what it belongs to was left out."""
        names = part.split(".")
        return not any(".".join(names[: i + 1]) in self.without for i in range(len(names)))

    def each(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """A function of each item, at the same time where there are threads; in their order."""
        # Threads get the caller's context, so that spans of telemetry stand where they belong.
        work = [(copy_context(), item) for item in items]
        at_work = map if self.pool is None else self.pool.map
        try:
            return list(at_work(lambda one: one[0].run(function, one[1]), work))
        finally:
            meet(context for context, _ in work)

    def ask(self, messages: tuple[Message, ...], stage: str, most: int = 1024) -> str:
        """The model's one reply, at temperature 0."""
        return self._chat(messages, stage, 1, 0.0, most)[0]

    def sample(
        self, messages: tuple[Message, ...], stage: str, n: int, most: int = 1024
    ) -> tuple[str, ...]:
        """So many replies, at the pipeline's temperature."""
        return self._chat(messages, stage, n, self.settings.ask_temperature, most)

    def _chat(
        self, messages: tuple[Message, ...], stage: str, n: int, temperature: float, most: int
    ) -> tuple[str, ...]:
        request = ChatRequest(
            messages=messages, stage=stage, n=n, temperature=temperature, max_tokens=most
        )
        return self.model.chat(request).texts
