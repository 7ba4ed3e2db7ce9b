"""Speed of `eval` on Spider dev with all metrics and two workers, printed as Markdown.

    python -m benchmarks.eval > docs/eval-speed.md

Times are of whole processes, start included: wall time, and the CPU time of parent and workers
together, which other work on the machine disturbs less. The best of some runs.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.corpus import SPIDER, require, spider_systems

TIMES = 5
_BE_PARENT_OF_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of Linux: without it nobody counts the time of a fork server's workers."""


def best(systems: Sequence[Path], *options: str) -> tuple[float, float]:
    """Wall and CPU seconds of the fastest of some runs into new folders."""
    runs = []
    for _ in range(TIMES):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "modularsql", "eval", str(SPIDER / "dev.json")]
            for path in systems:
                command += ["--pred", str(path)]
            command += ["--db-root", str(SPIDER / "database"), "--out", folder, "--jobs", "2"]
            before, start = os.times(), time.perf_counter()
            subprocess.run([*command, *options], check=True, capture_output=True)
            wall = time.perf_counter() - start
            wait_for_orphans()
            after = os.times()
        spent = [after.children_user - before.children_user]
        spent.append(after.children_system - before.children_system)
        runs.append((wall, sum(spent)))
    return min(wall for wall, _ in runs), min(cpu for _, cpu in runs)


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
    one, all_ = best(systems[:1]), best(systems)
    bare = best(systems[:1], "--metrics", "set_ex")
    print("# Speed of `eval`\n")
    print(f"Written by `python -m benchmarks.eval`; best of {TIMES}, Spider dev, `--jobs 2`, with")
    print(f"{os.cpu_count()} cores (others may use them: then only ratios of CPU time say much).\n")
    print("| run | wall s | CPU s | CPU, against one system |\n|---|---|---|---|")
    for name, (wall, cpu) in (
        ("one system, Set-EX and Multiset-EX", bare),
        ("one system, all metrics", one),
        (f"{len(systems)} systems, all metrics", all_),
    ):
        print(f"| {name} | {wall:.2f} | {cpu:.2f} | {cpu / one[1]:.2f} |")


if __name__ == "__main__":
    main()
