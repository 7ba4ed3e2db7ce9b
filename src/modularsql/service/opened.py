"""The databases that a worker process has open, the last used kept."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from modularsql.config import Settings
from modularsql.engines.connect import connect
from modularsql.errors import ModularSqlError
from modularsql.ports import Engine

_OPEN_DATABASES = 4


class Opened:
    """Opens databases when they are asked for; threads take them by `use`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._engines: OrderedDict[str, Engine] = OrderedDict()
        self._failed: dict[str, ModularSqlError] = {}
        self._in_use: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def use(self, database: str) -> Iterator[Engine]:
        """The engine of a database, which stays open while it is in use."""
        with self._lock:
            engine = self.engine(database)
            self._in_use[database] += 1
        try:
            yield engine
        finally:
            with self._lock:
                self._in_use[database] -= 1

    def engine(self, database: str) -> Engine:
        """The engine of a database; one that could not be opened is not tried again.

        (Each try on a locked database would wait for the whole time limit.)
        """
        if database in self._failed:
            raise self._failed[database]
        if database not in self._engines:
            idle = [name for name in self._engines if not self._in_use[name]]
            if idle and len(self._engines) >= _OPEN_DATABASES:
                self._engines.pop(idle[0]).close()
            try:
                self._engines[database] = connect(database, self.settings)
            except ModularSqlError as error:
                self._failed[database] = error
                raise
        self._engines.move_to_end(database)
        return self._engines[database]
