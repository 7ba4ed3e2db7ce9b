"""A model whose calls are OpenTelemetry spans, by the `gen_ai` conventions.

What is sent and said stays out unless `content` is set: it holds questions and data.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from modularsql.errors import ModularSqlError
from modularsql.ports import ChatReply, ChatRequest, Model
from modularsql.spans import span_maker


class TracedModel:
    """A `Model` that makes a span of each call; where spans go is the application's business."""

    def __init__(self, model: Model, *, content: bool = False) -> None:
        """Raises `SetupError` without the library."""
        self._tracer, self._kind = span_maker()
        self._model = model
        self._content = content
        self.name = model.name

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`."""
        with self._tracer.start_as_current_span(f"chat {self.name}", kind=self._kind) as span:
            span.set_attributes(
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.request.model": self.name,
                    "gen_ai.request.temperature": request.temperature,
                    "gen_ai.request.max_tokens": request.max_tokens,
                    "gen_ai.request.choice.count": request.n,
                    "modularsql.stage": request.stage,
                }
            )
            if self._content:
                span.set_attribute("gen_ai.input.messages", [m.text for m in request.messages])
            try:
                reply = self._model.chat(request)
            except ModularSqlError as error:
                span.set_attribute("error.type", error.kind)
                raise
            span.set_attribute("gen_ai.usage.input_tokens", reply.cost.prompt_tokens)
            span.set_attribute("gen_ai.usage.output_tokens", reply.cost.completion_tokens)
            if self._content:
                span.set_attribute("gen_ai.output.messages", list(reply.texts))
            return reply


@contextmanager
def span(name: str) -> Iterator[None]:
    """A span around several calls."""
    from opentelemetry import trace

    with trace.get_tracer("modularsql").start_as_current_span(name):
        yield
