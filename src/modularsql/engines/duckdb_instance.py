"""Opening a DuckDB file: read-only, nothing outside it, bounded, and its settings locked.

DuckDB has one instance of a file in a process, with one set of settings. Engines of this process
on the same file share it.
"""

import os
import shutil
import tempfile
import threading
from pathlib import Path

import duckdb

from modularsql.config import Settings
from modularsql.engines.base import SPILL_MB, Clock
from modularsql.engines.files import existing_file
from modularsql.errors import SetupError

_LOCK_MESSAGES = ("Could not set lock", "Conflicting lock")
_OTHER_SETTINGS = "different configuration"

_instances: dict[str, "Instance"] = {}
_turn = threading.Lock()


class Instance:
    """An open file and how many engines use it."""

    def __init__(self, path: str, settings: Settings) -> None:
        self.bounds = _bounds(settings)
        self.users = 0
        self._path = path
        self._spill = tempfile.mkdtemp(prefix="modularsql-")
        try:
            self.connection = self._connect()
        except BaseException:
            shutil.rmtree(self._spill, ignore_errors=True)
            raise

    def _connect(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(
            self._path,
            read_only=True,
            config={
                **self.bounds,
                "temp_directory": self._spill,
                "max_temp_directory_size": f"{SPILL_MB}MB",
                # Eight threads more for each file, to read what lies elsewhere: nothing here does.
                "async_threads": "0",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
                "allow_persistent_secrets": "false",
                "python_enable_replacements": "false",
            },
        )
        # After opening: with external access off, a file with `?` in its name does not open.
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return connection

    def release(self) -> None:
        """One user less; the last one closes the file and removes the spill folder."""
        with _turn:
            self.users -= 1
            if self.users == 0:
                del _instances[self._path]
                self.connection.close()
                shutil.rmtree(self._spill, ignore_errors=True)


def open_instance(path: Path, settings: Settings) -> Instance:
    """The instance of a file; waits for a lock up to the time limit. Raises `SetupError`."""
    # Resolved: DuckDB takes `:memory:`, `md:x` and the like for something else than a file.
    real = os.path.realpath(existing_file(path))
    clock = Clock(settings.timeout)
    while True:
        try:
            return _try_to_open(real, settings)
        except (duckdb.Error, RuntimeError, TypeError, ValueError) as error:
            message = str(error).splitlines()[0]
            if _OTHER_SETTINGS in message:
                raise _in_use(path) from error
            if not any(part in message for part in _LOCK_MESSAGES):
                raise SetupError(
                    f"cannot read {path}: {message}", "is it a DuckDB database?", "not_a_database"
                ) from error
            if not clock.pause(0.05):
                raise SetupError(
                    f"{path} is locked by another program", "try again later", "locked"
                ) from error


def _try_to_open(real: str, settings: Settings) -> Instance:
    with _turn:
        instance = _instances.get(real)
        if instance is None:
            instance = _instances[real] = Instance(real, settings)
        elif instance.bounds != _bounds(settings):
            raise _in_use(Path(real))
        instance.users += 1
        return instance


def _bounds(settings: Settings) -> dict[str, str]:
    return {"memory_limit": f"{settings.memory_mb}MB", "threads": str(settings.threads)}


def _in_use(path: Path) -> SetupError:
    return SetupError(
        f"{path} is open in this program already, with other settings",
        "close that connection first: DuckDB opens a file once in a process",
        "in_use",
    )
