"""A few engines on one database behind one port, so that queries can run at the same time."""

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress

from modularsql.catalog import Catalog
from modularsql.errors import ModularSqlError
from modularsql.ports import Cautious, Engine, Outcome, Versioned, catalog_of
from modularsql.records import Limits, Params


class SeveralEngines:
    """An `Engine` that runs up to `most` queries at a time; more of them wait for their turn.

    The second and further engines are opened when they are first needed; where one cannot be
    (a file that another program locks), the others do its work.
    """

    def __init__(self, open_: Callable[[], Engine], most: int) -> None:
        """Raises what `open_` raises."""
        self._open = open_
        self._first = open_()
        self._free: list[Engine] = [self._first]
        self._opened: list[Engine] = [self._first]
        self._may_open = most - 1
        self._changed = threading.Condition()
        self.name, self.dialect = self._first.name, self._first.dialect

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """See `ports.Engine`."""
        with self._turn() as engine:
            return engine.execute(sql, params, limits=limits)

    def catalog(self) -> Catalog:
        """See `ports.Engine`."""
        return self._first.catalog()

    def catalog_with(self, schemas: frozenset[str]) -> Catalog:
        """See `ports.Spanning`."""
        return catalog_of(self._first, schemas)

    def compares_bytes(self) -> bool:
        """See `ports.Engine`."""
        return self._first.compares_bytes()

    def version(self) -> Hashable:
        """See `ports.Versioned`."""
        return self._first.version() if isinstance(self._first, Versioned) else None

    def warnings(self) -> tuple[str, ...]:
        """See `ports.Cautious`."""
        return self._first.warnings() if isinstance(self._first, Cautious) else ()

    def close(self) -> None:
        """Close all engines."""
        for engine in self._opened:
            engine.close()

    @contextmanager
    def _turn(self) -> Iterator[Engine]:
        engine = self._taken() or self._another() or self._awaited()
        try:
            yield engine
        finally:
            with self._changed:
                self._free.append(engine)
                self._changed.notify()

    def _taken(self) -> Engine | None:
        with self._changed:
            return self._free.pop() if self._free else None

    def _another(self) -> Engine | None:
        with self._changed:
            if self._may_open <= 0:
                return None
            self._may_open -= 1
        with suppress(ModularSqlError):
            engine = self._open()
            self._opened.append(engine)
            return engine
        return None

    def _awaited(self) -> Engine:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._free))
            return self._free.pop()
