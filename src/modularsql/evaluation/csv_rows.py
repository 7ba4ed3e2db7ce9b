"""Results as they are after a way through a CSV file, which is how Spider 2.0 compares them.

Its evaluator writes the prediction's result with pandas and reads it again, as it reads gold's: a
column is of whole numbers, of numbers, of truth values or of text; what is empty, or one of some
words, is NULL. The same is done here without pandas.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time
from itertools import islice
from pathlib import Path
from typing import Any

from modularsql.evaluation.gold import GoldFile
from modularsql.records import Failure, FailureKind
from modularsql.rows import Rows

_NULLS = frozenset(
    [
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"),
        *("1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    ]
)
"""What pandas reads as missing (`pandas.read_csv`, `na_values`)."""

_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_NUMBER = re.compile(
    r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII
)
_TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
_LARGEST = 2**64


def read_csv(path: Path, most: int) -> Rows | Failure:
    """The table of a file with a line of names, `most` rows of it; a failure where it has none."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = (line for line in csv.reader(file) if line)  # pandas skips blank lines
            names = next(lines, None)
            if names is None:
                return _broken(f"{path} is empty")
            found = list(islice(lines, most + 1))
    except (OSError, ValueError, csv.Error) as error:
        return _broken(f"cannot read {path}: {getattr(error, 'strerror', None) or error}")
    if any(len(line) > len(names) for line in found):
        return _broken(f"{path} has a line with more than {len(names):,} cells")
    cells = [[*line, *[""] * (len(names) - len(line))] for line in found[:most]]
    return _typed(names, cells, truncated=len(found) > most)


def read_gold(gold: GoldFile, most: int) -> Rows | Failure:
    """A published result, `most` rows of it; a failure where it cannot be read."""
    found = read_csv(Path(gold.path), most)
    if isinstance(found, Rows) and any(at >= len(found.columns) for at in gold.columns):
        wide = f"{gold.path} has {len(found.columns):,} columns"
        return _broken(f"{wide}, condition_cols names number {max(gold.columns):,} (0-based)")
    return found


def as_csv(rows: Rows) -> Rows:
    """A result after that way."""
    cells = [[_written(cell) for cell in row] for row in rows.rows]
    return _typed(rows.columns, cells, truncated=rows.truncated)


def _broken(message: str) -> Failure:
    return Failure(kind=FailureKind.ERROR, message=message)


def _typed(names: Sequence[str], cells: Sequence[Sequence[str]], *, truncated: bool) -> Rows:
    columns = [list(_column(column)) for column in zip(*cells, strict=True)]
    return Rows(
        columns=tuple(names),
        types=(None,) * len(names),
        rows=list(zip(*columns, strict=True)),
        truncated=truncated,
    )


def _column(cells: Sequence[str]) -> Iterator[Any]:
    there = [cell for cell in cells if cell not in _NULLS]
    if all(_WHOLE.fullmatch(cell) for cell in there):
        fit = all(-_LARGEST // 2 <= int(cell) < _LARGEST for cell in there)
        return _each(cells, int if fit else float)
    if all(_NUMBER.fullmatch(cell) for cell in there):
        return _each(cells, float)
    if all(cell in _TRUTH for cell in there):
        return _each(cells, _TRUTH.__getitem__)
    return _each(cells, str)


def _each(cells: Iterable[str], read: Any) -> Iterator[Any]:
    return (None if cell in _NULLS else read(cell) for cell in cells)


def _written(cell: Any) -> str:
    """One value as pandas writes it."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return "" if cell != cell else repr(cell)
    if isinstance(cell, datetime) and cell.time() == time(0):
        return cell.date().isoformat()
    return str(cell)
