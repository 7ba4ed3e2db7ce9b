"""From a path or URL to an engine. To add an engine: its module and one line in a table here."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from modularsql.config import Settings
from modularsql.engines.files import existing_file, head
from modularsql.errors import InputError, SetupError
from modularsql.ports import Engine

_FILES = {  # name: offset and bytes that mark such a file, module, class
    "sqlite": (0, b"SQLite format 3\0", "modularsql.engines.sqlite", "SqliteEngine"),
    "duckdb": (8, b"DUCK", "modularsql.engines.duckdb", "DuckDBEngine"),
}
_LATER = ("postgresql", "postgres", "mysql", "mariadb")


def connect(target: str | Path, settings: Settings | None = None) -> Engine:
    """A read-only engine for a database file or URL (`sqlite:///path`, `duckdb:///path`).

    The kind of a file is told from its first bytes. Raises `InputError` for a path that is not
    there or an unknown URL, `SetupError` for what cannot be opened; creates nothing.
    """
    return open_file(*locate(target), settings)


def open_file(path: Path, wanted: str | None, settings: Settings | None) -> Engine:
    """The engine for what `locate` found."""
    kind = kind_of(path)
    if wanted not in (None, kind):
        raise InputError(f"{path} is a {kind} database, not {wanted}", f"use {kind}:///{path}")
    module, name = _FILES[kind][2:]
    open_ = cast("Callable[[Path, Settings | None], Engine]", getattr(import_module(module), name))
    return open_(path, settings)


def locate(target: str | Path) -> tuple[Path, str | None]:
    """The file a target names, and the kind its URL asks for (None for a bare path)."""
    text = str(target)
    scheme, found, rest = text.partition("://")
    if not found or len(scheme) < 2 or not scheme.replace("+", "").isalnum():
        return Path(text), None
    kind = scheme.lower().split("+")[0]
    if kind in _FILES:
        # SQLAlchemy's form: three slashes and a path, four for an absolute one; not %-encoded.
        return Path(rest.removeprefix("/")), kind
    if kind in _LATER:
        raise SetupError(f"{scheme} is not supported yet", "supported: sqlite, duckdb", "driver")
    raise InputError(f"unknown database URL {scheme}://…", "supported: sqlite:///, duckdb:///")


def kind_of(path: Path) -> str:
    """Which engine a file is for, told from its first bytes."""
    start = head(existing_file(path), 20)
    for kind, (offset, mark, *_) in _FILES.items():
        if start[offset : offset + len(mark)] == mark:
            return kind
    what = "is empty" if not start else "is no SQLite or DuckDB database"
    raise InputError(f"{path} {what}", "give a database file", "not_a_database")
