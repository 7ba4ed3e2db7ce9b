"""The use case `index`: the text values of a database, so that questions find them."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modularsql.config import Settings
from modularsql.engines.isolated import IsolatedEngine
from modularsql.errors import SetupError
from modularsql.json_values import plain
from modularsql.retrieval.extraction import columns, extract
from modularsql.retrieval.lexical import LexicalIndex
from modularsql.service.jsonable import SCHEMA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRequest:
    """What `index` needs; `exclude` are patterns of `table.column`, `progress` hears of columns."""

    target: str
    settings: Settings
    exclude: Sequence[str] = ()
    progress: Callable[[int, int], None] = lambda done, total: None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSummary:
    """What was indexed: columns taken in anew, left as they were, dropped, skipped (and why)."""

    path: Path
    indexed: int
    unchanged: int
    dropped: int
    values: int
    sampled: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, Any]:
        """The object that `index --format json` prints."""
        found: dict[str, Any] = plain(
            {
                "schema_version": SCHEMA_VERSION,
                "path": str(self.path),
                "indexed": self.indexed,
                "unchanged": self.unchanged,
                "dropped": self.dropped,
                "values": self.values,
                "sampled": self.sampled,
                "skipped": dict(self.skipped),
            }
        )
        return found


def index_path(target: str, settings: Settings) -> Path:
    """Where the index of a database lies; never beside the database."""
    folder = Path(settings.index_dir) if settings.index_dir else Path.home() / _DEFAULT
    whole = str(Path(target).resolve()) if "://" not in target else target
    name = Path(target.partition("?")[0]).stem or "database"
    return folder / f"{name}-{hashlib.blake2b(whole.encode(), digest_size=6).hexdigest()}.sqlite"


_DEFAULT = Path(".cache/modularsql/index")


def index(request: IndexRequest) -> IndexSummary:
    """Index a database, or bring its index up to date: columns that did not change are left.

    Raises `InputError` or `SetupError` where the database or the folder cannot be used.
    """
    path = index_path(request.target, request.settings)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"cannot make {path.parent}: {error.strerror}", "set index_dir") from error
    engine = IsolatedEngine(request.target, request.settings)
    indexed = unchanged = values = 0
    sampled: list[str] = []
    skipped: list[tuple[str, str]] = []
    try:
        seen = columns(engine, request.exclude)
        store = LexicalIndex(path)
        most = request.settings.index_values
        found = extract(engine, request.exclude, most, request.settings.limits())
        for done, column in enumerate(found, 1):
            name = f"{column.table}.{column.column}"
            fresh = store.put(column)
            indexed += fresh
            unchanged += not fresh
            values += len(column.values)
            if column.sampled:
                sampled.append(name)
            if column.skipped:
                skipped.append((name, column.skipped))
            request.progress(done, len(seen))
        dropped = store.keep_only((table.name, column.name) for table, column in seen)
        store.close()
    finally:
        engine.close()
    return IndexSummary(
        path=path,
        indexed=indexed,
        unchanged=unchanged,
        dropped=dropped,
        values=values,
        sampled=tuple(sampled),
        skipped=tuple(skipped),
    )
