"""Tables of results as Parquet files, written and read by DuckDB."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb

from modularsql.errors import InputError

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_AT_ONCE = 500
"""Rows that are encoded at once."""
_LONGEST = 2**28
"""Bytes that DuckDB takes for one line of JSON."""


@cache
def in_memory() -> duckdb.DuckDBPyConnection:
    """The database without a file that reads and writes all tables of this process.

    Making one takes longer than it takes to write a table.
    """
    return duckdb.connect()


def write_parquet(path: Path, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes rows of JSON values under these columns (name: DuckDB type), in one step.

    A column of type JSON takes any JSON value. Raises `OSError` where it cannot be written.
    """
    lines = path.with_name(f".{path.name}.{os.getpid()}.jsonl")
    half = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with lines.open("w", encoding="utf-8") as file:
            stream = iter(rows)
            while some := list(islice(stream, _AT_ONCE)):
                file.writelines(_lines(tuple(columns), some))
        types = ", ".join(
            f"{_quoted(name)}: {_text(kind + '[]')}" for name, kind in columns.items()
        )
        source = f"read_json({_text(str(lines))}, format='newline_delimited', columns={{{types}}}"
        source += f", maximum_object_size={_LONGEST})"
        cells = ", ".join(f"unnest({_quoted(name)}) AS {_quoted(name)}" for name in columns)
        with in_memory().cursor() as connection:
            connection.execute(
                f"COPY (SELECT {cells} FROM {source}) TO {_text(str(half))} (FORMAT parquet)"
            )
        half.replace(path)
    except duckdb.Error as error:
        raise OSError(str(error).partition("\n")[0]) from error
    finally:
        for leftover in (lines, half):
            leftover.unlink(missing_ok=True)


def _lines(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Rows as lines of JSON: the name of each column with all its cells, named once."""
    line = _JSON.encode(dict(zip(columns, zip(*rows, strict=True), strict=True))) + "\n"
    if len(rows) > 1 and len(line) > _LONGEST // 4:  # characters, of up to four bytes
        half = len(rows) // 2
        yield from _lines(columns, rows[:half])
        yield from _lines(columns, rows[half:])
    else:
        yield line


def read_parquet(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file by column name, JSON columns as text. Raises `InputError`."""
    try:
        with in_memory().cursor() as connection:
            cursor = connection.execute(f"SELECT * FROM read_parquet({_text(str(path))})")
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"cannot read {path}: {reason}", "run eval again") from None


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
