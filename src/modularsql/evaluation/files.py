"""Result files: whole or untouched, never half, and known to be writable before the work."""

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from modularsql.errors import InputError


def check_place(path: Path, *, folder: bool) -> None:
    """Raises `InputError` where `path` could not be written as a file, or a folder of files.

    Makes the folder it would stand in, if need be.
    """
    try:
        path = _target(path, folder=folder)
        home = path if folder else path.parent
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            pass
    except (OSError, ValueError) as error:
        raise _cannot_write(path, error) from None


def write_text(path: Path, text: str) -> None:
    """Puts a file of UTF-8 text in the place of what was there, at once. Raises `InputError`."""
    try:
        path = _target(path, folder=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, text.encode())
    except (OSError, ValueError) as error:  # ValueError: half of a surrogate pair is no text
        raise _cannot_write(path, error) from None


def _target(path: Path, *, folder: bool) -> Path:
    """What is to be replaced: through a link, not in its place."""
    path = Path(os.path.realpath(path))
    if path.exists():
        if not (path.is_dir() if folder else path.is_file()):
            raise InputError(f"{path} is no {'folder' if folder else 'file'}", "name another one")
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return path


def _replace(path: Path, content: bytes) -> None:
    half = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        half.write_bytes(content)
        half.replace(path)
    finally:
        with suppress(OSError):
            half.unlink(missing_ok=True)


def _cannot_write(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or error
    return InputError(f"cannot write {path}: {reason}", "name another place")
