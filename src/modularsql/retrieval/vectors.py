"""Values by meaning: for each column an index of its values' vectors, all in one SQLite file.

Small columns are searched whole, large ones by an HNSW graph (faiss). One index for each column
gives each its nearest values, as the paper has it (algorithm 1), and leaves the others alone when
one changes; docs/design/pipeline.md has the figures. Vectors are kept as 16-bit floats.
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import faiss
import numpy as np

from modularsql.cores import cores
from modularsql.errors import SetupError
from modularsql.ports import Embedder, Match
from modularsql.retrieval.extraction import Extracted
from modularsql.retrieval.store import open_store

if TYPE_CHECKING:
    from numpy.typing import NDArray

_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS part("table" TEXT, "column" TEXT, fingerprint TEXT, embedder TEXT,
  texts TEXT, vectors BLOB, PRIMARY KEY ("table", "column"));
"""
_LEAST_LIKENESS = 0.5
_SEARCHED_WHOLE = 1_000
_NEIGHBOURS, _EF_BUILD, _EF_SEARCH = 32, 100, 100
_AT_ONCE = 512

Told = Callable[[int, int], None]
"""Called with the texts that are embedded, and of how many."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """The values of one column with their index; row i of the index is text i."""

    table: str
    column: str
    texts: tuple[str, ...]
    index: Any

    def nearest(
        self, vectors: "NDArray[np.float32]", count: int
    ) -> Iterator[tuple[int, int, float]]:
        """(keyword, text, cosine) of the best texts for each vector."""
        scores, rows = self.index.search(vectors, min(count, len(self.texts)))
        for keyword, (found, places) in enumerate(zip(scores, rows, strict=True)):
            for score, row in zip(found, places, strict=True):
                if row >= 0 and score >= _LEAST_LIKENESS:
                    yield keyword, int(row), min(float(score), 1.0)


class VectorIndex:
    """A value index by meaning. Threads may share it. `InputError` for a file that is none."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        self.path = path
        self._embedder = embedder
        self._lock = threading.Lock()
        self._connection = open_store(path, _SCHEMA, _VERSION, "index of vectors")

    def put(self, found: Extracted, told: Told = lambda done, total: None) -> int:
        """Take a column in, and return how many texts were embedded: those that are new in it.

        Written at the end of the column: what is stopped goes on with the next one.
        """
        known = self._known(found)
        if known is None:
            return 0
        texts = [value for value, _ in found.values]
        new = [text for text in texts if text not in known]
        for start in range(0, len(new), _AT_ONCE):
            part = new[start : start + _AT_ONCE]
            known.update(zip(part, self._embedder.embed(part), strict=True))
            told(start + len(part), len(new))
        blob = b""
        if texts:
            index = _made(np.array([known[text] for text in texts], dtype=np.float32))
            blob = faiss.serialize_index(index).tobytes()
        row = (found.table, found.column, found.fingerprint, self._embedder.name)
        with self._lock, self._connection as writer:
            try:
                writer.execute(
                    "INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)",
                    (*row, json.dumps(texts), blob),
                )
            except (sqlite3.DataError, OverflowError) as error:
                raise SetupError(
                    f"{found.table}.{found.column} has too many values for one index",
                    "lower index_values",
                ) from error
        self.__dict__.pop("_parts", None)
        return len(new)

    def keep_only(self, columns: Iterable[tuple[str, str]]) -> None:
        """Drop the columns that are no more."""
        wanted = set(columns)
        with self._lock, self._connection as writer:
            rows = writer.execute('SELECT "table", "column" FROM part').fetchall()
            writer.executemany(
                'DELETE FROM part WHERE "table" = ? AND "column" = ?',
                [row for row in rows if row not in wanted],
            )
        self.__dict__.pop("_parts", None)

    def search(self, keywords: Sequence[str], per_column: int) -> list[Match]:
        """See `ports.ValueIndex`; keywords are embedded once, and columns searched side by side."""
        parts = self._parts
        if not keywords or not parts:
            return []
        vectors = np.ascontiguousarray(self._embedder.embed(list(keywords)), dtype=np.float32)
        found = self._threads.map(lambda part: list(part.nearest(vectors, per_column)), parts)
        return [
            Match(
                table=part.table,
                column=part.column,
                value=part.texts[row],
                keyword=keywords[keyword],
                score=score,
                how="semantic",
            )
            for part, nearest in zip(parts, found, strict=True)
            for keyword, row, score in nearest
        ]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        if "_threads" in self.__dict__:
            self._threads.shutdown()

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        # A column has one thread: those of OpenMP spin while they wait for each other, which took
        # ten times the CPU time of the search.
        return ThreadPoolExecutor(cores(), initializer=faiss.omp_set_num_threads, initargs=(1,))

    @cached_property
    def _parts(self) -> list[_Part]:
        with self._lock, closing(self._connection.cursor()) as cursor:
            rows = cursor.execute(
                'SELECT "table", "column", texts, vectors FROM part '
                "WHERE embedder = ? AND LENGTH(vectors)",
                (self._embedder.name,),
            )
            return [
                _Part(table=t, column=c, texts=tuple(json.loads(texts)), index=_opened(blob))
                for t, c, texts, blob in rows
            ]

    def _known(self, found: Extracted) -> "dict[str, NDArray[np.float32]] | None":
        """The vectors there are of a column; None where it is in with these very values."""
        with self._lock:
            row = self._connection.execute(
                "SELECT fingerprint, embedder, texts, vectors FROM part "
                'WHERE "table" = ? AND "column" = ?',
                (found.table, found.column),
            ).fetchone()
        if row is None or row[1] != self._embedder.name:
            return {}
        if row[0] == found.fingerprint:
            return None
        texts = json.loads(row[2])
        return dict(zip(texts, _opened(row[3]).reconstruct_n(), strict=True)) if texts else {}


def _made(vectors: "NDArray[np.float32]") -> Any:
    count, width = vectors.shape
    kind = faiss.ScalarQuantizer.QT_fp16
    if count < _SEARCHED_WHOLE:
        index = faiss.IndexScalarQuantizer(width, kind, faiss.METRIC_INNER_PRODUCT)
    else:
        index = faiss.IndexHNSWSQ(width, kind, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = _EF_BUILD
        index.hnsw.efSearch = _EF_SEARCH
    index.train(vectors)
    index.add(vectors)
    return index


def _opened(blob: bytes) -> Any:
    return faiss.deserialize_index(np.frombuffer(blob, dtype=np.uint8))
