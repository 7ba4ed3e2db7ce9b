"""Five million rows are read and counted in less than 300 MB."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROWS = 5_000_000
FILL = (
    "CREATE TABLE t(k INTEGER, s VARCHAR(20))",
    "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) "
    "SELECT a.i * 1000 + b.i, 'name ' || ((a.i * 7 + b.i * 1000 + c.i) % 500000) "
    f"FROM n AS a, n AS b, n AS c WHERE c.i < {ROWS // 1_000_000}",
)
QUERIES = {
    "all rows": "SELECT k, s FROM t",
    "sorted rows": "SELECT k, s FROM t ORDER BY s, k",
    "counted rows": "WITH q(c1, c2) AS (SELECT k, s FROM t) SELECT COALESCE(SUM(n), 0), COUNT(*) "
    "FROM (SELECT COUNT(*) AS n FROM q GROUP BY c1, c2) AS g",
}
ASK = """
import sys
from modularsql.config import Settings
from modularsql.engines.connect import connect
engine = connect(sys.argv[1])
outcome = engine.execute(sys.argv[2], limits=Settings(timeout=100).limits())
peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]
print(len(outcome.rows), outcome.rows[0][0], int(peak) // 1024)
"""


@pytest.fixture(scope="module")
def large(near: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.db"
    near.build(path, FILL)
    return path


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads memory in /proc")
@pytest.mark.parametrize("name", QUERIES)
def test_five_million_rows_take_less_than_300_megabytes(near: Any, large: Path, name: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ASK, str(near.target(large)), QUERIES[name]],
        capture_output=True,
        text=True,
        timeout=110,
        check=True,
    )
    rows, first, megabytes = map(int, ran.stdout.split())
    assert rows == 1 if name == "counted rows" else rows == 100_000
    assert first == ROWS if name == "counted rows" else first >= 0
    assert megabytes < 300
