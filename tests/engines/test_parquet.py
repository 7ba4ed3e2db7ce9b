"""Tables as Parquet files: what is written is read again, however much is encoded at once."""

import json
from pathlib import Path

import pytest

from modularsql.engines import parquet
from modularsql.engines.parquet import read_parquet, write_parquet

COLUMNS = {"id": "VARCHAR", 'odd "name"': "DOUBLE", "tags": "VARCHAR[]", "more": "JSON"}
ROWS = [
    ("a", 1.5, ["x", "y"], {"k": [1, None]}),
    ("", None, [], None),
    ("é\n\"'\\", -0.0, None, "text"),
    (None, 1e300, ["", "ü"], 7),
]


@pytest.mark.parametrize("rows", [[], ROWS[:1], ROWS, ROWS * 400])
@pytest.mark.parametrize("longest", [2**28, 4_000])
def test_a_table_is_read_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[tuple[object, ...]], longest: int
) -> None:
    """Also where rows are so long that fewer of them make a line."""
    monkeypatch.setattr(parquet, "_LONGEST", longest)
    write_parquet(tmp_path / "t.parquet", COLUMNS, rows)
    read = [tuple(row.values()) for row in read_parquet(tmp_path / "t.parquet")]
    assert [(*cells, more and json.loads(more)) for *cells, more in read] == rows
    assert [p.name for p in tmp_path.iterdir()] == ["t.parquet"]
