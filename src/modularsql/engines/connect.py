"""From a path or URL to an engine. To add an engine: its module and one line in a table here."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

from modularsql.config import Settings, database_url
from modularsql.engines.address import Address, read_address
from modularsql.engines.files import existing_file, head
from modularsql.errors import InputError, SetupError
from modularsql.ports import Engine

_FILES = {  # name: offset and bytes that mark such a file, module, class
    "sqlite": (0, b"SQLite format 3\0", "modularsql.engines.sqlite", "SqliteEngine"),
    "duckdb": (8, b"DUCK", "modularsql.engines.duckdb", "DuckDBEngine"),
}
_TABLE = "load it into one, in DuckDB: CREATE TABLE t AS FROM '{}'"
_LOADING = {  # ending of a file with data that is no database: how to make one of it
    **dict.fromkeys((".csv", ".tsv", ".parquet", ".json", ".jsonl"), _TABLE),
    ".sql": "load it into one: sqlite3 new.sqlite < {}",
}
_POSTGRES = ("modularsql.engines.postgres", "PostgresEngine", "postgres")
_MYSQL = ("modularsql.engines.mysql", "MySQLEngine", "mysql")
_SERVERS = {  # scheme of the URL: module, class, extra that brings its driver
    "postgresql": _POSTGRES,
    "postgres": _POSTGRES,
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
}
_NAME = re.compile(r"(?:env:)?\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a target names: a file, an address of a server, or a URL for SQLAlchemy.

    `wanted` is the URL's kind.
    """

    path: Path | None = None
    wanted: str | None = None
    address: Address | None = None
    url: str | None = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        """The target without secrets."""
        if self.url is not None:
            scheme, _, rest = self.url.partition("://")
            return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
        return self.address.shown if self.address else str(self.path)


def connect(target: str | Path, settings: Settings | None = None) -> Engine:
    """A read-only engine for a database file or URL (`sqlite:///path`, `postgresql://…`).

    The kind of a file is told from its first bytes. Raises `InputError` for a path that is not
    there, `SetupError` for what cannot be opened; creates nothing. A URL of another kind is
    left to SQLAlchemy (`engines/generic.py`).
    """
    return open_place(locate(target), settings)


def open_place(place: Place, settings: Settings | None) -> Engine:
    """The engine for what `locate` found."""
    kind = None if place.path is None else kind_of(place.path)
    if settings is not None and settings.today and kind != "sqlite":
        raise InputError(
            f"{place.shown}: the setting today stops the clock of SQLite only", "unset it"
        )
    if place.url is not None:
        return _opener("modularsql.engines.generic", "GenericEngine", "generic")(
            place.url, settings
        )
    if place.address is not None:
        module, name, extra = _SERVERS[place.address.scheme]
        return _opener(module, name, extra)(place.address, settings)
    assert place.path is not None
    assert kind is not None
    if place.wanted not in (None, kind):
        raise InputError(
            f"{place.path} is a {kind} database, not {place.wanted}", f"use {kind}:///{place.path}"
        )
    module, name = _FILES[kind][2:]
    return _opener(module, name, "")(place.path, settings)


def locate(target: str | Path) -> Place:
    """What a target names: a path, a URL, or a name of `config.database_url`.

    Whether it is there is not looked at; an existing file is never taken for a name.
    """
    text = _resolved(target)
    scheme, found, rest = text.partition("://")
    if not found or len(scheme) < 2 or not scheme.replace("+", "").isalnum():
        return Place(path=Path(text))
    kind = scheme.lower().split("+")[0]
    if kind in _FILES:
        # SQLAlchemy's form: three slashes and a path, four for an absolute one; not %-encoded.
        return Place(path=Path(rest.removeprefix("/")), wanted=kind)
    if kind in _SERVERS:
        return Place(address=read_address(text), wanted=kind)
    return Place(url=text, wanted=kind)


def _resolved(target: str | Path) -> str:
    text = str(target)
    if isinstance(target, str) and _NAME.fullmatch(text) and not os.path.lexists(text):
        text = database_url(text) or text
    return text


def server_of(target: str | Path) -> str | None:
    """The URL of a server whose databases go by their names; None where files are meant.

    Raises `InputError` for a URL that names a database, or one of another kind.
    """
    url, place = _resolved(target), locate(target)
    if place.address is not None and place.address.database is None:
        return url
    if place.address is not None:
        raise InputError(
            f"{place.shown} is one database, and each question names its own",
            f"leave {place.address.database} out of the URL",
            "url",
        )
    if "://" in url and place.path is None:
        raise InputError(
            f"{place.shown} is no server of PostgreSQL, MySQL or MariaDB",
            "give the URL of one, or a folder of database files",
            "url",
        )
    return None


def database_at(server: str, name: str) -> str:
    """The URL of a database of a server."""
    head, mark, options = server.partition("?")
    head = head if head.endswith("://") else head.rstrip("/")
    return f"{head}/{quote(name, safe='')}{mark}{options}"


def kind_of(path: Path) -> str:
    """Which engine a file is for, told from its first bytes."""
    start = head(existing_file(path), 20)
    for kind, (offset, mark, *_) in _FILES.items():
        if start[offset : offset + len(mark)] == mark:
            return kind
    what = "is empty" if not start else "is no SQLite or DuckDB database"
    hint = _LOADING.get(path.suffix.lower(), "give a database file").format(path.name)
    raise InputError(f"{path} {what}", hint, "not_a_database")


def _opener(module: str, name: str, extra: str) -> Callable[[Any, Settings | None], Engine]:
    try:
        opener: Callable[[Any, Settings | None], Engine] = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        # Other import errors, as for want of memory, are not mended by an installation.
        raise SetupError(
            f"a database of this kind needs {error.name or error}, which is not installed",
            f"pip install 'modularsql[{extra}]'",
            "driver",
        ) from error
    return opener
