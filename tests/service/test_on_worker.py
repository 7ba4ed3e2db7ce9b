"""What a worker of a cluster tells of files, and keeps for a run."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from modularsql.service import on_worker


def test_another_copy_of_a_database_is_none(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x" * 200_000)
    before = on_worker.mark(file)
    file.write_bytes(b"x" * 199_999 + b"y")
    assert on_worker.mark(file) != before
    assert on_worker.mark(tmp_path / "none") is None


def test_a_database_with_changes_in_its_log_is_another_one(root: Path) -> None:
    file = root / "shop" / "shop.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        before, content = on_worker.mark(file), file.read_bytes()
        connection.execute("INSERT INTO t VALUES (5, 5)")
        assert file.read_bytes() == content
        assert on_worker.mark(file) != before


def test_what_nobody_comes_for_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_worker, "_IDLE", 0.2)
    closed = threading.Event()

    class Thing:
        def close(self) -> None:
            closed.set()

    with on_worker.kept("run", Thing):
        assert not closed.wait(0.5)
    assert closed.wait(5)
    assert "run" not in on_worker._kept
