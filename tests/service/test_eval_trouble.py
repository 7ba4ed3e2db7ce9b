"""`eval` in its worker processes, when queries hang, memory ends, or somebody kills it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.errors import InputError
from modularsql.service.evaluating import EvalRequest, Evaluated, evaluate
from modularsql.service.run_files import load_run, read_records

ALL = "SELECT b FROM t"
HANGS = "SELECT instr(hex(zeroblob(2000000)), hex(zeroblob(999999)) || 'x')"
"""One call of a function that looks at no clock; it would take minutes."""

BOMB = "SELECT hex(zeroblob(8000000)) FROM t"


Make = Callable[..., EvalRequest]


@pytest.fixture
def request_of(eval_request: Make) -> Make:
    def make(gold: Sequence[str], answers: Sequence[str], **settings: Any) -> EvalRequest:
        fields = {"settings": Settings(jobs=2, **settings), "metrics": ("set_ex",)}
        return eval_request(gold, {"one": answers}, **fields)

    return make


def statuses(done: Evaluated) -> list[tuple[str, str, float | None]]:
    records = [verdict.record for verdict in done.run.verdicts["one"]]
    return [(r.gold.status, r.pred.status, r.scores.get("set_ex")) for r in records]


def test_a_query_that_cannot_be_interrupted_is_stopped_and_costs_only_itself(
    request_of: Make,
) -> None:
    start = time.monotonic()
    done = evaluate(request_of([ALL] * 3 + [HANGS], [ALL, HANGS, ALL, ALL], timeout=0.5))
    assert statuses(done) == [
        ("ok", "ok", 1.0),
        ("ok", "timeout", 0.0),
        ("ok", "ok", 1.0),
        ("timeout", "not_run", None),
    ]
    assert time.monotonic() - start < 60


def test_a_query_that_takes_all_memory_costs_only_itself(request_of: Make) -> None:
    done = evaluate(request_of([ALL, ALL], [BOMB, ALL], worker_memory_mb=200))
    (first, second) = statuses(done)
    assert second == ("ok", "ok", 1.0)
    assert first[1] in ("died", "too_large", "error")
    assert first[2] != 1.0


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_after_kill_9_the_same_command_goes_on(
    request_of: Make, tmp_path: Path, root: Path
) -> None:
    slow = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 400000) "
    queries = [f"{slow} SELECT count(*) + {at} FROM n" for at in range(60)]
    request = request_of(queries, queries)
    files = ["--pred", request.predictions[0], "--db-root", root, "--out", request.out]
    command = [sys.executable, "-m", "modularsql", "eval", request.dataset, *map(str, files)]
    command += ["--jobs", "2", "--metrics", "set_ex"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = request.out / "log.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (log.exists() and log.stat().st_size):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = len(read_records(request.out))
    assert 0 < done < 60, "killed too early or too late to tell"
    ran = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout)["systems"]["one"]["set_ex"] == 1.0
    assert len(read_records(request.out)) == 60
    assert len(log.read_bytes().splitlines()) == 60
    assert len(load_run(request.out).verdicts["one"]) == 60


def test_a_record_that_is_broken_says_what_to_do(request_of: Make) -> None:
    request = request_of([ALL], [ALL])
    request.out.mkdir()
    (request.out / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"run\.json: Expecting") as caught:
        evaluate(request)
    assert "remove that folder" in caught.value.hint
