"""Guard of a fan-out aggregate on a large table: against the query's own time, and in memory.

    python -m benchmarks.at_size [--duckdb 50_000_000] [--postgres 10_000_000]

makes the tables (a tenth as many orders as lines), runs the query alone and under guard in
processes of their own, and prints docs/at-size.md. PostgreSQL is that of `tests/servers.py`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
from tests.servers import POSTGRES_SERVER, run_postgres

QUERY = "SELECT SUM(o.total) FROM orders o JOIN lines l ON l.order_id = o.id"
MAKE = (
    "CREATE TABLE orders(id INTEGER PRIMARY KEY, total NUMERIC(10, 2))",
    "CREATE TABLE lines(id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, amount NUMERIC(10, 2))",
    "INSERT INTO orders SELECT i, i % 100 FROM generate_series(1, {orders}) AS g(i)",
    "INSERT INTO lines SELECT i, 1 + i % {orders}, 1 FROM generate_series(1, {lines}) AS g(i)",
    "ANALYZE",
)
HEAD = f"""# Large tables

Written by `python -m benchmarks.at_size > docs/at-size.md`, with all settings as they are but
for the time limit. The query is guarded five times, each between two runs of it alone; the median
ratio counts:

```sql
{QUERY}
```

Looking closer may take 0.9 of what the query did (`probe_times`), so that the guard with all else
takes at most twice its time. A repair that may take more than is left is only suggested (here it
needs about as long as the query); under `--fix` it is no probe but the answer, and is run to its
end. Only ratios within one run mean something.

| table | query alone | under guard | ratio | peak of our process | found | repair |
|---|---|---|---|---|---|---|"""
RUN = """
import json, sys, time
from modularsql import Guard, Settings, connect
settings = Settings(timeout=600)
engine = connect(sys.argv[1], settings)
guard = Guard(engine, "grain", settings)

def timed(run):
    start = time.monotonic()
    return run(), time.monotonic() - start

def alone():
    return timed(lambda: engine.execute(sys.argv[2], limits=settings.limits()))[1]

alone()  # what it reads is then in the system's cache, as for the others
turns = []
before = alone()
for _ in range(5):
    answer, took = timed(lambda: guard.run(sys.argv[2]))
    after = alone()
    turns.append((took / ((before + after) / 2), took, (before + after) / 2))
    before = after
ratio, took, query = sorted(turns)[2]
lines = open("/proc/self/status").read().splitlines()
peak = next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))
found = [f"{f.rule}, factor {f.measured['factor']}, ±{f.measured['sample']['error']:.1%}"
         if "sample" in f.measured else f.rule for f in answer.findings]
repairs = [f"{r.name}, {r.safety}" for f in answer.findings for r in f.repairs]
print(json.dumps([query, took, peak, "; ".join(found), "; ".join(repairs)]))
"""


Found = tuple[float, float, int, str, str]
"""Seconds of the query and of the guard, megabytes of the process, findings, repairs."""


def measured(target: str) -> Found:
    """What a process of its own measures; of the turn with the median ratio."""
    ran = subprocess.run(
        [sys.executable, "-c", RUN, target, QUERY], capture_output=True, text=True, check=True
    )
    alone, took, peak, found, repairs = json.loads(ran.stdout)
    return alone, took, peak, found, repairs


def statements(lines: int) -> list[str]:
    """What makes the tables."""
    return [statement.format(lines=lines, orders=lines // 10) for statement in MAKE]


def main() -> None:
    """Make, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duckdb", type=int, default=50_000_000, help="lines, 0 = not")
    parser.add_argument("--postgres", type=int, default=10_000_000, help="lines, 0 = not")
    given = parser.parse_args()
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        if given.duckdb:
            path = Path(folder) / "large.duckdb"
            with duckdb.connect(str(path)) as connection:
                for statement in statements(given.duckdb):
                    connection.execute(statement)
            show("DuckDB", given.duckdb, measured(str(path)))
        if given.postgres:
            try:
                target = POSTGRES_SERVER.target(Path(folder) / "large.db")
                run_postgres(target, statements(given.postgres))
                show("PostgreSQL", given.postgres, measured(target))
            finally:
                POSTGRES_SERVER.close()


def show(name: str, lines: int, measures: Found) -> None:
    """One line of the table."""
    alone, took, peak, found, repairs = measures
    print(
        f"| {name}, {lines:,} lines | {alone:.2f} s | {took:.2f} s | {took / alone:.2f}x "
        f"| {peak} MB | {found} | {repairs} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
