"""Folders for what is written while queries run, gone in the end, whatever ends the process.

A process that is killed cannot clean up, so each folder holds a file that its owner keeps locked:
a folder whose lock is free belongs to nobody any more, and the next process removes it.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

_PREFIX = "modularsql-"
_LOCK = "owner.lock"
_YOUNG = 60.0
"""Seconds in which a folder is left alone: its owner may not have come to lock it yet."""


class Scratch:
    """A folder of its own, removed by `close`, else by a later process."""

    def __init__(self) -> None:
        """Make the folder. Raises `OSError` where there is no room or no right to."""
        clean_up_once()
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        self.name = self._folder.name
        self._lock = os.open(
            Path(self.name, _LOCK), os.O_CREAT | os.O_RDWR | _CLOSED_ON_EXEC, 0o600
        )
        _is_locked_now(self._lock)

    def close(self) -> None:
        """Remove the folder with all that is in it; once more does nothing."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
        self._folder.cleanup()


_CLOSED_ON_EXEC = getattr(os, "O_CLOEXEC", 0)


@cache
def clean_up_once() -> None:
    """The first folder of a process pays for those that others left."""
    clean_up_after_the_dead()


def clean_up_after_the_dead() -> None:
    """Remove the folders whose owners ended without doing so (where files can be locked)."""
    for folder in _old_folders():
        with suppress(OSError):
            lock = os.open(folder / _LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if _is_locked_now(lock):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _old_folders() -> Iterator[Path]:
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            with suppress(OSError):
                if time.time() - folder.lstat().st_mtime > _YOUNG:
                    yield folder


def _is_locked_now(descriptor: int) -> bool:
    """Lock the file for this process; False where another one holds it, or none can."""
    try:
        locks: Any = import_module("fcntl")  # which Windows does not have
        locks.flock(descriptor, locks.LOCK_EX | locks.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
