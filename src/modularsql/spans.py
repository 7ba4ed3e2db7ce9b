"""OpenTelemetry, where a room makes spans: rooms that may not import each other both do."""

from typing import Any

from modularsql.errors import SetupError


def span_maker() -> tuple[Any, Any]:
    """The tracer, and the kind of a span that is a call to something outside.

    Raises `SetupError` without the library.
    """
    try:
        from opentelemetry import trace
    except ImportError as error:
        raise SetupError(
            "telemetry needs opentelemetry", "pip install 'modularsql[otel]'", "driver"
        ) from error
    return trace.get_tracer("modularsql"), trace.SpanKind.CLIENT
