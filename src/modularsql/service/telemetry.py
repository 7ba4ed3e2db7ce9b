"""Spans of what a command asks of models and databases, where the setting `telemetry` is on.

Queries in worker processes make none, which may be ended at any time, and their spans with them.
"""

from contextlib import AbstractContextManager, nullcontext

from modularsql.config import Settings
from modularsql.engines.telemetry import TracedEngine
from modularsql.llm.telemetry import TracedModel, span
from modularsql.ports import Engine, Model


def traced_engine(engine: Engine, settings: Settings) -> Engine:
    """The engine, whose queries are spans where they are wanted; `SetupError` as `span_maker`."""
    if settings.telemetry == "off":
        return engine
    return TracedEngine(engine, content=settings.telemetry == "content")


def traced_model(model: Model, settings: Settings) -> Model:
    """The model, whose calls are spans where they are wanted; `SetupError` as `span_maker`."""
    if settings.telemetry == "off":
        return model
    return TracedModel(model, content=settings.telemetry == "content")


def whole(name: str, settings: Settings) -> AbstractContextManager[None]:
    """A span around all that one command does, where it is wanted."""
    return nullcontext() if settings.telemetry == "off" else span(name)
