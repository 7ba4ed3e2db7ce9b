"""`eval` of Spider dev on a cluster of two workers against the same on this machine: are all
verdicts the same, also when a worker is killed in the middle? Printed as Markdown.

    python -m benchmarks.spread
"""

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.corpus import SPIDER, require, spider_systems
from modularsql.config import Settings
from modularsql.service.evaluating import EvalRequest, evaluate

TIMES = ("gold_ms", "pred_ms")
"""Columns of a verdict that no two runs have the same."""


def run(out: Path, **settings: Any) -> tuple[list[tuple[Any, ...]], float]:
    """The verdicts of a run but for their times, and how many seconds it took."""
    start = time.perf_counter()
    evaluate(
        EvalRequest(
            dataset=str(SPIDER / "dev.json"),
            predictions=spider_systems(),
            db_root=SPIDER / "database",
            out=out,
            settings=Settings(**settings),
        )
    )
    seconds = time.perf_counter() - start
    columns = ", ".join(TIMES)
    query = f"SELECT * EXCLUDE ({columns}) FROM '{out / 'verdicts.parquet'}' ORDER BY ALL"
    return duckdb.execute(query).fetchall(), seconds


def kill_a_worker(client: Any) -> None:
    """End one worker's process as a machine that fails would."""
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def main() -> None:
    """Here, on a cluster, and on a cluster that loses a worker."""
    require()
    try:
        from distributed import Client, LocalCluster
    except ModuleNotFoundError:
        sys.exit("a cluster needs distributed: pip install 'modularsql[dask]'")
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster.scheduler_address, set_as_default=False) as client,
    ):
        here, alone = run(Path(folder, "here"), jobs=2)
        there, spread = run(Path(folder, "there"), cluster=cluster.scheduler_address)
        killer = threading.Timer(spread / 3, kill_a_worker, [client])
        killer.start()
        again, hurt = run(Path(folder, "again"), cluster=cluster.scheduler_address)
        killer.join()
    print("| where | verdicts | different | s |\n|---|---|---|---|")
    for name, found, seconds in (
        ("two processes here", here, alone),
        ("two workers of a cluster", there, spread),
        ("the same, one of them killed in the middle", again, hurt),
    ):
        different = sum(a != b for a, b in zip(here, found, strict=True))
        print(f"| {name} | {len(found):,} | {different:,} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
