"""Speed and memory of the guard, as ratios within one run, printed as Markdown.

    python -m benchmarks.guard

Machines differ and are shared: only the ratios mean something.
"""

import json
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import sqlglot

from benchmarks.corpus import SPIDER, pairs, require, spider_dev
from modularsql import Guard, Settings, connect
from modularsql.catalog import Catalog
from modularsql.cores import cores
from modularsql.evaluation.datasets import database_file, read_dataset
from modularsql.guard.counting import Counts
from modularsql.guard.grain import static
from modularsql.guard.session import Session
from modularsql.records import Limits
from modularsql.rows import Rows, dup_ratio
from modularsql.service.repairing import RepairRequest, repair
from modularsql.sql.statement import Statement, read_statement

Line = tuple[str, str, str]
"""What, measured, allowed."""

_TURNS = 7


def best(run: Callable[[], Any], times: int = 7) -> float:
    """The fastest of several runs, in seconds."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        spent.append(time.perf_counter() - start)
    return min(spent)


def probe_lines(folder: Path) -> list[Line]:
    """The probe on rows at hand, against the one-line formula."""
    path = folder / "small.sqlite"
    sqlite3.connect(path).execute("CREATE TABLE t(a)")
    engine = connect(path)
    lines = []
    for size in (1_000, 100_000):
        rows = [(i % (size // 3), f"name {i % (size // 3)}", i % 7 / 2) for i in range(size)]
        result = Rows(columns=("a", "b", "c"), types=(None,) * 3, rows=rows, plain=True)
        session = Session(engine=engine, params=None, limits=Limits())

        def ours(result: Rows = result, session: Session = session) -> float:
            counts = session.counts("", result)
            assert isinstance(counts, Counts)
            return dup_ratio(counts.rows, counts.distinct)

        def plain(rows: list[Any] = rows) -> float:
            return 1 - len(set(rows)) / len(rows)

        assert abs(ours() - plain()) < 1e-12
        ratio = best(ours, 30) / best(plain, 30)
        lines.append((f"probe on {size:,} rows at hand / plain set", f"{ratio:.2f}x", "1.3x"))
    return lines


def _five_million(path: Path) -> str:
    """Guard a query with five million rows; prints the peak memory of this process in MB."""
    # Counting them may take as long as it takes: it is the memory that is measured.
    settings = Settings(timeout=600, probe_seconds=600)
    with Guard(connect(path, settings), settings=settings) as guard:
        answer = guard.run("SELECT a.x, b.y, a.name FROM a, b")
    assert answer.probe is not None, answer
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return json.dumps({"rows": answer.probe.rows, "ratio": answer.probe.dup_ratio, "mb": peak})


def memory_lines(folder: Path) -> list[Line]:
    """Peak memory of a process that guards a result of five million rows."""
    script = (
        "CREATE TABLE a AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n "
        "WHERE x < 5000) SELECT x, 'customer number ' || x AS name FROM n;"
        "CREATE TABLE b AS WITH RECURSIVE n(y) AS (SELECT 1 UNION ALL SELECT y + 1 FROM n "
        "WHERE y < 1000) SELECT y FROM n;"
    )
    sqlite_file, duckdb_file = folder / "big.sqlite", folder / "big.duckdb"
    sqlite3.connect(sqlite_file).executescript(script)
    duckdb.connect(str(duckdb_file)).execute(script).close()
    lines = []
    for path in (sqlite_file, duckdb_file):
        command = [sys.executable, "-m", "benchmarks.guard", "--five-million", str(path)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seen = json.loads(printed)
        assert seen["rows"] == 5_000_000, seen
        what = f"peak memory, 5,000,000 rows from {path.suffix[1:]}"
        lines.append((what, f"{seen['mb']:.0f} MB", "300 MB"))
    return lines


def repair_lines(folder: Path) -> list[Line]:
    """`repair` over Spider dev with one worker against running once and parsing twice.

    In turns, so that whatever else the machine does falls on both; the medians.
    """
    require()
    predictions = SPIDER / "predictions_dev" / "dail-sql-gpt4.txt"
    todo = sorted(
        (path, sql) for _, path, _, sql in pairs(spider_dev(), predictions, SPIDER / "database")
    )
    queries = [sql for _, sql in todo]
    turns = []
    for _ in range(_TURNS):
        plain = best(lambda: _execute_once(todo), 1)
        parsing = best(lambda: _parse_once(queries * 2), 1)
        turns.append((plain, parsing / 2, _repair_seconds(predictions, folder)))
    ratios = [spent / (plain + 2 * parsing) for plain, parsing, spent in turns]
    what = f"repair of {len(todo):,} Spider dev queries / (run once + 2 parses)"
    plain, parsing, spent = (statistics.median(one) for one in zip(*turns, strict=True))
    return [
        (what, f"{statistics.median(ratios):.2f}x", "1.0x"),
        ("(run once : parse once : repair)", f"{plain:.2f} : {parsing:.2f} : {spent:.2f} s", ""),
        (f"(of them different queries; {_TURNS} turns)", f"{len(set(todo)):,}", ""),
    ]


def _execute_once(todo: list[tuple[Path, str]]) -> None:
    connections: dict[Path, sqlite3.Connection] = {}
    for path, sql in todo:
        if path not in connections:
            connections[path] = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            connections[path].text_factory = lambda raw: raw.decode(errors="replace")
        try:
            connections[path].execute(sql).fetchall()
        except sqlite3.Error:
            continue


def _parse_once(queries: list[str]) -> None:
    for sql in queries:
        try:
            sqlglot.parse_one(sql, dialect="sqlite")
        except sqlglot.errors.SqlglotError:
            continue


def _repair_seconds(predictions: Path, folder: Path) -> float:
    """From the first question that is done to the last: the start of the worker is left out."""
    moments: list[float] = []
    request = RepairRequest(
        dataset=str(SPIDER / "dev.json"),
        predictions=predictions,
        db_root=SPIDER / "database",
        out=folder / "repaired.txt",
        settings=replace(Settings(), jobs=1, policy="paper"),
        progress=lambda _done, _total: moments.append(time.perf_counter()),
    )
    missing = repair(request).by_status["no_database"]
    return moments[-1] - moments[missing]


def analysis_lines() -> list[Line]:
    """Inference and all rules on Spider's training gold, against the parser alone."""
    parsed, spent = [], []
    catalogs: dict[Path, Catalog] = {}
    for question in read_dataset(str(SPIDER / "train_gold.sql")).questions:
        path = database_file(SPIDER / "database", question.db)
        if path is None or question.gold is None:
            continue
        if path not in catalogs:
            catalogs[path] = connect(path).catalog()
        start = time.perf_counter()
        statement = read_statement(question.gold, "sqlite", 100_000)
        middle = time.perf_counter()
        if isinstance(statement, Statement):
            static(statement, catalogs[path])
            parsed.append(middle - start)
            spent.append(time.perf_counter() - middle)
    ratio = statistics.median(a / b for a, b in zip(spent, parsed, strict=True))
    p99 = statistics.quantiles(spent, n=100)[98] * 1000
    what = f"analysis of {len(spent):,} Spider train queries / reading them, median"
    return [(what, f"{ratio:.2f}x", "4x"), ("analysis, p99", f"{p99:.1f} ms", "20 ms")]


def start_lines() -> list[Line]:
    """Time of `modularsql --help`, a fresh process."""
    command = [sys.executable, "-m", "modularsql", "--help"]
    spent = best(lambda: subprocess.run(command, check=True, capture_output=True), 5)
    empty = best(lambda: subprocess.run([sys.executable, "-c", ""], check=True), 5)
    return [("modularsql --help", f"{spent:.2f} s ({spent / empty:.1f}x bare Python)", "0.5 s")]


def main() -> None:
    """All measurements."""
    if "--five-million" in sys.argv:
        print(_five_million(Path(sys.argv[-1])))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [
            *start_lines(),
            *probe_lines(folder),
            *memory_lines(folder),
            *repair_lines(folder),
            *analysis_lines(),
        ]
    print(
        "# Speed and memory\n\nWritten by `python -m benchmarks.guard > docs/benchmarks.md`. Only"
    )
    print("ratios within one run mean something: machines differ and are shared.\n")
    print("| measured | here | wanted |\n|---|---|---|")
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print(f"\nPython {sys.version.split()[0]}, sqlglot {version('sqlglot')}, {cores()} cores")


if __name__ == "__main__":
    main()
