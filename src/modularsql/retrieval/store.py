"""Files that an index is kept in: SQLite, with a version of ours."""

import sqlite3
from pathlib import Path

from modularsql.errors import InputError

_NEXT = "delete it, index anew"


def open_store(path: Path, schema: str, version: int, what: str) -> sqlite3.Connection:
    """The file, made where it is not there yet; threads may share it, taking turns.

    Raises `InputError` for a file that is none, or of another version; `what` names what it
    should be.
    """
    try:
        connection = sqlite3.connect(path, check_same_thread=False)
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found not in (0, version):
            raise InputError(f"{path} is an index of another version", _NEXT)
        if found != version:  # else nothing is written: who only reads leaves the file as it is
            connection.executescript(schema)
            connection.execute(f"PRAGMA user_version = {version}")
    except sqlite3.Error as error:
        raise InputError(f"{path} is no {what}: {error}", _NEXT) from error
    return connection
