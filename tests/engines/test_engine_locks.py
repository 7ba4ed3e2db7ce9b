"""A locked database is waited for, then it is locked and not wrong."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.errors import SetupError
from modularsql.records import Failure, FailureKind, Limits
from modularsql.rows import Rows

Run = Callable[[str, str | Path], Callable[[], None]]
ONE = ("CREATE TABLE t(x INTEGER)", "INSERT INTO t VALUES (7)")


@pytest.fixture
def path(kind: Any, folder: Path) -> Path:
    kind.build(folder / "t.db", ONE)
    return folder / "t.db"


def test_opening_waits_for_a_lock_until_the_time_is_over(
    kind: Any, path: Path, other_process: Run
) -> None:
    other_process(kind.lock, kind.target(path))
    start = time.monotonic()
    with pytest.raises(SetupError, match="is locked by another program") as caught:
        kind.open(path, Settings(timeout=0.3))
    assert caught.value.kind == "locked"
    assert 0.3 <= time.monotonic() - start < 3


def test_opening_goes_on_when_the_lock_is_gone(
    kind: Any, path: Path, other_process: Run, limits: Limits
) -> None:
    release = other_process(kind.lock, kind.target(path))
    threading.Timer(0.3, release).start()
    engine = kind.open(path, Settings(timeout=10))
    outcome = engine.execute("SELECT x FROM t", limits=limits)
    engine.close()
    assert isinstance(outcome, Rows)
    assert outcome.rows == [(7,)]


def test_a_lock_taken_later_is_waited_for_and_told(
    kind: Any, path: Path, other_process: Run, limits: Limits
) -> None:
    engine = kind.open(path, Settings(timeout=0.3))
    try:
        release = other_process(kind.lock, kind.target(path))
        start = time.monotonic()
        outcome = engine.execute("SELECT x FROM t", limits=Limits(seconds=0.3))
        assert 0.3 <= time.monotonic() - start < 2
        assert isinstance(outcome, Failure)
        assert outcome.kind == FailureKind.LOCKED
        for read in (engine.catalog, engine.compares_bytes):
            with pytest.raises(SetupError) as caught:
                read()
            assert caught.value.kind == "locked"
        threading.Timer(0.3, release).start()
        outcome = engine.execute("SELECT x FROM t", limits=limits)
        assert isinstance(outcome, Rows)
        assert outcome.rows == [(7,)]
        assert len(engine.catalog().tables) == 1
    finally:
        engine.close()


def test_a_closed_engine_locks_nothing(kind: Any, path: Path, other_process: Run) -> None:
    engine = kind.open(path, None)
    engine.execute("SELECT x FROM t, t AS t2", limits=Limits(seconds=10, max_rows=1))
    engine.close()
    other_process(kind.lock, kind.target(path))


@pytest.mark.files
def test_opening_does_not_drop_a_lock_that_this_program_holds(near: Any, folder: Path) -> None:
    """POSIX drops all locks of a process on a file when it closes any descriptor of it."""
    near.build(folder / "t.db", ONE)
    ours: dict[str, Any] = {"path": str(near.target(folder / "t.db"))}
    exec(near.lock, ours)  # noqa: S102 - the same lines as in the other process
    with pytest.raises(SetupError):
        near.open(folder / "t.db", Settings(timeout=0.1)).close()
    theirs = f"path = {ours['path']!r}\n{near.lock.replace('path,', 'path, timeout=0,')}"
    ran = subprocess.run(
        [sys.executable, "-c", theirs], capture_output=True, text=True, timeout=30, check=False
    )
    ours["held"].close()
    assert ran.returncode != 0
    assert "lock" in ran.stderr
