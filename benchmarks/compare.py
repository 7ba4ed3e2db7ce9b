"""Two results of five million rows, compared as multisets: time and peak memory, as Markdown.

    python -m benchmarks.compare [ROWS]

Each way runs in a process of its own on the same SQLite file, twice, in turns; the less of both CPU
times counts, start included, and of a process that it starts as well. What matters are the ratios
to fetching both results and comparing two Counters.
"""

import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from modularsql.engines.sqlite import SqliteEngine
from modularsql.records import Limits
from modularsql.rows.streams import same_bag

MAKE = """
CREATE TABLE sale AS
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {rows})
SELECT x AS id, 'customer ' || (x * 7919 % 1000003) AS name, (x * 31 % 100000) / 100.0 AS amount
FROM n
"""
GOLD = "SELECT id, name, amount FROM sale"
PREDICTIONS = {
    "the same rows, backwards": "SELECT id, name, amount FROM sale ORDER BY rowid DESC",
    "one amount differs by a cent": (
        "SELECT id, name, CASE WHEN id = 77 THEN amount + 0.01 ELSE amount END FROM sale"
    ),
}


def by_counter(file: str, pred: str) -> bool:
    """The usual way."""
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    gold = Counter(connection.execute(GOLD).fetchall())
    return gold == Counter(connection.execute(pred).fetchall())


def by_streams(file: str, pred: str) -> bool:
    """Ours, as `eval` decides results beyond its row cap: by an engine with its guards."""
    with closing(SqliteEngine(Path(file))) as engine:
        found = engine.fold(same_bag, GOLD, pred, limits=Limits(seconds=3600.0))
        assert isinstance(found, bool)
        return found


WAYS = {"counter": by_counter, "streams": by_streams}


def run(way: str, file: str, pred: str) -> str:
    """One comparison: its answer, CPU seconds and peak memory in MB, as JSON."""
    equal = WAYS[way](file, pred)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in used)
    peak = sum(one.ru_maxrss for one in used) / 1024
    return json.dumps({"equal": equal, "seconds": seconds, "mb": peak})


def main() -> None:
    """The table."""
    if len(sys.argv) > 2:
        print(run(*sys.argv[1:]))
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    print(
        f"# Comparing two results of {rows:,} rows\n\n"
        "Written by `python -m benchmarks.compare > docs/comparison.md`; CPU seconds.\n"
    )
    print("| prediction | way | equal | CPU s | peak MB | time | memory |\n|" + "---|" * 7)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "sales.sqlite")
        with sqlite3.connect(file) as connection:
            connection.execute(MAKE.format(rows=rows))
        for title, pred in PREDICTIONS.items():
            turns = [measured(way, file, pred) for way in (*WAYS, *WAYS)]
            best = [min(turns[at :: len(WAYS)], key=lambda s: s["seconds"]) for at in (0, 1)]
            for way, seen in zip(WAYS, best, strict=True):
                ratios = [f"{seen[of] / best[0][of]:.2f}x" for of in ("seconds", "mb")]
                figures = [str(seen["equal"]), f"{seen['seconds']:.1f}", f"{seen['mb']:.0f}"]
                print("| " + " | ".join([title, way, *figures, *ratios]) + " |", flush=True)


def measured(way: str, file: str, pred: str) -> dict[str, Any]:
    """One comparison in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.compare", way, file, pred]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(printed))


if __name__ == "__main__":
    main()
