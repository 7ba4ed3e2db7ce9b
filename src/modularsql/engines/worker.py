"""A process that opens an engine and answers for it, and that can be killed.

Requests and answers go through a pipe, one at a time. A worker ends by itself when its parent is
gone: at once where Python still runs, else when the time of its query is over.
"""

import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from modularsql.config import Settings
from modularsql.engines.base import SPILL_MB
from modularsql.engines.connect import Place, open_place
from modularsql.engines.ctrl_c import deaf_to_ctrl_c
from modularsql.errors import ModularSqlError
from modularsql.ports import Cautious, Engine, Versioned, catalog_of

_ORPHAN = 5.0
"""Seconds beyond its time at which a request ends the worker, should nobody else have."""


class DiedError(Exception):
    """The worker process ended before it answered."""


class Worker:
    """One process for one database; once it `ended` there must be another."""

    def __init__(self, place: Place, settings: Settings, scratch: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, place, settings, scratch), daemon=True
        )
        with deaf_to_ctrl_c():
            self._process.start()
        theirs.close()

    @property
    def ended(self) -> bool:
        """Whether there is no process any more."""
        return not self._process.is_alive()

    def ask(self, what: str, *args: Any, within: float) -> Any:
        """The answer of the engine's method `what`, or the exception that it raised there.

        Raises `TimeoutError` when there is none in time (the process is then killed),
        `DiedError` when there never will be, `PicklingError` for what cannot be sent.
        """
        try:
            request = pickle.dumps((what, args, within))
        except Exception as error:  # which depends on the value
            raise pickle.PicklingError(str(error)) from error
        try:
            self._connection.send_bytes(request)
            in_time = self._connection.poll(within)
            good, answer = self._connection.recv() if in_time else (True, None)
        except (EOFError, OSError) as error:
            self._process.join(1)
            status = self._process.exitcode
            self.kill()
            raise DiedError(f"the process that ran the query ended (exit {status})") from error
        except BaseException:
            self.kill()  # it may yet answer, and the next one would take that for theirs
            raise
        if not in_time:
            self.kill()
            raise TimeoutError
        if not good:
            assert isinstance(answer, BaseException)
            raise answer
        return answer

    def kill(self) -> None:
        """End the process, whatever it does; who waits for its answer is told."""
        self._process.kill()
        self._process.join()

    def close(self) -> None:
        """Kill the process and close the pipe; nobody may be waiting for an answer."""
        self.kill()
        self._connection.close()


def prepare_worker(settings: Settings, scratch: str) -> None:
    """In a worker process, once: when and how it ends, how much it may use, where it may write.

    Pebble ends a worker by SIGTERM with a handler in Python, which waits for the very call that
    must be ended; the system's own handling does not. `scratch` is removed by the parent, since
    a killed worker cannot.
    """
    threading.Thread(target=_end_with_parent, args=(scratch,), daemon=True).start()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    tempfile.tempdir = scratch
    bound_memory_and_files(settings)


def bound_memory_and_files(settings: Settings) -> None:
    """Limit what this process may use, for good; only Linux does."""
    if sys.platform == "linux":
        _bound("RLIMIT_FSIZE", SPILL_MB)
        if settings.worker_memory_mb:
            _bound("RLIMIT_AS", settings.worker_memory_mb)


def _bound(what: str, megabytes: int) -> None:
    """Lower a limit of this process; one that the system set already may be lower still."""
    resource: Any = import_module("resource")  # which Windows does not have
    limit = getattr(resource, what)
    hard = resource.getrlimit(limit)[1]
    wanted = megabytes * 2**20
    lowest = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(limit, (lowest, lowest))


def _serve(connection: Connection, place: Place, settings: Settings, scratch: str) -> None:
    """In the worker: open the engine when asked to, then answer until nobody asks any more."""
    prepare_worker(settings, scratch)
    engine: Engine | None = None
    while True:
        try:
            what, args, within = connection.recv()
        except (EOFError, OSError):
            _end(scratch)
        with alarm(within + _ORPHAN):
            try:
                if engine is None:
                    engine = open_place(place, replace(settings, timeout=args[0]))
                answer = (True, _answer(engine, what, args))
            except Exception as error:
                if not isinstance(error, ModularSqlError):
                    error.add_note("".join(traceback.format_exc()))
                answer = (False, error)
            _send(connection, answer)


def _answer(engine: Engine, what: str, args: tuple[Any, ...]) -> Any:
    if what == "open":
        return engine.dialect
    if what == "execute":
        sql, params, limits = args
        return engine.execute(sql, params, limits=limits)
    if what == "warnings":
        return engine.warnings() if isinstance(engine, Cautious) else ()
    if what == "version":
        return engine.version() if isinstance(engine, Versioned) else None
    if what == "catalog_with":
        return catalog_of(engine, *args)
    return getattr(engine, what)()


def _send(connection: Connection, answer: tuple[bool, Any]) -> None:
    try:
        packed = pickle.dumps(answer)
    except Exception as error:  # no memory left, or a value that cannot travel
        packed = pickle.dumps((False, RuntimeError(f"the answer cannot be sent: {error!r}")))
    try:
        connection.send_bytes(packed)
    except OSError:
        os._exit(1)


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """The system ends this process when the time is over, whatever it is doing (POSIX)."""
    if sys.platform == "win32":
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _end_with_parent(scratch: str) -> None:
    """A parent that was killed can stop nobody, and a query may run for ever."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        _end(scratch)


def _end(scratch: str) -> NoReturn:
    """Nobody asks any more. There is nothing of value here, and closing can take its time."""
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(0)
