"""The files of a run of `eval`: its log as records, and the tables made from them.

run.json          what was run: versions, settings, a hash of every input
log.jsonl         one line for each scored pair, as they come in
verdicts.parquet  one row for each system and question
results.parquet   the first rows of both sides where they differ
guard.parquet     what the guard made of predictions, where it was asked for
summary.json      the scores
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from modularsql.errors import InputError, SetupError
from modularsql.evaluation.log import Record, read_log
from modularsql.evaluation.run import Run
from modularsql.evaluation.tables import (
    GUARD_COLUMNS,
    RESULT_COLUMNS,
    from_tables,
    guard_rows,
    result_rows,
    verdict_columns,
    verdict_rows,
)
from modularsql.service.run_folder import RECORD, broken, read_json, read_lines, write_json

VERDICTS, RESULTS, GUARD, SUMMARY = (
    "verdicts.parquet",
    "results.parquet",
    "guard.parquet",
    "summary.json",
)


def read_records(folder: Path) -> dict[int, Record]:
    """What the log of a run holds. Raises `InputError`."""
    try:
        return read_log(read_lines(folder))
    except ValueError as error:
        raise broken(folder, error) from None


def prepare() -> None:
    """Make what `write_run` needs: a driver that takes longer to import than many a run."""
    import modularsql.engines.versions  # noqa: F401
    from modularsql.engines.parquet import in_memory

    in_memory()


def write_run(folder: Path, run: Run, summary: Mapping[str, Any]) -> None:
    """All tables of a finished run. Raises `SetupError` where they cannot be written."""
    from modularsql.engines.parquet import write_parquet
    from modularsql.engines.versions import versions

    try:
        write_parquet(folder / VERDICTS, verdict_columns(run.metrics), verdict_rows(run))
        write_parquet(folder / RESULTS, RESULT_COLUMNS, result_rows(run))
        if run.about["inputs"]["guard"]:
            write_parquet(folder / GUARD, GUARD_COLUMNS, guard_rows(run))
    except OSError as error:
        raise SetupError(
            f"cannot write the tables in {folder}: {error.strerror or error}",
            "make room and run the same command: no query is run again",
            "output",
        ) from error
    write_json(folder / SUMMARY, summary)
    write_json(folder / RECORD, {**run.about, "versions": versions()})


def load_run(folder: Path) -> Run:
    """A finished run from its tables. Raises `InputError` where there is none."""
    from modularsql.engines.parquet import read_parquet

    if not (folder / VERDICTS).is_file():
        begun = (folder / RECORD).is_file()
        hint = (
            "give eval's command again: it goes on" if begun else "give a folder that eval filled"
        )
        raise InputError(f"{folder} holds no finished run", hint)
    guard = read_parquet(folder / GUARD) if (folder / GUARD).is_file() else []
    return from_tables(
        read_json(folder / RECORD),
        read_parquet(folder / VERDICTS),
        read_parquet(folder / RESULTS),
        guard,
    )
