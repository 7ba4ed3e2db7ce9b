"""The process that workers are forked from: it has imported, once, what each of them needs.

Two workers that start anew import the same modules twice, a fifth of the work of a short `eval`,
and begin when that is done. This is Python's own fork server, on Linux: it has no threads, opens
nothing, and ends with the process that started it. A killed worker is replaced in no time.
"""

import atexit
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing import process

from modularsql.engines.ctrl_c import deaf_to_ctrl_c
from modularsql.engines.scratch import Scratch

SCORING = (
    "modularsql.service.scoring",
    "modularsql.evaluation.ties",
    "modularsql.engines.sqlite",
)
SCORING_GUARDED = (*SCORING, "modularsql.evaluation.guarding")
REPAIRING = ("modularsql.service.in_workers", "modularsql.engines.sqlite")
"""What workers need that are to do this; none of it starts a thread, which no fork would have."""

_warm = False


def warm_up(*modules: str) -> None:
    """Start it, where there is none, to import these modules while we read what is to be done.

    For commands, before they start threads: the environment is changed for a moment.
    """
    global _warm
    if sys.platform == "linux":
        from multiprocessing import forkserver

        forkserver.set_forkserver_preload([*modules])
        _warm = _is_there()


def is_warm() -> bool:
    """Whether workers can be forked; else they start anew."""
    return _warm


@cache
def _is_there() -> bool:
    from multiprocessing import forkserver

    try:
        # Its socket goes into a folder that is removed even if this process is killed.
        scratch = Scratch()
        atexit.register(scratch.close)
        process.current_process()._config.setdefault("tempdir", scratch.name)  # type: ignore[attr-defined]
        with deaf_to_ctrl_c(), _without_the_working_folder():
            forkserver.ensure_running()
    except OSError:  # no room, or the folder's name is too long for a socket
        return False
    return True


@contextmanager
def _without_the_working_folder() -> Iterator[None]:
    """A Python started here takes no csv.py of the working folder for its own module."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before
