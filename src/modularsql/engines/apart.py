"""A function over whole results of a SQLite file, in a process that has a single thread.

As long as a process never had a second thread, the locks of Python and SQLite cost nothing (glibc
leaves them out): reading takes a quarter less CPU time, which for long results is far more than
the process takes to start. It is killed where it does not stop at the limit.
"""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from modularsql.config import Settings
from modularsql.engines.ctrl_c import deaf_to_ctrl_c
from modularsql.records import Failure, FailureKind, Limits

T = TypeVar("T")

_GRACE = 0.3
"""Seconds after the limit at which the process is killed: less than who waits for it has."""
_ORPHAN = 5.0
"""Seconds after the limit at which it ends by itself, should nobody have killed it."""


def fold_apart(
    function: Callable[..., T], path: Path, sqls: Sequence[str], settings: Settings, seconds: float
) -> T | Failure:
    """What `function`, which has a name in its module, makes of the rows of statements.

    Raises what it raises there, and as `SqliteEngine` does.
    """
    asked = pickle.dumps((function, path, tuple(sqls), settings, seconds, time.monotonic()))
    # No threads of numpy's; modules are found where they are found here.
    own = {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with deaf_to_ctrl_c():
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "modularsql.engines.apart"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | own,
        )
    try:
        answer, _ = process.communicate(asked, timeout=seconds + _GRACE)
    except subprocess.TimeoutExpired:
        message = "killed: it did not stop at the time limit"
        return Failure(kind=FailureKind.TIMEOUT, message=message)
    finally:
        process.kill()
        process.wait()
    if not answer:
        message = f"the process that read the rows ended (exit {process.returncode})"
        return Failure(kind=FailureKind.DIED, message=message)
    good, found = pickle.loads(answer)  # noqa: S301 - of our own process
    if not good:
        raise found
    result: T | Failure = found
    return result


def _main() -> None:
    """In the process: read what is asked, and write the answer."""
    from modularsql.engines.sqlite import SqliteEngine
    from modularsql.engines.watchdog import WATCHDOG
    from modularsql.engines.worker import alarm, bound_memory_and_files

    function, path, sqls, settings, seconds, since = pickle.load(sys.stdin.buffer)  # noqa: S301
    left = max(0.0, seconds - (time.monotonic() - since))
    bound_memory_and_files(settings)
    WATCHDOG.stand_down()
    answer: tuple[bool, Any]
    with alarm(left + _ORPHAN):
        try:
            engine = SqliteEngine(path, settings)
            answer = (True, engine.fold_here(function, *sqls, limits=Limits(seconds=left)))
        except Exception as error:
            answer = (False, error)
    sys.stdout.buffer.write(pickle.dumps(answer))


if __name__ == "__main__":
    _main()
