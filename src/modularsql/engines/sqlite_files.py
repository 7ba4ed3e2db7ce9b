"""How a SQLite file can be read without leaving anything beside it.

A plain read-only connection to a database in WAL mode creates `-wal` and `-shm` files when they
are missing (https://www.sqlite.org/wal.html#read_only_databases). So, by what lies there:

    rollback journal, or WAL with both files present   plain    (SQLite's own locks hold)
    WAL mode, nothing pending                          immutable (no lock; the stamp tells writes)
    WAL with pending changes but no -shm               copy     (read from a private copy)
"""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from modularsql.engines.files import head
from modularsql.engines.scratch import Scratch
from modularsql.errors import SetupError

_LARGEST_COPY = 2 * 2**30


@dataclass(slots=True)
class Snapshot:
    """How to open the file now; two are equal while the open connection stays valid."""

    path: Path = field(compare=False)
    mode: Literal["plain", "immutable", "copy"]
    stamp: tuple[int, ...]
    _copy: Scratch | None = field(default=None, compare=False)

    def uri(self) -> str:
        """The read-only URI of the file itself or, in mode `copy`, of a private copy."""
        flags = "?mode=ro&immutable=1" if self.mode == "immutable" else "?mode=ro"
        return self._readable().absolute().as_uri() + flags

    def _readable(self) -> Path:
        if self.mode != "copy":
            return self.path
        if self._copy is None:
            self._copy = Scratch()
            try:
                for suffix in ("", "-wal"):
                    shutil.copyfile(f"{self.path}{suffix}", Path(self._copy.name, f"db{suffix}"))
            except OSError as error:
                self.discard()
                raise SetupError(f"cannot copy {self.path}: {error}") from error
        return Path(self._copy.name, "db")

    def discard(self) -> None:
        """Remove the private copy, if any."""
        if self._copy is not None:
            self._copy.close()
            self._copy = None


def snapshot(path: Path) -> Snapshot:
    """What lies at `path` (links followed by the caller). Raises `SetupError` if unreadable.

    Runs before every query, so it asks the system no more than it must.
    """
    try:
        main = os.stat(path)  # noqa: PTH116 - before every query
    except OSError as error:
        raise SetupError(f"cannot read {path}: {error.strerror}", kind="not_found") from error
    header = head(path, 20, main)
    identity = (main.st_dev, main.st_ino)
    if 2 not in header[18:20]:
        return Snapshot(path=path, mode="plain", stamp=identity)
    wal, shm = _stat(f"{path}-wal"), _stat(f"{path}-shm")
    if wal is not None and shm is not None:
        # With both files' identities: a writer that found nobody else removes them when it
        # ends, and the next one makes new ones that an open connection does not look at.
        return Snapshot(path=path, mode="plain", stamp=(*identity, wal.st_ino, shm.st_ino))
    stamp = (*identity, main.st_size, main.st_mtime_ns)
    if wal is None or wal.st_size == 0:
        return Snapshot(path=path, mode="immutable", stamp=stamp)
    if main.st_size + wal.st_size > _LARGEST_COPY:
        raise SetupError(
            f"{path} has changes in its -wal file that nobody merged, and is too large to copy",
            "open it once with the sqlite3 shell and run: PRAGMA wal_checkpoint(TRUNCATE)",
        )
    return Snapshot(path=path, mode="copy", stamp=(*stamp, wal.st_size, wal.st_mtime_ns))


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - for every query
    except OSError:
        return None
