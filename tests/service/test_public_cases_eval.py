"""Public cases (part E) that need a whole run, by their id, and queries that nobody should send.

Verdicts are written by hand. Everything goes through the command line, in worker processes.
"""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

ENDLESS = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM x) SELECT {what} FROM x"
UNION_OF_LIMITS = "SELECT a FROM d ORDER BY a LIMIT 3 INTERSECT SELECT a FROM d ORDER BY b LIMIT 3"
SCRIPT = """
CREATE TABLE k(v INTEGER); INSERT INTO k VALUES (1);
CREATE TABLE d(a TEXT, b TEXT); INSERT INTO d VALUES ('x', 'y');
"""

Eval = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database `base` with the tables of the cases."""
    file = tmp_path / "databases" / "base" / "base.sqlite"
    file.parent.mkdir(parents=True)
    with sqlite3.connect(file) as connection:
        connection.executescript(SCRIPT)
    connection.close()
    return file


@pytest.fixture
def evaluated(tmp_path: Path, database: Path) -> Eval:
    """`modularsql eval` on gold and answers as they stand in the file, in a process of its own."""

    def call(
        gold: Sequence[str], answers: Any, *options: str, out: str = "run"
    ) -> "subprocess.CompletedProcess[str]":
        lines = [{"id": f"q{at}", "db": "base", "gold": sql} for at, sql in enumerate(gold)]
        (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, lines)))
        (tmp_path / "one.json").write_text(json.dumps(answers))
        command = [sys.executable, "-m", "modularsql", "eval", str(tmp_path / "set.jsonl")]
        command += ["--pred", str(tmp_path / "one.json"), "--db-root", str(database.parents[1])]
        command += ["--out", str(tmp_path / out), "--jobs", "1", *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    return call


def verdicts(folder: Path) -> list[tuple[str, str, float | None]]:
    from modularsql.service.run_files import load_run

    records = [verdict.record for verdict in load_run(folder).verdicts["one"]]
    return [(r.gold.status, r.pred.status, r.scores["set_ex"]) for r in records]


BAD: tuple[tuple[str, Any, tuple[str, str, float | None]], ...] = (
    # E21: both fail; that is no agreement, and gold like this is in no denominator.
    (UNION_OF_LIMITS, UNION_OF_LIMITS, ("error", "error", None)),
    # E22: it would return a row, and leave the data with SUM(v) = 3.
    ("SELECT 2", "INSERT INTO k VALUES(2) RETURNING v", ("ok", "refused", 0.0)),
    ("SELECT SUM(v) FROM k", "SELECT 1", ("ok", "ok", 1.0)),
    # E28: nothing but a limit ends it.
    ("SELECT 1", ENDLESS.format(what="COUNT(*)"), ("ok", "timeout", 0.0)),
    ("SELECT 1", "ATTACH '/tmp/other.sqlite' AS other", ("ok", "refused", 0.0)),
    ("SELECT 1", "SELECT load_extension('evil')", ("ok", "refused", 0.0)),
    ("SELECT 1", "SELECT readfile('/etc/passwd')", ("ok", "error", 0.0)),
    ("SELECT 1", "SELECT 1; DROP TABLE k", ("ok", "refused", 0.0)),
    ("SELECT 1", "", ("ok", "no_sql", 0.0)),
    ("SELECT 1", 0, ("ok", "no_sql", 0.0)),
    ("SELECT 1", None, ("ok", "no_sql", 0.0)),
    ("SELECT COUNT(*) FROM k", "SELECT 1", ("ok", "ok", 1.0)),
)


def test_e21_e22_e28_a_bad_query_costs_only_itself(
    evaluated: Eval, tmp_path: Path, database: Path
) -> None:
    before, start = database.read_bytes(), time.monotonic()
    gold, answers = [one[0] for one in BAD], [one[1] for one in BAD]
    done = evaluated(gold, answers, "--timeout", "1", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    found = verdicts(tmp_path / "run")
    assert found == [expected for _, _, expected in BAD]
    one = json.loads(done.stdout)["systems"]["one"]
    assert (one["questions"], one["n"], one["left_out"]) == (len(BAD), len(BAD) - 1, {"error": 1})
    assert one["set_ex"] == pytest.approx(2 / (len(BAD) - 1))
    assert database.read_bytes() == before
    assert time.monotonic() - start < 100


@pytest.mark.parametrize("what", ["n", "zeroblob(900000)", "n FROM x LIMIT 100000000 --"])
def test_rows_without_end_stop_at_a_limit_and_are_never_right(
    evaluated: Eval, tmp_path: Path, what: str
) -> None:
    pairs = [("SELECT 1", ENDLESS.format(what=what)), ("SELECT 1", "SELECT 1")]
    done = evaluated(*zip(*pairs, strict=True), "--timeout", "3")
    assert (done.returncode, done.stderr) == (0, "")
    first, second = verdicts(tmp_path / "run")
    assert first[1] in ("truncated", "too_large", "timeout")
    assert first[2] != 1.0
    assert second == ("ok", "ok", 1.0)


def test_e23_another_database_is_named_when_runs_are_compared(
    evaluated: Eval, tmp_path: Path, database: Path
) -> None:
    gold = ["SELECT COUNT(*) FROM k", "SELECT 1"]
    assert evaluated(gold, ["SELECT 1"] * 2, out="before").returncode == 0
    with sqlite3.connect(database) as connection:
        connection.execute("INSERT INTO k VALUES (5)")
    connection.close()
    assert evaluated(gold, ["SELECT 1"] * 2, out="after").returncode == 0
    runs = [json.loads((tmp_path / name / "run.json").read_text()) for name in ("before", "after")]
    first, second = (run["inputs"]["databases"]["base"]["sha256"] for run in runs)
    assert first != second
    command = [sys.executable, "-m", "modularsql", "compare", "before", "after", "--format", "json"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert any("databases differ: base" in said for said in json.loads(ran.stdout)["warnings"])


@pytest.mark.parametrize(
    "answers",
    [
        {"0": "SELECT 1\t----- bird -----\tbase", "1": "SELECT 5\t----- bird -----\tbase"},
        ["SELECT 1\tbase", "SELECT 5\tbase"],
        [{"id": "q1", "sql": "SELECT 5"}, {"id": "q0", "sql": "SELECT 1"}],
    ],
)
def test_e24_keys_are_positions_or_ids_and_the_database_is_split_off(
    evaluated: Eval, tmp_path: Path, answers: Any
) -> None:
    assert evaluated(["SELECT 1", "SELECT 2"], answers).returncode == 0
    assert verdicts(tmp_path / "run") == [("ok", "ok", 1.0), ("ok", "ok", 0.0)]


@pytest.mark.parametrize("answers", [["SELECT 1"], ["SELECT 1"] * 3, {"0": "SELECT 1"}])
def test_e24_a_number_that_does_not_fit_is_refused(evaluated: Eval, answers: Any) -> None:
    done = evaluated(["SELECT 1", "SELECT 2"], answers)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert str(len(answers)) in done.stderr
    assert "2" in done.stderr
