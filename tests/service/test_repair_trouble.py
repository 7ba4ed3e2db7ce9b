"""`repair` when queries hang, processes die, memory ends or somebody presses Ctrl-C."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from modularsql.config import Settings
from modularsql.errors import SetupError
from modularsql.service import in_workers, pool, workers
from modularsql.service.in_workers import Repaired, Task
from modularsql.service.repairing import RepairSummary

Repair = Callable[..., RepairSummary]

COPIES, DISTINCT = "SELECT a FROM t", "SELECT DISTINCT a FROM t"
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
HANGS = "SELECT instr(hex(zeroblob(2000000)), hex(zeroblob(999999)) || 'x')"
"""One call of a function that looks at no clock; it would take minutes."""


def written(tmp_path: Path) -> list[str]:
    found: list[str] = json.loads((tmp_path / "out").read_text())
    return found


def test_a_query_over_its_time_costs_only_itself(repaired: Repair, tmp_path: Path) -> None:
    summary = repaired([ENDLESS, COPIES], timeout=0.3)
    assert summary.by_status == Counter(timeout=1, duplicates=1)
    assert written(tmp_path) == [ENDLESS, DISTINCT]


def test_a_query_that_cannot_be_interrupted_costs_only_itself(
    repaired: Repair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "OWN_WORK", 0.5)
    start = time.monotonic()
    summary = repaired([COPIES, HANGS, COPIES], timeout=0.4)
    assert time.monotonic() - start < 20
    assert summary.by_status == Counter(timeout=1, duplicates=2)
    assert summary.by_trigger["exec_error"] == 1
    assert written(tmp_path) == [DISTINCT, HANGS, DISTINCT]


def test_a_query_that_takes_all_memory_costs_only_itself(repaired: Repair, tmp_path: Path) -> None:
    bomb = "SELECT hex(zeroblob(8000000)) FROM t"
    summary = repaired([bomb, COPIES], worker_memory_mb=150)
    assert summary.by_status["duplicates"] == 1
    assert written(tmp_path) == [bomb, DISTINCT]
    lost = summary.by_status["died"] + summary.by_status["error"]
    assert lost == 1


def cpu_seconds(pid: int) -> float:
    """What a process has worked so far (Linux)."""
    try:
        fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def kill_two_workers(enough: threading.Event) -> None:
    """Kill the first two workers that are so busy that they must be in the endless query."""
    killed = 0
    while killed < 2 and not enough.wait(0.05):
        for child in multiprocessing.active_children():
            if child.pid is not None and cpu_seconds(child.pid) > 1.5:
                os.kill(child.pid, signal.SIGKILL)
                child.join()
                killed += 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_query_whose_process_is_killed_twice_costs_only_itself(
    repaired: Repair, tmp_path: Path
) -> None:
    enough = threading.Event()
    killer = threading.Thread(target=kill_two_workers, args=(enough,))
    killer.start()
    try:
        summary = repaired([COPIES, ENDLESS, COPIES], timeout=60)
    finally:
        enough.set()
        killer.join()
    assert summary.by_status == Counter(duplicates=2, died=1)
    assert written(tmp_path) == [DISTINCT, ENDLESS, DISTINCT]
    assert list(summary.problems.values()) == [1]


def test_workers_that_cannot_start_are_an_error_with_a_next_step(
    repaired: Repair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A start that fails (exit takes one argument, not two) ends the process at once.
    monkeypatch.setattr(pool, "_start", sys.exit)
    with pytest.raises(SetupError, match="end as soon as they start") as caught:
        repaired([COPIES, COPIES])
    assert "MODULARSQL_WORKER_MEMORY_MB" in caught.value.hint
    assert not (tmp_path / "out").exists()
    assert multiprocessing.active_children() == []


def test_a_pool_that_breaks_later_goes_on_with_the_next_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tasks = [Task(database="d", sql=str(at)) for at in range(5)]

    def some_pool(left: list[Task], *_: object) -> object:
        """Answers question 0, breaks at 1, answers 2 and breaks, and so on."""
        yield from ([Repaired(status="ok", sql=t.sql)] for t in left[:1] if int(t.sql) % 2 == 0)

    monkeypatch.setattr(workers, "_in_one_pool", some_pool)
    found = list(in_workers.guard_all(tasks, Settings()))
    assert [(one.sql, one.status) for one in found] == [
        ("0", "ok"),
        (None, "died"),
        ("2", "ok"),
        (None, "died"),
        ("4", "ok"),
    ]


def alive(session: int) -> list[str]:
    """The processes of a session that still run."""
    listed = subprocess.run(
        ["ps", "-o", "stat=,args=", "-s", str(session)], capture_output=True, text=True, check=False
    )
    return [line for line in listed.stdout.splitlines() if not line.startswith("Z")]


@pytest.fixture
def endless(root: Path, dataset: Callable[..., str], tmp_path: Path) -> "subprocess.Popen[str]":
    """A `repair` in a session of its own with two workers that never come to an end."""
    out = tmp_path / "out"
    out.write_text("what was there")
    (tmp_path / "pred.json").write_text(json.dumps([COPIES, HANGS, ENDLESS]))
    (tmp_path / "tmp").mkdir()
    files = ["--pred", tmp_path / "pred.json", "--db-root", root, "--out", out, "--jobs", "2"]
    command = [sys.executable, "-m", "modularsql", "repair", dataset("shop", "shop", "shop")]
    return subprocess.Popen(
        [*command, *map(str, files)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    )


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold in that time."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.1)
    return holds()


def end(process: "subprocess.Popen[str]", number: int) -> tuple[int, str]:
    """Signal it as a terminal does (all at once), or it alone; its status and last words."""
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert out == ""
    return process.returncode, err.strip()


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
@pytest.mark.parametrize(
    "after", [pytest.param(tenth / 10, marks=pytest.mark.slow) for tenth in range(3, 20)] + [2]
)
def test_ctrl_c_leaves_no_half_file_and_no_worker(
    endless: "subprocess.Popen[str]", tmp_path: Path, after: float
) -> None:
    time.sleep(after)
    status, words = end(endless, signal.SIGINT)
    # Before the command itself has begun, Python answers in its own way. And where Ctrl-C hits
    # an exec() (dataclasses use it at import), it ends by SIGINT, which is 130 for a shell too.
    assert (status in (130, -2) and words == "modularsql: stopped") or "import" in words
    assert within(5, lambda: alive(endless.pid) == [])
    assert (tmp_path / "out").read_text() == "what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "databases",
        "out",
        "pred.json",
        "set.jsonl",
        "tmp",
    ]
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent_however_it_ends(
    endless: "subprocess.Popen[str]", tmp_path: Path, number: signal.Signals
) -> None:
    assert within(20, lambda: len(alive(endless.pid)) == 4)  # and the tracker of semaphores
    status, _ = end(endless, number)
    assert status == (143 if number == signal.SIGTERM else -9)
    assert within(10, lambda: alive(endless.pid) == [])
    assert (tmp_path / "out").read_text() == "what was there"
