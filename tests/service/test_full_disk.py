"""A disk that is full while a run writes its log: one line, and the same command goes on."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.errors import SetupError
from modularsql.llm.script import ScriptedModel
from modularsql.service.predicting import PredictRequest, predict
from modularsql.service.run_files import read_records

QUESTIONS = 300
_DISK, _LEFT = 1024 * 1024, 24 * 1024


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with little room beside the file `filler`."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "none", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no disk can be mounted here: run the tests as root on Linux")
    try:
        (place / "filler").write_bytes(bytes(_DISK - _LEFT))
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def call(tmp_path: Path, root: Path, out: Path) -> list[str]:
    """An eval whose log needs more than `_LEFT` bytes; every second answer is wrong."""
    gold = [f"SELECT b + {at} FROM t" for at in range(QUESTIONS)]
    lines = [{"id": f"q{at}", "db": "shop", "gold": sql} for at, sql in enumerate(gold)]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, lines)))
    answers = [sql if at % 2 else "SELECT 1" for at, sql in enumerate(gold)]
    (tmp_path / "one.json").write_text(json.dumps(answers))
    files = ["--pred", tmp_path / "one.json", "--db-root", root, "--out", out]
    command = [sys.executable, "-m", "modularsql", "eval", str(tmp_path / "set.jsonl")]
    return [*command, *map(str, files), "--jobs", "1", "--metrics", "set_ex", "--format", "json"]


def check(command: list[str], out: Path, reason: str, room: Callable[[], Any], **more: Any) -> None:
    """The run stops with one line, and goes on once `room` was made."""
    ran = subprocess.run(command, capture_output=True, text=True, **more)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"modularsql: cannot write {out / 'log.jsonl'}: {reason}")
    assert ran.stderr.count("\n") == 1
    assert "goes on where it stopped" in ran.stderr
    assert not (out / "verdicts.parquet").exists()
    room()
    known = len(read_records(out))
    assert 0 < known < QUESTIONS
    again = subprocess.run(command, capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (0, "")
    one = json.loads(again.stdout)["systems"]["one"]
    assert (one["n"], one["set_ex"]) == (QUESTIONS, 0.5)
    assert len((out / "log.jsonl").read_bytes().splitlines()) == QUESTIONS


def test_eval_on_a_full_disk(tmp_path: Path, root: Path, small: Path) -> None:
    command = call(tmp_path, root, small / "run")
    check(command, small / "run", "No space left on device", (small / "filler").unlink)


@pytest.mark.skipif(os.name != "posix", reason="POSIX limits")
def test_eval_where_no_file_may_grow(tmp_path: Path, root: Path) -> None:
    out = tmp_path / "run"

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LEFT, _LEFT))

    command = call(tmp_path, root, out)
    check(command, out, "File too large", lambda: None, preexec_fn=bounded)


def test_predict_on_a_full_disk_takes_no_question_for_answered(
    tmp_path: Path, root: Path, small: Path
) -> None:
    lines = [{"id": at, "db": "shop", "question": f"How many, {at}?"} for at in range(12)]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, lines)))
    request = PredictRequest(
        dataset=str(tmp_path / "set.jsonl"),
        db_root=root,
        out=small / "run",
        settings=Settings(jobs=1, samples=1, linking_samples=1),
        model=ScriptedModel(lambda _: "SELECT COUNT(*) FROM t"),
    )
    with pytest.raises(SetupError, match="No space left on device") as caught:
        predict(request)
    assert "goes on where it stopped" in caught.value.hint
    (small / "filler").unlink()
    done = predict(request)
    assert 0 < done.resumed < done.answered == len(lines)
    assert done.problems == {}
