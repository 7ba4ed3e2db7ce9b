"""The use case `index`: the text values of a database, so that questions find them."""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modularsql.config import Settings
from modularsql.engines.isolated import IsolatedEngine
from modularsql.errors import SetupError
from modularsql.json_values import plain
from modularsql.ports import Embedder, Engine
from modularsql.retrieval.extraction import Extracted, columns, extract, unmatched
from modularsql.retrieval.lexical import LexicalIndex
from modularsql.service.embedding import connect_embedder
from modularsql.service.jsonable import SCHEMA_VERSION

if TYPE_CHECKING:
    from modularsql.retrieval.vectors import VectorIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRequest:
    """What `index` needs; `exclude` are patterns of `table.column`, `progress` hears of
    columns done, of how many, and what is at work."""

    target: str
    settings: Settings
    exclude: Sequence[str] = ()
    progress: Callable[[int, int, str], None] = lambda done, total, words: None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSummary:
    """What was indexed: columns taken in anew, left as they were, dropped, skipped (and why).

    `embedded` counts the texts that the `embedder` was given; 0 and "" where there is none.
    `unmatched` are patterns of `exclude` that no column has the name of.
    """

    path: Path
    indexed: int
    unchanged: int
    dropped: int
    values: int
    embedder: str
    embedded: int
    sampled: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    unmatched: tuple[str, ...]

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
                "embedder": self.embedder,
                "embedded": self.embedded,
                "sampled": self.sampled,
                "skipped": dict(self.skipped),
                "unmatched": self.unmatched,
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
    embedder = connect_embedder(request.settings)
    engine = IsolatedEngine(request.target, request.settings)
    with closing(engine), closing(LexicalIndex(path)) as lexical:
        if embedder is None:
            return _filled(request, engine, lexical, None)
        with closing(vector_index(path, embedder)) as vectors:
            return replace(_filled(request, engine, lexical, vectors), embedder=embedder.name)


def _filled(
    request: IndexRequest, engine: Engine, lexical: LexicalIndex, vectors: "VectorIndex | None"
) -> IndexSummary:
    """Every column taken into the indexes, one after the other."""
    seen = columns(engine, request.exclude)
    indexed = embedded = 0
    found: list[Extracted] = []
    most = request.settings.index_values
    for column in extract(engine, request.exclude, most, request.settings.limits()):
        name, done = f"{column.table}.{column.column}", len(found)

        def told(part: int, of: int, name: str = name, done: int = done) -> None:
            request.progress(done, len(seen), f"{name}: {part:,} of {of:,} embedded")

        indexed += lexical.put(column)
        embedded += vectors.put(column, told) if vectors is not None else 0
        found.append(column)
        request.progress(len(found), len(seen), name)
    kept = [(table.name, column.name) for table, column in seen]
    dropped = lexical.keep_only(kept)
    if vectors is not None:
        vectors.keep_only(kept)
    return IndexSummary(
        path=lexical.path,
        indexed=indexed,
        unchanged=len(found) - indexed,
        dropped=dropped,
        values=sum(len(column.values) for column in found),
        embedder="",
        embedded=embedded,
        sampled=tuple(f"{c.table}.{c.column}" for c in found if c.sampled),
        skipped=tuple((f"{c.table}.{c.column}", c.skipped) for c in found if c.skipped),
        unmatched=unmatched(engine, request.exclude),
    )


def vector_index(lexical: Path, embedder: Embedder) -> "VectorIndex":
    """The index by meaning that lies beside one by letters."""
    try:
        from modularsql.retrieval.vectors import VectorIndex
    except ImportError as error:
        hint = "pip install 'modularsql[retrieval]'"
        raise SetupError(f"looking up by meaning needs {error.name}", hint, "driver") from error
    return VectorIndex(vectors_path(lexical), embedder)


def vectors_path(lexical: Path) -> Path:
    """Where the vectors of an index lie."""
    return lexical.with_suffix(".vectors.sqlite")
