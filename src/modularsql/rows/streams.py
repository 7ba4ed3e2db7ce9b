"""Whether two results of any size are the same bag of rows, in the memory of two batches.

Both are read side by side. Batches that are equal as they stand say nothing; of the others each row
is hashed, the hashes are mixed with a secret key and added up. Different sums prove different bags.
Equal ones mean equal bags but for a chance: two different rows of one pair of results have the same
64-bit hash with a probability below rows² / 2^64 (one in a million for five million rows), and two
sums agree by accident with 2^-64. Numbers that differ by a factor of 2^61 have one hash in Python,
and so here. Where all that is not good enough, equal results have to be compared exactly.

By numpy (extra `eval`).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice, zip_longest
from secrets import randbits
from types import NoneType
from typing import Any

from modularsql.errors import SetupError
from modularsql.rows.cells import Row, Special, comparable

BATCH = 320
"""Rows read at a time: two batches stay in a core's cache."""
MIXED = 8 * BATCH
"""Hashes mixed at a time: numpy takes as long for a tenth of them."""

_KEY = randbits(64)


def same_bag(one: Iterable[Row], other: Iterable[Row]) -> bool:
    """Whether two streams hold the same rows equally often. False is certain, True nearly so.

    NaN is one object wherever it occurs, as engines hand it over. Raises `SetupError` without
    numpy.
    """
    ones, others = _Sum(), _Sum()
    nothing: list[Row] = []
    for left, right in zip_longest(_batches(one), _batches(other), fillvalue=nothing):
        if left != right:
            ones.add(left)
            others.add(right)
    return ones.total() == others.total()


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    stream = iter(rows)
    while batch := list(islice(stream, BATCH)):
        yield batch


class _Sum:
    """How many rows there are, and their mixed hashes added up."""

    def __init__(self) -> None:
        self._rows = self._sum = 0
        self._hashes: list[int] = []

    def add(self, rows: Sequence[Row]) -> None:
        """Count and hash these rows."""
        self._rows += len(rows)
        self._hashes += map(hash, _hashable(rows))
        if len(self._hashes) >= MIXED:
            self._mix()

    def total(self) -> tuple[int, int]:
        """What stands for all rows that were added."""
        if self._hashes:
            self._mix()
        return self._rows, self._sum

    def _mix(self) -> None:
        np = _numpy()
        hashes = np.array(self._hashes, dtype=np.int64).view(np.uint64)
        self._sum = (self._sum + int(_mixed(hashes ^ np.uint64(_KEY), np).sum())) % 2**64
        self._hashes.clear()


# Python gives these a hash that another small value has (-2 and 0), and NaN is equal to nothing.
_ALIKE = {-1: Special.MINUS_ONE, "": Special.NO_TEXT}
_WATCHED = frozenset({*_ALIKE, math.nan})
_AS_THEY_ARE = frozenset({NoneType, bool, int, float, str})


def _hashable(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows with keys for cells, equal rows with equal hashes and hardly any others."""
    cells = list(chain.from_iterable(rows))
    if _AS_THEY_ARE.issuperset(map(type, cells)) and _WATCHED.isdisjoint(cells):
        return rows
    return [tuple(map(_unlike, row)) for row in comparable(rows)]


def _unlike(cell: Any) -> Any:
    """A stand-in for a cell that shares its hash with another: bytes do with the same text."""
    return (bytes, cell) if isinstance(cell, bytes) else _ALIKE.get(cell, cell)


def _mixed(hashes: Any, np: Any) -> Any:
    """Each bit spread over all others (the finalizer of SplitMix64, Steele et al., 2014).

    Sums of plain tuple hashes would not do: they are close to linear in the last column.
    """
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return hashes ^ (hashes >> np.uint64(31))


@cache
def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise SetupError(
            "comparing results as streams needs numpy", 'pip install "modularsql[eval]"'
        ) from None
    return numpy
