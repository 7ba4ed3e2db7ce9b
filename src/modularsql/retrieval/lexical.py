"""The values of a database in one SQLite file, looked up as they are, folded, or nearly so.

Folding drops case and accents. What is nearly the same is found by shared trigrams (FTS5) and
scored by the longest runs in common (difflib). The file stands apart from the database it is of.
"""

import sqlite3
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import closing
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Literal

from modularsql.errors import InputError
from modularsql.ports import Match
from modularsql.retrieval.extraction import Extracted

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
"""
_FOUND = (
    'SELECT e.id, p."table", p."column", e.value, e.n FROM entry e JOIN part p ON p.id = e.part'
)
_FUZZY_ROWS = 100
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
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False)
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version not in (0, _VERSION):
                raise InputError(f"{path} is an index of another version", "delete it, index anew")
            self._connection.executescript(_SCHEMA)
            self._connection.execute(f"PRAGMA user_version = {_VERSION}")
        except sqlite3.Error as error:
            raise InputError(
                f"{path} is no value index: {error}", "delete it, index anew"
            ) from error

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
        best: dict[tuple[str, str, str], Match] = {}
        for keyword in keywords:
            for match in self._matches(keyword):
                place = (match.table, match.column, match.value)
                if place not in best or best[place].score < match.score:
                    best[place] = match
        ranked = sorted(best.values(), key=lambda m: (-m.score, m.table, m.column, m.value))
        counts: dict[tuple[str, str], int] = {}
        kept: list[Match] = []
        for match in ranked:
            column = (match.table, match.column)
            counts[column] = counts.get(column, 0) + 1
            if counts[column] <= per_column:
                kept.append(match)
        return kept

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _matches(self, keyword: str) -> Iterable[Match]:
        plain = folded(keyword)
        rows = self._all(f"{_FOUND} WHERE e.folded = ?", (plain,)) if plain else []
        for _, table, column, value, _ in rows:
            how: Literal["exact", "folded"] = "exact" if value == keyword else "folded"
            yield Match(
                table=table, column=column, value=value, keyword=keyword, score=1.0, how=how
            )
        if len(plain) < _SHORTEST_FUZZY:
            return
        for _, table, column, value, _ in self._nearly(plain):
            score = likeness(plain, folded(value))
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
        grams = dict.fromkeys(plain[i : i + 3] for i in range(len(plain) - 2))
        wanted = " OR ".join('"' + gram.replace('"', '""') + '"' for gram in grams)
        return self._all(
            f"{_FOUND} JOIN (SELECT rowid, rank FROM trigram WHERE trigram MATCH ? "
            "ORDER BY rank LIMIT ?) t ON t.rowid = e.id",
            (wanted, _FUZZY_ROWS),
        )

    def _all(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        with self._lock, closing(self._connection.execute(sql, values)) as cursor:
            return cursor.fetchall()


def likeness(one: str, other: str) -> float:
    """From 0 to 1: the share of characters in common runs; a part of a value counts a bit less."""
    whole = _ratio(one, other)
    words, of = one.split(), other.split()
    if len(words) >= len(of) or not words:
        return whole
    # The keyword against every run of so many words of the value.
    runs = (" ".join(of[i : i + len(words)]) for i in range(len(of) - len(words) + 1))
    return max(whole, _OF_A_PART * max(_ratio(one, run) for run in runs))


def _ratio(one: str, other: str) -> float:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= _LEAST_LIKENESS else 0.0


def _delete(writer: sqlite3.Connection, part: int) -> None:
    writer.execute(
        "INSERT INTO trigram(trigram, rowid, folded) "
        "SELECT 'delete', id, folded FROM entry WHERE part = ?",
        (part,),
    )
    writer.execute("DELETE FROM entry WHERE part = ?", (part,))
    writer.execute("DELETE FROM part WHERE id = ?", (part,))
