"""How a SQLite file can be read without leaving anything beside it.

A plain read-only connection to a database in WAL mode creates `-wal` and `-shm` files when they
are missing (https://www.sqlite.org/wal.html#read_only_databases). So, by what lies there:

    rollback journal, or WAL with both files present   plain    (SQLite's own locks hold)
    WAL mode, nothing pending                          immutable (no lock; the stamp tells writes)
    WAL with pending changes but no -shm               copy     (read from a private copy)
"""

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from modularsql.errors import SetupError

_LARGEST_COPY = 2 * 2**30


@dataclass(slots=True)
class Snapshot:
    """How to open the file now; two are equal while the open connection stays valid."""

    path: Path = field(compare=False)
    mode: Literal["plain", "immutable", "copy"]
    stamp: tuple[int, ...]
    _copy: "tempfile.TemporaryDirectory[str] | None" = field(default=None, compare=False)

    @property
    def immutable(self) -> bool:
        """Whether to open without locks: nobody else has the file open."""
        return self.mode == "immutable"

    def readable(self) -> Path:
        """The file to open: the database itself or, in mode `copy`, a private copy."""
        if self.mode != "copy":
            return self.path
        if self._copy is None:
            self._copy = tempfile.TemporaryDirectory(prefix="modularsql-")
            for suffix in ("", "-wal"):
                shutil.copyfile(f"{self.path}{suffix}", Path(self._copy.name, f"db{suffix}"))
        return Path(self._copy.name, "db")

    def discard(self) -> None:
        """Remove the private copy, if any."""
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None


def snapshot(path: Path) -> Snapshot:
    """What lies at `path` (links followed by the caller). Raises `SetupError` if unreadable.

    Runs before and after every query, so it asks the system no more than it must.
    """
    try:
        with path.open("rb", buffering=0) as file:
            stat = os.fstat(file.fileno())
            header = file.read(20)
    except OSError as error:
        raise SetupError(f"cannot read {path}: {error}", kind="not_found") from error
    if len(header) < 20 or 2 not in header[18:20]:
        return Snapshot(path=path, mode="plain", stamp=(stat.st_dev, stat.st_ino))
    wal, shm = Path(f"{path}-wal"), Path(f"{path}-shm")
    pending = wal.stat().st_size if wal.exists() else 0
    if shm.exists() and wal.exists():
        return Snapshot(path=path, mode="plain", stamp=(stat.st_dev, stat.st_ino, 1))
    if pending == 0:
        return Snapshot(
            path=path, mode="immutable", stamp=(stat.st_ino, stat.st_size, stat.st_mtime_ns)
        )
    if stat.st_size + pending > _LARGEST_COPY:
        raise SetupError(
            f"{path} has changes in its -wal file that nobody merged, and is too large to copy",
            "open it once with the sqlite3 shell and run: PRAGMA wal_checkpoint(TRUNCATE)",
        )
    return Snapshot(
        path=path,
        mode="copy",
        stamp=(stat.st_size, stat.st_mtime_ns, pending, wal.stat().st_mtime_ns),
    )
