"""The databases that a worker process has open, the last used kept."""

from collections import OrderedDict

from modularsql.config import Settings
from modularsql.engines.connect import connect
from modularsql.errors import ModularSqlError
from modularsql.ports import Engine

_OPEN_DATABASES = 4


class Opened:
    """Opens databases when they are asked for."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._engines: OrderedDict[str, Engine] = OrderedDict()
        self._failed: dict[str, ModularSqlError] = {}

    def engine(self, database: str) -> Engine:
        """The engine of a database; one that could not be opened is not tried again.

        (Each try on a locked database would wait for the whole time limit.)
        """
        if database in self._failed:
            raise self._failed[database]
        if database not in self._engines:
            if len(self._engines) >= _OPEN_DATABASES:
                self._engines.popitem(last=False)[1].close()
            try:
                self._engines[database] = connect(database, self.settings)
            except ModularSqlError as error:
                self._failed[database] = error
                raise
        self._engines.move_to_end(database)
        return self._engines[database]
