"""Folders for temporary files are gone in the end, also when their owner was killed."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from modularsql.engines.scratch import Scratch, clean_up_after_the_dead, clean_up_once

pytest.importorskip("fcntl")

OWNER = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from modularsql.engines.scratch import Scratch
scratch = Scratch()
print(scratch.name, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def aged(folder: Path) -> None:
    os.utime(folder, (time.time() - 3600,) * 2)


def owner(temporary: Path) -> tuple["subprocess.Popen[str]", Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(temporary)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_removed_by_its_owner(temporary: Path) -> None:
    scratch = Scratch()
    Path(scratch.name, "spill").write_text("x")
    scratch.close()
    scratch.close()
    assert not list(temporary.iterdir())


def test_what_a_killed_owner_left_is_removed_by_the_next_process(temporary: Path) -> None:
    process, folder = owner(temporary)
    Path(folder, "spill").write_text("x")
    aged(folder)
    clean_up_after_the_dead()
    assert folder.exists(), "its owner lives"
    process.kill()
    process.communicate()
    clean_up_once.cache_clear()
    scratch = Scratch()
    assert not folder.exists()
    scratch.close()


def test_young_folders_and_those_of_others_are_left_alone(temporary: Path) -> None:
    process, young = owner(temporary)
    process.kill()
    process.communicate()
    other = temporary / "modularsql-notes"
    other.mkdir()
    (other / "mine.txt").write_text("x")
    aged(other)
    clean_up_after_the_dead()
    assert young.exists()
    assert (other / "mine.txt").exists(), "it has no lock of ours"
