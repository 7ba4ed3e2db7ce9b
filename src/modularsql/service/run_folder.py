"""The folder of a run that goes on where it was stopped: its lock, its record, its log.

run.json   what was run: versions, and under `inputs` all that results depend on
log.jsonl  one line for each result, appended as they come in
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from modularsql.errors import InputError, SetupError
from modularsql.evaluation.files import check_place, write_text
from modularsql.json_values import plain

RECORD, LOG, LOCK = "run.json", "log.jsonl", ".lock"
GO_ON = "make room and run the same command: it goes on where it stopped"


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
                f"another run is at work in {folder}", "wait for it, or name another --out"
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


def begin(folder: Path, about: Mapping[str, Any], growing: str = "") -> dict[str, Any]:
    """The run record of a folder: the one that stands there, else `about`, which is written.

    To the input `growing` entries may come later; then the record is written anew.

    Raises `InputError` where the folder holds a run over other inputs.
    """
    path = folder / RECORD
    if not path.exists():
        if (folder / LOG).exists():
            raise InputError(f"{folder} holds a log without its {RECORD}", "name another --out")
        write_json(path, about)
        return dict(about)
    found = read_json(path)
    before, now = found.get("inputs", {}), plain(about["inputs"])
    if known := before.get(growing):
        before = {**before, growing: {**now[growing], **known}}
    if other := _differences(before, now):
        raise InputError(
            f"{folder} holds a run over other inputs: {', '.join(other)}",
            "name another --out, or remove that folder",
        )
    if before != found.get("inputs", {}):
        found = {**found, "inputs": before}
        write_json(path, found)
    return found


def read_lines(folder: Path) -> list[bytes]:
    """The whole lines of a log; one that a crash has cut is removed. Raises `InputError`."""
    log = folder / LOG
    try:
        content = log.read_bytes() if log.exists() else b""
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(log, whole)
    except OSError as error:
        raise InputError(f"cannot read {log}: {error.strerror}", "check its folder") from None
    return content[:whole].splitlines()


def broken(folder: Path, error: Exception) -> InputError:
    """What to say of a log with a line that is no result."""
    return InputError(f"cannot read {folder / LOG}: {error}", "remove it to start again")


class Log:
    """Appends lines to the log of a run."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG
        self._file = self._path.open("ab", buffering=0)

    def add(self, lines: Iterable[str]) -> None:
        """Write some lines at once. Raises `SetupError` where the disk does not take them."""
        content = "".join(line + "\n" for line in lines).encode()
        try:
            while content:
                content = content[self._file.write(content) :]
        except OSError as error:
            raise SetupError(
                f"cannot write {self._path}: {error.strerror}", GO_ON, "output"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """One JSON file, at once. Raises `InputError`."""
    write_text(path, json.dumps(plain(dict(value)), indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object of a JSON file. Raises `InputError`."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot read {path}: {reason}", "remove that folder, and fill it again"
        ) from None
    if not isinstance(found, dict):
        raise InputError(f"{path} is no run record", "give the folder of a run")
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
