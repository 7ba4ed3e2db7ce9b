"""What happens inside the workers of a cluster; `cluster.py` sends it there by name.

A worker of Dask keeps, for each run that comes by, what that run needs again and again: a pool of
processes that can be killed, or conversations with databases. It is closed when the run says so,
or when nobody came for it for a while, since a run that was killed says nothing.
"""

import hashlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from modularsql import __version__
from modularsql.config import Settings
from modularsql.engines.files import logs_beside
from modularsql.engines.versions import versions
from modularsql.service.pool import LocalPool, Loss, Portion, R, T

_IDLE = 60.0
"""Seconds after which nobody will come again."""

_END = 2**16

Mark = tuple[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one worker is: its versions (`made_of`), and its copies of files (None: has none)."""

    versions: Mapping[str, str]
    marks: tuple[Mark | None, ...]


def look(folder: str, files: Sequence[str]) -> Seen:
    """The marks of files, relative to a folder."""
    return Seen(versions=made_of(), marks=tuple(mark(Path(folder, file)) for file in files))


def made_of() -> dict[str, str]:
    """The versions of this package and of what decides with it what a query returns."""
    return {"modularsql": __version__, **versions()}


def mark(file: Path) -> Mark | None:
    """Size of a file and a hash of both its ends, which databases write whenever they change.

    With the logs beside it, where its newest changes may be. None where it cannot be read. A hash
    of all of it would take as long as the queries.
    """
    size, digest = 0, hashlib.sha256()
    try:
        for part in (file, *logs_beside(file)):
            with part.open("rb") as opened:
                length = os.fstat(opened.fileno()).st_size
                digest.update(opened.read(_END))
                opened.seek(max(0, length - _END))
                digest.update(opened.read(_END))
            size += length
    except OSError:
        return None
    return size, digest.hexdigest()


class Closable(Protocol):
    """What a run keeps at a worker."""

    def close(self) -> None:
        """Give back all of it."""


C = TypeVar("C", bound=Closable)


@dataclass(slots=True)
class _Kept:
    thing: Any
    users: int = 0
    since: float = field(default_factory=time.monotonic)


_kept: dict[str, _Kept] = {}
_lock = threading.Lock()


@contextmanager
def kept(run: str, make: Callable[[], C]) -> Iterator[C]:
    """What this worker keeps for a run, made when it is needed first."""
    with _lock:
        if run not in _kept:
            _kept[run] = _Kept(make())
            threading.Thread(target=_watch, args=(run, _kept[run]), daemon=True).start()
        mine = _kept[run]
        mine.users += 1
    try:
        yield mine.thing
    finally:
        with _lock:
            mine.users -= 1
            mine.since = time.monotonic()


def end(run: str) -> None:
    """The run is over: close what is kept for it, whoever is at it."""
    with _lock:
        over = _kept.pop(run, None)
    if over is not None:
        over.thing.close()


def _watch(run: str, mine: _Kept) -> None:
    while _kept.get(run) is mine:
        with _lock:  # nobody may come for it in between
            over = not mine.users and time.monotonic() - mine.since > _IDLE
            if over:
                _kept.pop(run, None)
        if over:
            mine.thing.close()
            return
        time.sleep(_IDLE / 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """The processes of a run at one worker: how they begin, and where."""

    run: str
    folder: str
    prepare: Callable[[Settings], None]
    settings: Settings

    def pool(self) -> LocalPool:
        """Start them."""
        from distributed import get_worker

        may_have_children()
        prepare = partial(_prepare_in, self.folder, self.prepare)
        return LocalPool(get_worker().state.nthreads, prepare, self.settings)


def do_portion(crew: Crew, portion: Portion[T, R]) -> list[R] | Loss:
    """What became of a portion; raises `BrokenProcessPool` when no process can be started."""
    try:
        with kept(crew.run, crew.pool) as pool:
            return pool.start(portion)()
    except BrokenProcessPool:
        end(crew.run)
        raise


def may_have_children() -> None:
    """Dask's workers are daemons, which may not, lest their children outlive them. Ours do not:
    they end with their parent."""
    multiprocessing.current_process().daemon = False


def _prepare_in(folder: str, prepare: Callable[[Settings], None], settings: Settings) -> None:
    """In a process: paths are those of the command, where its folder is here too."""
    with suppress(OSError):
        os.chdir(folder)
    prepare(settings)
