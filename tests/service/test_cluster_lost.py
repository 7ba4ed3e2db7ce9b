"""A scheduler that is lost in the middle of a run: told in one line, and the run can go on."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.errors import SetupError
from modularsql.service.evaluating import EvalRequest, evaluate

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

SLOW = (
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300000) "
    "SELECT count(*) + {} FROM n"
)


@pytest.fixture
def scheduler() -> Iterator[tuple[str, int]]:
    """The address and the process id of a scheduler that has one worker; both are processes."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    here = ["--host", "127.0.0.1", "--no-dashboard"]
    commands = [
        ["distributed.cli.dask_scheduler", "--port", str(port), *here],
        ["distributed.cli.dask_worker", address, "--nthreads", "1", *here],
    ]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen([sys.executable, "-m", *command], **quiet) for command in commands]
    try:
        with distributed.Client(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
        yield address, started[0].pid
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(30)


@pytest.mark.slow
def test_a_lost_scheduler_is_told_in_one_line_and_the_run_goes_on(
    scheduler: tuple[str, int], tmp_path: Path, eval_request: Callable[..., EvalRequest]
) -> None:
    address, process = scheduler
    sqls = [SLOW.format(at) for at in range(16)]
    log = tmp_path / "run" / "log.jsonl"

    def run(**settings: Any) -> Any:
        settings = {"settings": Settings(jobs=1, **settings)}
        return evaluate(eval_request(sqls, {"one": sqls}, metrics=("set_ex",), **settings))

    def kill() -> None:
        while not log.exists() or not log.stat().st_size:
            time.sleep(0.02)
        os.kill(process, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with pytest.raises(SetupError, match=r"the cluster at .* is gone") as caught:
        run(cluster=address)
    assert "run the same command again" in caught.value.hint
    assert "\n" not in str(caught.value)
    done = len(log.read_bytes().splitlines())
    assert 0 < done < len(sqls)
    finished = run()
    assert finished.resumed == done
    assert {v.record.pred.status for v in finished.run.verdicts["one"]} == {"ok"}
