"""An engine whose queries are OpenTelemetry spans, by the `db` conventions.

The text of a query stays out unless `content` is set: it holds values.
"""

from collections.abc import Hashable

from modularsql.catalog import Catalog
from modularsql.ports import Cautious, Engine, Outcome, Versioned, catalog_of
from modularsql.records import Failure, Limits, Params
from modularsql.spans import span_maker


class TracedEngine:
    """An `Engine` that makes a span of each query; where spans go is the application's business."""

    def __init__(self, engine: Engine, *, content: bool = False) -> None:
        """Raises `SetupError` without the library."""
        self._tracer, self._kind = span_maker()
        self._engine = engine
        self._content = content
        self.name = engine.name
        self.dialect = engine.dialect

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """See `ports.Engine`."""
        with self._tracer.start_as_current_span(f"query {self.dialect}", kind=self._kind) as span:
            span.set_attribute("db.system.name", _SYSTEMS.get(self.dialect, self.dialect))
            span.set_attribute("db.operation.name", "SELECT")
            if self._content:
                span.set_attribute("db.query.text", sql)
            outcome = self._engine.execute(sql, params, limits=limits)
            if isinstance(outcome, Failure):
                span.set_attribute("error.type", outcome.kind.value)
            else:
                span.set_attribute("db.response.returned_rows", len(outcome.rows))
            return outcome

    def catalog(self) -> Catalog:
        """See `ports.Engine`."""
        return self._engine.catalog()

    def catalog_with(self, schemas: frozenset[str]) -> Catalog:
        """See `ports.Spanning`."""
        return catalog_of(self._engine, schemas)

    def compares_bytes(self) -> bool:
        """See `ports.Engine`."""
        return self._engine.compares_bytes()

    def version(self) -> Hashable:
        """See `ports.Versioned`."""
        return self._engine.version() if isinstance(self._engine, Versioned) else None

    def warnings(self) -> tuple[str, ...]:
        """See `ports.Cautious`."""
        return self._engine.warnings() if isinstance(self._engine, Cautious) else ()

    def close(self) -> None:
        """See `ports.Engine`."""
        self._engine.close()


_SYSTEMS = {"postgres": "postgresql"}
