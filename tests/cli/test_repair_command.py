"""`modularsql repair` as people see it; what it does is tested in tests/service."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from modularsql.cli.progress import progress

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SKIPPED = "the rescue was skipped: there are no candidates (--pools)"
COPIES = "SELECT c.name FROM customer c JOIN orders o ON o.customer = c.id"


@pytest.fixture
def files(shop: Path, tmp_path: Path) -> list[str]:
    """The arguments for three questions: one is repaired, one is empty, one has no database."""
    lines = [json.dumps({"id": at, "db": "shop" if at < 2 else "gone"}) for at in range(3)]
    (tmp_path / "set.jsonl").write_text("\n".join(lines))
    (tmp_path / "pred.txt").write_text(f"{COPIES}\n\nSELECT 1\n")
    return ["set.jsonl", "--pred", "pred.txt", "--db-root", ".", "--out", "out.txt", "--jobs", "1"]


@pytest.mark.parametrize(
    ("policy", "rule", "repaired"),
    [
        (
            "grain",
            "semi_join",
            "SELECT c.name FROM customer c "
            "WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
        ),
        ("paper", "inject_distinct", COPIES.replace("SELECT", "SELECT DISTINCT")),
    ],
)
def test_the_counts_are_said_in_words(
    run: Run, files: list[str], tmp_path: Path, policy: str, rule: str, repaired: str
) -> None:
    ran = run("repair", *files, *(["--policy", policy] if policy != "grain" else []))
    skipped = [f"  1 query: {SKIPPED}"] if policy == "paper" else []
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [
        f"1 of 3 queries changed (policy {policy}), written to out.txt",
        f"  by rule:    {rule} 1",
        "  by trigger: cartesian_explosion 1",
        "  by status:  no_sql 1, no_database 1, duplicates 1",
        *skipped,
        "  databases not found: gone",
    ]
    assert (tmp_path / "out.txt").read_text() == f"{repaired}\n\nSELECT 1\n"


def test_lost_questions_are_explained_and_long_lists_cut(
    run: Run, files: list[str], tmp_path: Path
) -> None:
    lines = [json.dumps({"id": at, "db": f"db{at}"}) for at in range(20)]
    (tmp_path / "set.jsonl").write_text("\n".join(lines))
    (tmp_path / "pred.txt").write_text("SELECT 1\n" * 20)
    for at in range(8):
        (tmp_path / f"db{at}.sqlite").write_text("no database")
    lines = run("repair", *files).stdout.splitlines()
    assert "  databases not found: db10, db11, db12, db13, db14 and 7 more" in lines
    assert lines[-1] == "  … 3 more problems (--format json has them)"
    assert "  1 query: db0.sqlite is no SQLite or DuckDB database" in lines


def test_a_set_that_cannot_be_read_is_one_line(run: Run, files: list[str], tmp_path: Path) -> None:
    (tmp_path / "pred.txt").write_text("SELECT 1\n")
    ran = run("repair", *files)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "predictions: 1 entry, data set: 3 questions; missing: 1, 2" in ran.stderr
    assert not (tmp_path / "out.txt").exists()


def test_the_note_of_a_data_set_is_shown(run: Run, files: list[str], tmp_path: Path) -> None:
    entry = {"question_id": 5, "db_id": "shop", "question": "?", "evidence": "", "SQL": "SELECT 1"}
    (tmp_path / "set.jsonl").write_text(json.dumps([entry] * 3))
    assert "  note: question_id repeats (5): the ids are" in run("repair", *files).stdout


@pytest.mark.skipif(os.name != "posix", reason="a POSIX terminal")
def test_progress_shows_on_a_terminal_only(files: list[str], tmp_path: Path) -> None:
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "modularsql", "repair", *files, "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=child,
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(child)
    shown = b""
    with suppress(OSError):
        while part := os.read(parent, 65536):
            shown += part
    os.close(parent)
    out, _ = process.communicate()
    assert json.loads(out)["changed"] == 1
    assert b"3/3" in shown


def test_long_words_leave_the_bar_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for name, value in (("COLUMNS", "60"), ("FORCE_COLOR", "1"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    with progress("pairs") as show:
        assert show is not None
        show(7, 9, "scores so far: " + ", ".join(f"system-{at} 50.0" for at in range(20)))
    shown = capsys.readouterr().err
    assert "7/9" in shown
    assert "system-19 50.0" in shown
