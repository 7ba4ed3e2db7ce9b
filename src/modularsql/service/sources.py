"""What several use cases read: the databases of a data set, and the marks that tell files apart."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from modularsql.config import Settings
from modularsql.engines.connect import connect, database_at, locate, server_of
from modularsql.engines.files import logs_beside
from modularsql.errors import InputError, SetupError, is_away
from modularsql.evaluation.datasets import Dataset, database_files


def check_root(root: str | Path) -> None:
    """Raises `InputError` where there is no such folder, and it is no server."""
    if server_of(root) is None and not Path(root).is_dir():
        raise InputError(
            f"no folder of databases at {root}", "check --db-root: a folder, or URL of a server"
        )


def find_databases(
    root: str | Path, dataset: Dataset, settings: Settings
) -> dict[str, tuple[str, ...]]:
    """Each database that questions name: its files, its own first, or its URL; none: it is missing.

    Raises `InputError` where `root` holds none of them, `SetupError` for a server out of reach.
    """
    names = dict.fromkeys(question.db for question in dataset.questions)
    server = server_of(root)
    if server is None:
        found = {name: tuple(map(str, database_files(Path(root), name))) for name in names}
    else:
        found = {name: _on_server(database_at(server, name), settings) for name in names}
    if not any(found.values()):
        first = next(iter(found))
        shown = str(root) if server is None else locate(server).shown
        raise InputError(
            f"{shown} holds none of the {len(found):,} databases of {dataset.path}",
            f"--db-root is the folder of ID/ID.sqlite, as {Path(first, first + '.sqlite')}"
            if server is None
            else f"each question is put to the database of its name, as {first}",
        )
    return found


def _on_server(url: str, settings: Settings) -> tuple[str, ...]:
    try:
        connect(url, settings).close()
    except SetupError as error:
        if error.kind != "not_found":
            raise
        return ()
    return (url,)


@contextmanager
def told(end: str) -> Iterator[None]:
    """Where a server goes away inside, it is said what that means for the run."""
    try:
        yield
    except SetupError as error:
        if not is_away(error):
            raise
        raise SetupError(error.message, f"{error.hint}; {end}", error.kind) from None


def file_of(database: str) -> Path | None:
    """The file of a database, None where it is one of a server."""
    return locate(database).path


def database_marks(database: str) -> dict[str, Any]:
    """`marks` of a file; of a database of a server its URL alone, without secrets."""
    file = file_of(database)
    return {"path": locate(database).shown} if file is None else marks(file)


def marks(path: Path) -> dict[str, Any]:
    """Path, size and SHA-256 of a file; of all files of a folder, or of a database and its log.

    Raises `InputError`.
    """
    try:
        files = [path, *logs_beside(path)]
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.is_file())
        size = sum(file.stat().st_size for file in files)
        if files == [path]:
            digest = _sha256(path)
        else:
            listed = "".join(f"{_sha256(file)}  {file.name}\n" for file in files)
            digest = hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", "check the path") from None
    return {"path": str(path), "bytes": size, "sha256": digest}


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
