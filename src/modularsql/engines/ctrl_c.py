"""Ctrl-C is for the process that the user started, not for those that it starts."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Processes started here never see SIGINT: only the parent reacts to Ctrl-C.

    A worker that is still loading its modules would answer with a traceback of its own.
    """
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # its first start would undo what comes next
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
