"""Pipes, full disks, Ctrl-C: the streams and signals of a real process."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

needs_posix = pytest.mark.skipif(os.name != "posix", reason="POSIX shell and signals")
pytestmark = needs_posix

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
COPIES = "SELECT c.name FROM customer c JOIN orders o ON o.customer = c.id"
MANY = "SELECT a.id FROM orders a, orders b, orders c, orders d"


def shell(script: str, *words: object, **environ: str) -> "subprocess.CompletedProcess[str]":
    """A bash script in which `m` is the command; `$1` and so on are the words."""
    given = f'set -o pipefail; m() {{ "{sys.executable}" -m modularsql "$@"; }}; {script}'
    command = ["bash", "-c", given, "bash", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environ}
    )


def test_a_reader_that_has_enough_is_no_error(shop: Path) -> None:
    for command, status in (
        ('m guard "$1" "$2" --format json | head -c 20', 1),
        ('m guard "$1" "$2" | head -n 1', 1),
        ('m guard "$1" "$2" --fail-on never --format json | true', 0),
        ("m demo | head -n 1", 0),
        ('cd "$(dirname "$1")" && m demo --copy . 2>&1 | head -n 1', 0),
    ):
        ran = shell(command, shop, MANY)
        assert (ran.stderr, ran.returncode) == ("", status), command


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_results_that_cannot_be_written_are_an_error_of_one_line(shop: Path) -> None:
    said = "modularsql: cannot write the results: No space left on device"
    for command in ('m guard "$1" "SELECT 1" --format json', "m demo", "m --help"):
        ran = shell(f"{command} > /dev/full", shop)
        assert ran.stderr.startswith(said), command
        assert (ran.stderr.count("\n"), ran.returncode) == (1, 2)
    assert shell('m guard none "SELECT 1" 2> /dev/full').returncode == 2


def test_closed_streams_change_no_status(shop: Path) -> None:
    assert shell('m guard "$1" "$2" >&-', shop, COPIES).returncode == 1
    assert shell('m guard "$1" "$2" --format json >&-', shop, "SELECT 1").returncode == 0
    ran = shell('m guard "$1" - <&-', shop)
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "standard input is closed" in ran.stderr


def test_characters_that_the_output_cannot_hold_are_escaped(shop: Path) -> None:
    sql = "SELECT '日é' AS v"
    ran = shell('m guard "$1" "$2"', shop, sql, PYTHONIOENCODING="ascii")
    assert ran.stdout.startswith("PASS  nothing found\n\nv\n--")
    assert "\\u65e5\\xe9\n" in ran.stdout
    ran = shell('m guard "$1" "$2" --format json', shop, sql, PYTHONIOENCODING="latin-1")
    assert json.loads(ran.stdout)["rows"] == [["日é"]]


def test_results_go_to_standard_output_and_errors_to_standard_error(
    really: Run, shop: Path
) -> None:
    ran = really("guard", shop, COPIES, "--fix", "--format", "json")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["rows"] == [["Ann"], ["Bob"]]
    ran = really("guard", "none.sqlite", "SELECT 1")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("modularsql: ")
    assert "none.sqlite" in ran.stderr


def test_a_call_that_never_looks_at_the_clock_is_ended_all_the_same(
    really: Run, tmp_path: Path, shop: Path
) -> None:
    hang = "SELECT instr(hex(zeroblob(2000000)), hex(zeroblob(999999)) || 'x')"
    start = time.monotonic()
    ran = really("guard", shop, hang, "--timeout", "0.5", "--format", "json")
    assert time.monotonic() - start < 15
    printed = json.loads(ran.stdout)
    assert (ran.returncode, printed["probe"]["status"]) == (1, "timeout")


def started(shop: Path, *options: str) -> "subprocess.Popen[str]":
    """A command in a session of its own that has begun a query without an end."""
    environ = {**os.environ, "TMPDIR": str(shop.parent)}
    process = subprocess.Popen(
        [sys.executable, "-m", "modularsql", "guard", str(shop), ENDLESS, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environ,
    )
    deadline = time.monotonic() + 20
    while not list(shop.parent.glob("modularsql-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(1)
    return process


def alive(session: int) -> list[str]:
    """The processes of a session that still run."""
    listed = subprocess.run(
        ["ps", "-o", "stat=,args=", "-s", str(session)], capture_output=True, text=True, check=False
    )
    return [line for line in listed.stdout.splitlines() if not line.startswith("Z")]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)]
)
def test_a_signal_ends_the_command_its_worker_and_its_files(
    shop: Path, number: signal.Signals, status: int
) -> None:
    process = started(shop)
    assert alive(process.pid)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does at Ctrl-C
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (status, "")
    assert err.strip() == ("modularsql: stopped" if number == signal.SIGINT else "")
    deadline = time.monotonic() + 5
    while alive(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert alive(process.pid) == []
    assert list(shop.parent.iterdir()) == [shop]


def test_temporary_files_are_gone_after_a_command(shop: Path) -> None:
    ran = shell('m guard "$1" "SELECT 1"', shop, TMPDIR=str(shop.parent))
    assert ran.returncode == 0
    assert list(shop.parent.iterdir()) == [shop]
