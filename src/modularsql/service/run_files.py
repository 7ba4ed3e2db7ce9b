"""The folder of a run: its record, its append-only log, and the tables made from them.

run.json          what was run: versions, settings, a hash of every input
log.jsonl         one line for each scored pair, as they come in
verdicts.parquet  one row for each system and question
results.parquet   the first rows of both sides where they differ
guard.parquet     what the guard made of predictions, where it was asked for
summary.json      the scores
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from modularsql.errors import InputError, SetupError
from modularsql.evaluation.files import check_place, write_text
from modularsql.evaluation.log import Record, read_log, to_line
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
from modularsql.json_values import plain

RECORD, LOG, LOCK = "run.json", "log.jsonl", ".lock"
VERDICTS, RESULTS, GUARD, SUMMARY = (
    "verdicts.parquet",
    "results.parquet",
    "guard.parquet",
    "summary.json",
)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Makes the folder, and keeps other runs out of it. Raises `InputError`."""
    check_place(folder, folder=True)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            _lock(descriptor)
        except OSError:
            raise InputError(
                f"another eval is running in {folder}", "wait for it, or name another --out"
            ) from None
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Until the descriptor is closed, however this process ends."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def begin(folder: Path, about: Mapping[str, Any]) -> tuple[dict[str, Any], dict[int, Record]]:
    """The run record of a folder, and what of the run is done already.

    Raises `InputError` where the folder holds a run over other inputs.
    """
    path, log = folder / RECORD, folder / LOG
    if not path.exists():
        if log.exists():
            raise InputError(f"{folder} holds a log without its {RECORD}", "name another --out")
        write_json(path, about)
        return dict(about), {}
    found = read_json(path)
    other = _differences(found.get("inputs", {}), about["inputs"])
    if other:
        raise InputError(
            f"{folder} holds a run over other inputs: {', '.join(other)}",
            "name another --out, or remove that folder",
        )
    return found, read_records(log)


def read_records(log: Path) -> dict[int, Record]:
    """What a log holds; a line that a crash has cut is removed. Raises `InputError`."""
    try:
        content = log.read_bytes() if log.exists() else b""
        records, whole = read_log(content)
        if whole < len(content):
            os.truncate(log, whole)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {log}: {error}", "remove it to start again") from None
    return records


class Log:
    """Appends records to the log of a run."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG
        self._file = self._path.open("ab", buffering=0)

    def add(self, records: Iterable[Record]) -> None:
        """Write some lines at once. Raises `SetupError` where the disk does not take them."""
        lines = "".join(to_line(record) + "\n" for record in records).encode()
        try:
            while lines:
                lines = lines[self._file.write(lines) :]
        except OSError as error:
            raise SetupError(
                f"cannot write {self._path}: {error.strerror}",
                "make room and run the same command: it goes on where it stopped",
                "output",
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def prepare() -> None:
    """Import what `write_run` needs: a driver that takes longer to import than many a run."""
    import modularsql.engines.parquet
    import modularsql.engines.versions  # noqa: F401


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
        raise InputError(f"{folder} holds no finished run", "give a folder that eval has filled")
    guard = read_parquet(folder / GUARD) if (folder / GUARD).is_file() else []
    return from_tables(
        read_json(folder / RECORD),
        read_parquet(folder / VERDICTS),
        read_parquet(folder / RESULTS),
        guard,
    )


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """One JSON file, at once. Raises `InputError`."""
    write_text(path, json.dumps(plain(dict(value)), indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object of a JSON file. Raises `InputError`."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {path}: {reason}", "run eval again") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} is no run record", "give a folder that eval has filled")
    return found


def _differences(before: Mapping[str, Any], now: Mapping[str, Any], to: str = "") -> list[str]:
    """The names of the inputs that are not the same."""
    names = []
    for name in {**before, **now}:
        one, other = before.get(name), now.get(name)
        if name == "path" or one == other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            names += _differences(one, other, f"{to}{name} ")
        else:
            names.append(f"{to}{name}".removesuffix(" sha256").removesuffix(" bytes"))
    return list(dict.fromkeys(names))
