"""The files engines may open: existing ones only, and looked at without disturbing anybody.

On POSIX systems closing any descriptor of a file drops every lock this process holds on it
(https://www.sqlite.org/howtocorrupt.html, section 2.2): also those of a SQLite or DuckDB
connection of the program that we are a part of, whose database another process could then write
to at the same time. So the descriptors through which first bytes are read stay open.
"""

import os
import stat
import sys
import threading
from collections import OrderedDict
from collections.abc import Hashable
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from modularsql.errors import InputError, SetupError

_LOGS = ("-wal", ".wal")
"""How SQLite and DuckDB call the log beside a file."""

_LOOKED_AT = 1_000
"""Entries of a folder that a misspelt name is compared with."""

_KEPT = 200  # descriptors; the usual limit of a process is 1,024

_descriptors: OrderedDict[tuple[int, int], int] = OrderedDict()
_turn = threading.Lock()


def existing_file(path: Path) -> Path:
    """The path itself if it is a file that can be read; opening must never create one."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise InputError(f"no database file at {path}", _nearest(path), "not_found") from error
    except OSError as error:
        raise _unreadable(path, error) from error
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{path} is a folder, not a database file")
    if not stat.S_ISREG(found.st_mode):  # a pipe would block, a device may never end
        raise InputError(f"{path} is no regular file", "give a database file", "not_a_database")
    if not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        raise _unreadable(path, "Permission denied")
    return path


def _nearest(path: Path) -> str:
    """What to do about a path that leads nowhere: a file of its folder that is called nearly so."""
    try:
        names = [entry.name for entry in islice(os.scandir(path.parent), _LOOKED_AT)]
    except (OSError, ValueError):
        names = []
    near = get_close_matches(path.name, names, n=1, cutoff=0.8)
    return f"did you mean {path.with_name(near[0])}?" if near else "check the path"


def head(path: Path, size: int, found: os.stat_result | None = None) -> bytes:
    """The first bytes of a file, `found` being its stat where the caller has it already.

    Raises `SetupError` where it cannot be read.
    """
    try:
        if sys.platform == "win32":
            with path.open("rb") as file:
                return file.read(size)
        with _turn:
            return os.pread(_descriptor(path, found or path.stat()), size, 0)
    except OSError as error:
        raise _unreadable(path, error) from error


def data_version(path: Path) -> Hashable:
    """What changes when a database file, or the log beside it, is written to; None where unknown.

    SQLite counts its commits at byte 24, for those that are too close for the clock of the file.
    """
    try:
        found: list[Hashable] = [os.path.realpath(path), head(path, 28)[24:], _stamp(path)]
    except (OSError, SetupError):
        return None
    return (*found, *(_stamp(Path(f"{path}{suffix}")) for suffix in _LOGS))


def logs_beside(path: Path) -> list[Path]:
    """The logs (WAL) that hold changes of a database file; it is not the same without them."""
    found = (Path(f"{path}{suffix}") for suffix in _LOGS)
    return [log for log in found if log.is_file() and log.stat().st_size]


def _stamp(path: Path) -> Hashable:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _descriptor(path: Path, found: os.stat_result) -> int:
    key = (found.st_dev, found.st_ino)
    if key not in _descriptors:
        for gone in [k for k, fd in _descriptors.items() if os.fstat(fd).st_nlink == 0]:
            os.close(_descriptors.pop(gone))
        while len(_descriptors) >= _KEPT:
            os.close(_descriptors.popitem(last=False)[1])
        opened = os.open(path, os.O_RDONLY)
        _descriptors[key] = opened
    _descriptors.move_to_end(key)
    return _descriptors[key]


def _unreadable(path: Path, why: object) -> SetupError:
    why = getattr(why, "strerror", None) or why
    return SetupError(f"cannot read {path}: {why}", "check its permissions", "unreadable")
