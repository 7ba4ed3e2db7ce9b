"""Speed of `eval` on Spider dev with all metrics and two workers, printed as Markdown.

    python -m benchmarks.eval > docs/eval-speed.md

Times are of whole processes, start included: wall time, and the CPU time of parent and workers
together, which other work on the machine disturbs less.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.corpus import SPIDER, require, spider_systems
from modularsql.cores import cores

TURNS = 9
AS_INSTALLED = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
"""A package that pip installed has its byte code: the first turn makes that of the checkout."""
_BE_PARENT_OF_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of Linux: without it nobody counts the time of a fork server's workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Wall and CPU seconds of one run."""

    wall: float
    cpu: float


def run(systems: Sequence[Path], *options: str) -> Spent:
    """One run into a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "modularsql", "eval", str(SPIDER / "dev.json")]
        for path in systems:
            command += ["--pred", str(path)]
        command += ["--db-root", str(SPIDER / "database"), "--out", folder, "--jobs", "2"]
        before, start = os.times(), time.perf_counter()
        subprocess.run([*command, *options], check=True, capture_output=True, env=AS_INSTALLED)
        wall = time.perf_counter() - start
        wait_for_orphans()
        after = os.times()
    user = after.children_user - before.children_user
    return Spent(wall=wall, cpu=user + after.children_system - before.children_system)


def wait_for_orphans() -> None:
    """Until the last process that a command started has ended, a moment after the command."""
    with suppress(ChildProcessError):
        while True:
            os.wait()


def main() -> None:
    """One system and all of them, all metrics and one."""
    require()
    ctypes.CDLL(None).prctl(_BE_PARENT_OF_ORPHANS, 1, 0, 0, 0)
    systems = spider_systems()
    few = ("one system, Set-EX and Multiset-EX", systems[:1], ("--metrics", "set_ex"))
    one = ("one system, all metrics", systems[:1], ())
    runs = (few, one, (f"{len(systems)} systems, all metrics", systems, ()))
    turns = [[run(given, *options) for _, given, options in runs] for _ in range(TURNS)]
    print("# Speed of `eval`\n")
    print(f"Written by `python -m benchmarks.eval`; Spider dev, `--jobs 2`, {TURNS} turns in which")
    print(f"each is run once, with {cores()} cores (others may use them: only ratios say")
    print("much; these are within a turn).\n")
    print("| run | wall s, best | median | CPU s, best | wall, against one system | CPU |")
    print("|---" * 6 + "|")
    for (name, *_), spent in zip(runs, zip(*turns, strict=True), strict=True):
        walls, cpus = [s.wall for s in spent], [s.cpu for s in spent]
        wall = median(s.wall / turn[1].wall for s, turn in zip(spent, turns, strict=True))
        cpu = median(s.cpu / turn[1].cpu for s, turn in zip(spent, turns, strict=True))
        print(
            f"| {name} | {min(walls):.2f} | {median(walls):.2f} | {min(cpus):.2f} "
            f"| {wall:.2f}x | {cpu:.2f}x |"
        )


if __name__ == "__main__":
    main()
