"""Commands fork their workers from a process that has imported what these need (Linux)."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from modularsql.service.nursery import REPAIRING, SCORING_GUARDED

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers start anew there")

ALL = "SELECT b FROM t"
HANGS = "SELECT instr(hex(zeroblob(2000000)), hex(zeroblob(999999)) || 'x')"
SLOW = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"

SCRIPT = "import sys; del sys.path[0]; from modularsql.__main__ import main; main()"
"""As the installed command begins: without the working folder among the places of modules."""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder whose name is short enough for sockets."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


@pytest.fixture
def start(tmp_path: Path, root: Path, temporary: Path) -> Start:
    """`eval` of answers to a gold query each, in a session and a temporary folder of its own."""

    def begin(
        answers: list[str], *options: str, temporary: Path = temporary
    ) -> "subprocess.Popen[str]":
        golds = [f"{ALL} WHERE b > {-at - 1}" for at in range(len(answers))]
        lines = [{"id": f"q{at}", "db": "shop", "gold": gold} for at, gold in enumerate(golds)]
        (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, lines)))
        (tmp_path / "one.json").write_text(json.dumps(answers))
        command = [sys.executable, "-c", SCRIPT, "eval", "set.jsonl", "--pred", "one.json"]
        command += ["--db-root", str(root), "--out", "run", "--jobs", "2", "--format", "json"]
        return subprocess.Popen(
            [*command, *options],
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return begin


def statuses(folder: Path) -> list[str]:
    records = map(json.loads, (folder / "run" / "log.jsonl").read_text().splitlines())
    return [found["pred"]["status"] for found in sorted(records, key=lambda one: one["pair"])]


def processes(group: int) -> list[str]:
    """The command lines of a session's processes that are still there."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(stat[3]) == group and stat[0] != "Z":
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def until(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()


def test_a_worker_that_is_killed_is_replaced(start: Start, tmp_path: Path) -> None:
    said = start([*[ALL] * 6, HANGS, *[ALL] * 3], "--timeout", "0.5").communicate(timeout=60)
    assert said[1] == ""
    assert json.loads(said[0])["systems"]["one"]["set_ex"] == 0.9
    assert statuses(tmp_path) == ["ok"] * 6 + ["timeout"] + ["ok"] * 3


def test_modules_in_the_working_folder_are_not_taken_for_pythons(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "csv.py").write_text("raise SystemExit('the wrong module')")
    (tmp_path / "sqlglot.py").write_text("raise SystemExit('the wrong module')")
    running = start([SLOW], "--timeout", "20")
    try:
        forked = "multiprocessing.forkserver"
        assert until(lambda: sum(forked in one for one in processes(running.pid)) >= 2)
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        said = running.communicate(timeout=60)
    assert "wrong module" not in said[1]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_a_command_that_is_ended(
    start: Start, tmp_path: Path, temporary: Path, how: signal.Signals
) -> None:
    running = start([ALL, SLOW], "--timeout", "30")
    log = tmp_path / "run" / "log.jsonl"
    assert until(lambda: (log.exists() and log.stat().st_size > 0) or running.poll() is not None)
    running.send_signal(how)
    running.communicate(timeout=60)
    assert until(lambda: not processes(running.pid))
    assert not list(temporary.glob("pymp-*"))
    if how == signal.SIGTERM:
        assert not list(temporary.iterdir())


@pytest.mark.parametrize("modules", [SCORING_GUARDED, REPAIRING])
def test_what_workers_need_starts_no_thread(modules: tuple[str, ...]) -> None:
    code = "import os, sys\nfor name in sys.argv[1:]: __import__(name)\n"
    code += "print(len(os.listdir('/proc/self/task')))"
    command = [sys.executable, "-c", code, *modules]
    assert subprocess.run(command, capture_output=True, check=True).stdout.strip() == b"1"


def test_workers_start_anew_where_a_socket_has_no_place(start: Start, tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    assert json.loads(start([ALL], temporary=deep).communicate(timeout=60)[0])
    assert statuses(tmp_path) == ["ok"]
