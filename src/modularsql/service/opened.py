"""The databases that a worker process has open, the last used kept."""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from modularsql.config import Settings
from modularsql.engines.connect import connect
from modularsql.errors import ModularSqlError, SetupError, is_away
from modularsql.ports import Engine

T = TypeVar("T")

_OPEN_DATABASES = 4
_PATIENCE = 8.0
"""Seconds that a server may be away, as one is that is started anew."""


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
                if not is_away(error):
                    self._failed[database] = error
                raise
        self._engines.move_to_end(database)
        return self._engines[database]


def when_there(do: Callable[[], T]) -> T:
    """What `do` gives, which is begun anew where its server is away, and comes back soon.

    Raises `SetupError` where it does not.
    """
    end = None
    while True:
        try:
            return do()
        except SetupError as error:
            end = end or time.monotonic() + _PATIENCE
            if not is_away(error) or time.monotonic() > end:
                raise
        time.sleep(0.5)
