"""A query in a worker process can always be ended, and the worker leaves nothing behind."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.engines.isolated import GRACE, IsolatedEngine
from modularsql.errors import InputError, SetupError
from modularsql.ports import Engine
from modularsql.records import Failure, FailureKind, Limits
from modularsql.rows import Rows

SOON = Limits(seconds=0.2)
DEAF = {  # queries that look at no clock
    "sqlite": {
        "instr": "SELECT instr(hex(zeroblob(1500000)), hex(zeroblob(750000)) || '1')",
        "replace": "SELECT replace(hex(zeroblob(1500000)), hex(zeroblob(750000)) || '1', '')",
    },
    "duckdb": {
        "list_sort": "SELECT length(list_sort(range(40000000)))",
        "parser": "SELECT " + "(" * 20_000,
        "planner": "WITH c0 AS (SELECT 1 AS x), "
        + ", ".join(f"c{i} AS (SELECT * FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 30))
        + " SELECT count(*) FROM c29",
    },
}


@pytest.fixture(scope="module", params=["sqlite", "duckdb"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(dialect: str, folder: Path, kinds: Any) -> Path:
    kinds[dialect].build(folder / "t.db", ["CREATE TABLE t(x INTEGER)"])
    return folder / "t.db"


@pytest.fixture
def engine(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[IsolatedEngine]:
    monkeypatch.setattr(tempfile, "tempdir", str(path.parents[1] / "temp"))
    engine = IsolatedEngine(path, Settings(timeout=5))
    yield engine
    engine.close()


def kind_of(engine: Engine, sql: str, limits: Limits = SOON) -> FailureKind | None:
    outcome = engine.execute(sql, limits=limits)
    return outcome.kind if isinstance(outcome, Failure) else None


def works(engine: Engine) -> bool:
    outcome = engine.execute("SELECT count(*) FROM t", limits=Limits(seconds=10))
    return isinstance(outcome, Rows) and outcome.rows == [(0,)]


def workers() -> list[Any]:
    return multiprocessing.active_children()


def gone(process_id: int) -> bool:
    """Whether a process has ended, also where nobody has asked yet how."""
    with contextlib.suppress(OSError):
        if ") Z " in Path(f"/proc/{process_id}/stat").read_text():
            return True
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    return False


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_a_query_that_looks_at_no_clock_is_killed(engine: IsolatedEngine, dialect: str) -> None:
    for name, sql in DEAF[dialect].items():
        [worker] = workers()
        start = time.monotonic()
        assert kind_of(engine, sql) == FailureKind.TIMEOUT, name
        assert time.monotonic() - start < SOON.seconds + GRACE + 1, name
        assert gone(worker.pid), name
        assert works(engine), name


def test_a_worker_killed_between_queries_is_replaced_unnoticed(engine: IsolatedEngine) -> None:
    for _ in range(2):
        [worker] = workers()
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
        assert works(engine)
    assert [table.name for table in engine.catalog()] == ["t"]


def test_a_worker_killed_during_a_query_is_told_and_replaced(
    engine: IsolatedEngine, dialect: str
) -> None:
    [worker] = workers()
    threading.Timer(0.2, os.kill, (worker.pid, signal.SIGKILL)).start()
    sql = next(iter(DEAF[dialect].values()))
    outcome = engine.execute(sql, limits=Limits(seconds=20))
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.DIED
    assert "exit -9" in outcome.message
    assert works(engine)


def test_a_worker_killed_as_it_reads_the_schema_is_a_setup_error(
    engine: IsolatedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    [worker] = workers()
    os.kill(worker.pid, signal.SIGSTOP)
    threading.Timer(0.2, os.kill, (worker.pid, signal.SIGKILL)).start()
    with pytest.raises(SetupError, match="cannot be read"):
        engine.catalog()
    assert [table.name for table in engine.catalog()] == ["t"]


def test_a_worker_that_ran_out_of_memory_is_replaced(engine: IsolatedEngine) -> None:
    [before] = workers()
    tight = Limits(seconds=10, max_bytes=10)
    assert kind_of(engine, "SELECT 'longer than that'", tight) == FailureKind.TOO_LARGE
    assert works(engine)
    [after] = workers()
    assert before.pid != after.pid


def test_a_worker_that_finds_a_lock_when_it_is_replaced_says_so(
    engine: IsolatedEngine, path: Path, dialect: str, kinds: Any, other_process: Any
) -> None:
    [worker] = workers()
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    release = other_process(kinds[dialect].lock, path)
    assert kind_of(engine, "SELECT x FROM t") == FailureKind.LOCKED
    release()
    assert works(engine)


def test_ctrl_c_reaches_the_caller_at_once_and_the_engine_goes_on(
    engine: IsolatedEngine, dialect: str
) -> None:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        engine.execute(next(iter(DEAF[dialect].values())), limits=Limits(seconds=20))
    assert time.monotonic() - start < 2
    assert works(engine)


def test_the_end_of_a_worker_leaves_no_process_and_no_files(
    path: Path, engine: IsolatedEngine, dialect: str
) -> None:
    [worker] = workers()
    temp = Path(tempfile.gettempdir())
    assert list(temp.iterdir())
    kind_of(engine, next(iter(DEAF[dialect].values())))
    assert works(engine)
    engine.close()
    assert gone(worker.pid)
    assert workers() == []
    assert list(temp.iterdir()) == []


def test_an_engine_can_be_closed_while_another_thread_waits(
    engine: IsolatedEngine, dialect: str
) -> None:
    outcomes: list[object] = []
    sql = next(iter(DEAF[dialect].values()))
    thread = threading.Thread(
        target=lambda: outcomes.append(engine.execute(sql, limits=Limits(seconds=20)))
    )
    thread.start()
    time.sleep(0.2)
    engine.close()
    thread.join(5)
    assert isinstance(outcomes[0], Failure)
    assert outcomes[0].kind == FailureKind.DIED
    with pytest.raises(InputError):
        engine.execute("SELECT 1", limits=SOON)


ORPHAN = """
import os, sys, tempfile, threading
from modularsql.engines.isolated import IsolatedEngine
from modularsql.records import Limits
if __name__ == "__main__":
    engine = IsolatedEngine({path!r})
    import multiprocessing
    print(multiprocessing.active_children()[0].pid, flush=True)
    if {sql!r}:
        engine.execute({sql!r}, limits=Limits(seconds={seconds}))
    sys.stdin.read()
"""


def parent_of_a_worker(path: Path, sql: str, seconds: float = 60) -> "subprocess.Popen[str]":
    script = path.parents[1] / "work" / "script.py"
    script.write_text(ORPHAN.format(path=str(path), sql=sql, seconds=seconds))
    return subprocess.Popen(
        [sys.executable, script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(path.parents[1] / "temp")},
    )


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_a_worker_ends_with_a_parent_that_was_killed(path: Path, dialect: str, busy: bool) -> None:
    sql = next(iter(DEAF[dialect].values())) if busy else ""
    with parent_of_a_worker(path, sql) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        time.sleep(0.3 if busy else 0)
        assert not gone(worker)
        parent.kill()
        assert wait_until(lambda: gone(worker))
        assert wait_until(lambda: not list((path.parents[1] / "temp").iterdir()))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb"], indirect=True)
def test_an_orphan_that_python_cannot_end_ends_when_its_time_is_over(path: Path) -> None:
    with parent_of_a_worker(path, DEAF["duckdb"]["parser"], seconds=4) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        time.sleep(0.5)
        parent.kill()
        assert wait_until(lambda: gone(worker), seconds=15)


def test_a_script_without_main_guard_gets_a_setup_error(path: Path) -> None:
    script = path.parents[1] / "work" / "script.py"
    script.write_text(
        f"from modularsql.engines.isolated import IsolatedEngine\nIsolatedEngine({str(path)!r})\n"
    )
    ran = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 1
    assert "SetupError" in ran.stderr.splitlines()[-1]
    assert "__main__" in ran.stderr.splitlines()[-1]


def test_the_memory_of_a_worker_is_bounded(path: Path, dialect: str) -> None:
    sql = {
        "sqlite": "SELECT " + ", ".join(["hex(zeroblob(8000000))"] * 60),
        "duckdb": "SELECT repeat('x', 16000000) FROM range(100)",
    }[dialect]
    engine = IsolatedEngine(path, Settings(worker_memory_mb=1_200))
    try:
        outcome = engine.execute(sql, limits=Limits(seconds=10, max_bytes=2**40))
        assert isinstance(outcome, Failure)
        assert outcome.kind in (FailureKind.TOO_LARGE, FailureKind.DIED)
        assert works(engine)
    finally:
        engine.close()


def test_a_worker_without_enough_memory_to_start_is_a_setup_error(path: Path) -> None:
    with pytest.raises(SetupError, match="did not start"):
        IsolatedEngine(path, Settings(worker_memory_mb=8))
