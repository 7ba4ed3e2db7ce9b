"""Which columns hold values that a question may name, and these values (paper, S2).

Text columns of every kind, but for UUIDs, numbers, hashes, long texts and what the user excludes.
A column that fails is skipped with its reason; the others go on. Of a column with very many
values the most frequent are kept, and it is said so.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from sqlglot import exp

from modularsql.catalog import Column, Table
from modularsql.ports import Engine
from modularsql.records import Limits
from modularsql.rows import Rows

LONGEST_VALUE = 100
"""Characters of a value that a question may name; longer ones are texts, not names."""

_TEXT = re.compile(r"char|text|clob|string|enum|name|citext", re.IGNORECASE)
_OTHER = re.compile(
    r"int|real|floa|doub|num|deci|date|time|bool|blob|bytea|json|uuid", re.IGNORECASE
)
_UUID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_HASH = re.compile(r"(0x)?[0-9a-f]{16,}", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?[\d.,:/\s%-]+(e[-+]?\d+)?", re.IGNORECASE)
_MOSTLY = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The values of one column with their counts, most frequent first; or why there are none.

    `sampled`: there are more. `fingerprint` changes when the values do.
    """

    table: str
    column: str
    values: tuple[tuple[str, int], ...] = ()
    sampled: bool = False
    skipped: str | None = None

    @property
    def fingerprint(self) -> str:
        """A hash of the values."""
        digest = hashlib.blake2b(digest_size=16)
        for value, count in self.values:
            digest.update(f"{len(value)}:{value}:{count};".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def columns(engine: Engine, exclude: Sequence[str]) -> list[tuple[Table, Column]]:
    """The columns to look at; `exclude` are patterns of `table.column` (`*.email`, `log.*`)."""
    patterns = [pattern.casefold() for pattern in exclude]
    return [
        (table, column)
        for table in engine.catalog()
        if table.kind == "table" and table.problem is None
        for column in table.columns
        if _may_be_text(column)
        and not any(fnmatchcase(f"{table.name}.{column.name}".casefold(), p) for p in patterns)
    ]


def unmatched(engine: Engine, exclude: Sequence[str]) -> tuple[str, ...]:
    """The patterns that leave out nothing, since no column of any table is called so."""
    names = [
        f"{table.name}.{column.name}".casefold()
        for table in engine.catalog()
        for column in table.columns
    ]
    return tuple(
        pattern
        for pattern in exclude
        if not any(fnmatchcase(name, pattern.casefold()) for name in names)
    )


def extract(
    engine: Engine, exclude: Sequence[str], most: int, limits: Limits
) -> Iterator[Extracted]:
    """The values of each column, one after the other."""
    for table, column in columns(engine, exclude):
        yield _of_column(table, column, engine, replace(limits, max_rows=most + 1), most)


def _may_be_text(column: Column) -> bool:
    """By the declared type; SQLite's columns without one may hold anything."""
    return not column.type or bool(_TEXT.search(column.type)) or not _OTHER.search(column.type)


def _of_column(
    table: Table, column: Column, engine: Engine, limits: Limits, most: int
) -> Extracted:
    found = Extracted(table=table.name, column=column.name)
    outcome = engine.execute(_query(table, column, most).sql(dialect=engine.dialect), limits=limits)
    if not isinstance(outcome, Rows):
        return replace(found, skipped=f"it cannot be read: {outcome.message}")
    rows = [(value, int(count)) for value, count in outcome.rows if _is_text(value)]
    if not rows:
        return replace(found, skipped="it holds no text")
    for what, is_one in _NO_NAMES:
        if sum(map(is_one, (value for value, _ in rows))) >= _MOSTLY * len(rows):
            return replace(found, skipped=f"it holds {what}")
    kept = [(value, count) for value, count in rows if 0 < len(value) <= LONGEST_VALUE]
    if not kept:
        return replace(found, skipped="it holds long texts")
    return replace(found, values=tuple(kept[:most]), sampled=len(outcome.rows) > most)


def _is_text(value: object) -> bool:
    """Also not what engines keep as lone surrogates: bytes of another encoding, nobody asks so."""
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _query(table: Table, column: Column, most: int) -> exp.Select:
    value = exp.column(column.name, quoted=True)
    source = exp.table_(table.name, db=table.schema or None, quoted=True)
    count = exp.Count(this=exp.Star())
    return (
        exp.select(value, exp.alias_(count, "n"))
        .from_(source)
        .where(value.copy().is_(exp.null()).not_())
        .group_by(value.copy())
        .order_by(exp.Ordered(this=exp.column("n"), desc=True), value.copy())
        .limit(most + 1)
    )


_NO_NAMES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("UUIDs", lambda value: _UUID.fullmatch(value) is not None),
    ("hashes", lambda value: _HASH.fullmatch(value) is not None),
    ("numbers or dates", lambda value: _NUMBER.fullmatch(value) is not None),
    ("long texts", lambda value: len(value) > LONGEST_VALUE),
)
