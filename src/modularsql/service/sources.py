"""What several use cases read: the databases of a data set, and the marks that tell files apart."""

import hashlib
from pathlib import Path
from typing import Any

from modularsql.engines.files import logs_beside
from modularsql.errors import InputError
from modularsql.evaluation.datasets import Dataset, database_files


def check_root(root: Path) -> None:
    """Raises `InputError` where there is no such folder."""
    if not root.is_dir():
        raise InputError(f"no folder of databases at {root}", "check --db-root")


def find_databases(root: Path, dataset: Dataset) -> dict[str, tuple[Path, ...]]:
    """The files of each database that questions name, its own first; none where it is missing.

    Raises `InputError` where `root` holds none of them.
    """
    names = dict.fromkeys(question.db for question in dataset.questions)
    found = {name: database_files(root, name) for name in names}
    if not any(found.values()):
        first = next(iter(found))
        raise InputError(
            f"{root} holds none of the {len(found):,} databases of {dataset.path}",
            f"--db-root is the folder of ID/ID.sqlite, as {Path(first, first + '.sqlite')}",
        )
    return found


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
