"""The values of a database in one SQLite file, looked up as they are, folded, or nearly so.

Folding drops case and accents. What is nearly the same is found by the rare trigrams it shares
(FTS5) and scored by the letters in common, in their order (rapidfuzz). The file stands apart from
the database it is of.
"""

import sqlite3
import threading
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

from rapidfuzz.distance.Indel import normalized_similarity

from modularsql.ports import Match
from modularsql.retrieval.extraction import Extracted
from modularsql.retrieval.merged import best_of_columns
from modularsql.retrieval.store import open_store

_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS part(id INTEGER PRIMARY KEY, "table" TEXT, "column" TEXT,
  fingerprint TEXT, size INTEGER, sampled INTEGER, skipped TEXT, UNIQUE ("table", "column"));
CREATE TABLE IF NOT EXISTS entry(id INTEGER PRIMARY KEY, part INTEGER, value TEXT, folded TEXT,
  n INTEGER);
CREATE INDEX IF NOT EXISTS entry_value ON entry(value);
CREATE INDEX IF NOT EXISTS entry_folded ON entry(folded);
CREATE INDEX IF NOT EXISTS entry_part ON entry(part);
CREATE VIRTUAL TABLE IF NOT EXISTS trigram USING fts5(
  folded, content='entry', content_rowid='id', tokenize='trigram case_sensitive 1', detail='none');
CREATE VIRTUAL TABLE IF NOT EXISTS vocabulary USING fts5vocab(trigram, row);
"""
_FOUND = 'SELECT p."table", p."column", e.value, e.folded FROM entry e JOIN part p ON p.id = e.part'
_FUZZY_ROWS = 60
_FUZZY_POOL = 2_000  # values that are ranked by their trigrams
_MOST_GRAMS = 24  # half as many find fewer values, all of them no more, in twice the time
_SHORTEST_FUZZY = 3
_LEAST_LIKENESS = 0.6
_OF_A_PART = 0.9


def folded(text: str) -> str:
    """Text without case, accents and surplus space."""
    plain = unicodedata.normalize("NFKD", text)
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).casefold().split())


class LexicalIndex:
    """A value index in a file; threads may share it. `InputError` for a file that is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection = open_store(path, _SCHEMA, _VERSION, "value index")

    def fingerprints(self) -> dict[tuple[str, str], str]:
        """What is in it: the fingerprint of each column."""
        rows = self._all('SELECT "table", "column", fingerprint FROM part')
        return {(table, column): fingerprint for table, column, fingerprint in rows}

    def put(self, found: Extracted) -> bool:
        """Take a column in; False where it was there already with these values."""
        with self._lock, self._connection as writer:
            known = writer.execute(
                'SELECT id, fingerprint FROM part WHERE "table" = ? AND "column" = ?',
                (found.table, found.column),
            ).fetchone()
            if known is not None and known[1] == found.fingerprint:
                return False
            if known is not None:
                _delete(writer, known[0])
            part = writer.execute(
                'INSERT INTO part("table", "column", fingerprint, size, sampled, skipped) '
                "VALUES (?, ?, ?, ?, ?, ?)",
                (
                    found.table,
                    found.column,
                    found.fingerprint,
                    len(found.values),
                    found.sampled,
                    found.skipped,
                ),
            ).lastrowid
            writer.executemany(
                "INSERT INTO entry(part, value, folded, n) VALUES (?, ?, ?, ?)",
                ((part, value, folded(value), n) for value, n in found.values),
            )
            writer.execute(
                "INSERT INTO trigram(rowid, folded) SELECT id, folded FROM entry WHERE part = ?",
                (part,),
            )
            return True

    def keep_only(self, columns: Iterable[tuple[str, str]]) -> int:
        """Drop the columns that are no more; how many were dropped."""
        wanted = set(columns)
        with self._lock, self._connection as writer:
            rows = writer.execute('SELECT id, "table", "column" FROM part').fetchall()
            gone = [id_ for id_, table, column in rows if (table, column) not in wanted]
            for id_ in gone:
                _delete(writer, id_)
        return len(gone)

    def search(self, keywords: Sequence[str], per_column: int) -> list[Match]:
        """See `ports.ValueIndex`."""
        found = (match for keyword in keywords for match in self._matches(keyword))
        return best_of_columns(found, per_column)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _matches(self, keyword: str) -> Iterable[Match]:
        plain = folded(keyword)
        rows = self._all(f"{_FOUND} WHERE e.folded = ?", (plain,)) if plain else []
        for table, column, value, _ in rows:
            how: Literal["exact", "folded"] = "exact" if value == keyword else "folded"
            yield Match(
                table=table, column=column, value=value, keyword=keyword, score=1.0, how=how
            )
        if len(plain) < _SHORTEST_FUZZY:
            return
        for table, column, value, known in self._nearly(plain):
            score = likeness(plain, known)
            if _LEAST_LIKENESS <= score < 1:
                yield Match(
                    table=table,
                    column=column,
                    value=value,
                    keyword=keyword,
                    score=score,
                    how="fuzzy",
                )

    def _nearly(self, plain: str) -> list[Any]:
        """Values that share rare trigrams with a keyword: those that share the most.

        Counted here: FTS5's own ranking would read and split each value again (detail=none).
        """
        shared: Counter[int] = Counter()
        for gram in self._rare(plain):
            quoted = '"' + gram.replace('"', '""') + '"'
            rows = self._all("SELECT rowid FROM trigram WHERE trigram MATCH ?", (quoted,))
            shared.update(id_ for (id_,) in rows)
        ids = [id_ for id_, _ in shared.most_common(_FUZZY_ROWS)]
        marks = ", ".join("?" * len(ids))
        return self._all(f"{_FOUND} WHERE e.id IN ({marks})", ids)

    def _rare(self, plain: str) -> list[str]:
        """A keyword's trigrams, the rarest first, until they stand in enough values.

        The common ones would bring in half of the index, and rank nothing. Of a long keyword some
        are taken all along it: FTS5 counts the values of each one by one.
        """
        starts = range(len(plain) - 2)
        some = starts[:: -(-len(starts) // _MOST_GRAMS)]
        one = "SELECT doc FROM vocabulary WHERE term = ?"
        grams = sorted({plain[i : i + 3] for i in some})
        counts = {gram: doc for gram in grams for (doc,) in self._all(one, (gram,))}
        rarest = sorted(counts, key=lambda gram: counts[gram])
        together = list(accumulate(counts[gram] for gram in rarest))
        return rarest[: max(bisect_left(together, _FUZZY_POOL), 1)]

    def _all(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        with self._lock, closing(self._connection.execute(sql, values)) as cursor:
            return cursor.fetchall()


def likeness(keyword: str, text: str) -> float:
    """How alike a text is to a keyword, from 0 to 1, 0 for what is hardly alike.

    Twice the longest common subsequence by the letters of both; where only a run of the text's
    words is like the keyword, that counts a bit less.
    """
    whole = _ratio(keyword, text)
    words, size = text.split(), len(keyword.split())
    if not 0 < size < len(words):
        return whole
    runs = (" ".join(words[i : i + size]) for i in range(len(words) - size + 1))
    return max(whole, _OF_A_PART * max(_ratio(keyword, run) for run in runs))


def _ratio(one: str, other: str) -> float:
    return normalized_similarity(one, other, score_cutoff=_LEAST_LIKENESS)


def _delete(writer: sqlite3.Connection, part: int) -> None:
    writer.execute(
        "INSERT INTO trigram(trigram, rowid, folded) "
        "SELECT 'delete', id, folded FROM entry WHERE part = ?",
        (part,),
    )
    writer.execute("DELETE FROM entry WHERE part = ?", (part,))
    writer.execute("DELETE FROM part WHERE id = ?", (part,))
