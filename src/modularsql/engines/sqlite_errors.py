"""What SQLite's result codes mean for whoever asked (https://www.sqlite.org/rescode.html)."""

import re
import sqlite3
from pathlib import Path

from modularsql.engines.base import miscounted, no_value
from modularsql.errors import SetupError
from modularsql.records import Failure, FailureKind

_PRIMARY = {  # result code without its extension: what became of the query
    sqlite3.SQLITE_AUTH: FailureKind.REFUSED,
    sqlite3.SQLITE_READONLY: FailureKind.REFUSED,
    sqlite3.SQLITE_TOOBIG: FailureKind.TOO_LARGE,
    sqlite3.SQLITE_FULL: FailureKind.TOO_LARGE,  # files of a sort, not the database
    sqlite3.SQLITE_INTERRUPT: FailureKind.TIMEOUT,
    sqlite3.SQLITE_BUSY: FailureKind.LOCKED,
    sqlite3.SQLITE_LOCKED: FailureKind.LOCKED,
}
_FILE = (  # it is the file, not the query
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOTADB,
)
_MESSAGES = (  # of Python's module, and of SQLite where its code is a mere "error"
    ("one statement at a time", FailureKind.REFUSED),
    ("query string is too large", FailureKind.REFUSED),
    ("may not be modified", FailureKind.REFUSED),
    ("unsafe use of", FailureKind.REFUSED),
    ("bindings supplied", FailureKind.UNBOUND),
    ("did not supply a value", FailureKind.UNBOUND),
    ("has no name, but you supplied", FailureKind.UNBOUND),  # `?` and a named value
)
_LACKING = re.compile(r"binding parameter [:@$]?(\w+)")
_COUNTS = re.compile(r"uses (\d+), and there are (\d+) supplied")
_WORDS = {
    FailureKind.TIMEOUT: "stopped at the time limit",
    FailureKind.LOCKED: "the database is locked by another program",
}


def is_locked(error: Exception) -> bool:
    """Whether asking again later may help."""
    return _code(error) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_interrupted(error: Exception) -> bool:
    """Whether the query was stopped by us, or by a signal."""
    return _code(error) & 0xFF == sqlite3.SQLITE_INTERRUPT


def failure(path: Path, error: Exception, refused: str | None) -> Failure:
    """The failure of a query, `refused` being what the authorizer denied last.

    Raises `SetupError` where the file is at fault.
    """
    code, message = _code(error), str(error)
    if refused is not None and code & 0xFF in (sqlite3.SQLITE_AUTH, sqlite3.SQLITE_ERROR):
        return Failure(kind=FailureKind.REFUSED, message=refused)
    if code == sqlite3.SQLITE_IOERR_WRITE:  # to a file of a sort: nothing else is written
        return Failure(kind=FailureKind.TOO_LARGE, message="no room for temporary files")
    if code == sqlite3.SQLITE_READONLY_ROLLBACK or code & 0xFF in _FILE:
        raise unreadable(path, error)
    if isinstance(error, MemoryError):
        return Failure(kind=FailureKind.TOO_LARGE, message="no memory left for the query")
    kind = _PRIMARY.get(code & 0xFF)
    if kind is None:
        kind = next((k for part, k in _MESSAGES if part in message), FailureKind.ERROR)
    if kind == FailureKind.UNBOUND:
        counts = _COUNTS.search(message)
        return (
            miscounted(*map(int, counts.groups()))
            if counts
            else no_value(_LACKING.findall(message))
        )
    return Failure(kind=kind, message=_WORDS.get(kind, message))


def unreadable(path: Path, error: Exception) -> SetupError:
    """Why a database cannot be read, and what can be done about it."""
    if is_locked(error):
        return SetupError(f"{path} is locked by another program", "try again later", "locked")
    if is_interrupted(error):
        return SetupError(f"reading the schema of {path} took too long", "give it more time")
    if _code(error) == sqlite3.SQLITE_READONLY_ROLLBACK:
        return SetupError(
            f"a program stopped while it wrote to {path}, and its -journal file must be rolled "
            "back first",
            f"open it once for writing: sqlite3 {path} 'PRAGMA schema_version'",
            "needs_recovery",
        )
    return SetupError(f"cannot read {path}: {error}", "is it a SQLite database?", "not_a_database")


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", None) or 0)
