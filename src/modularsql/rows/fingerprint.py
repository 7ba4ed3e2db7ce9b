"""A result of any size as one number that does not depend on the order of its rows.

Each row is hashed, the hashes are mixed with a secret key and added up. Different fingerprints
prove different bags. Equal ones mean equal bags but for a chance: two different rows of one pair
of results have the same 64-bit hash with a probability below rows² / 2^64 (one in a million for
five million rows), and two sums agree by accident with 2^-64. The key and the hashes of text are
drawn anew for each process, so fingerprints of different processes (unless forked) do not compare.
Numbers that differ by a factor of 2^61 have one hash in Python, and so here. Where all that is
not good enough, equal results have to be compared exactly.

By numpy (extra `eval`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice, zip_longest
from secrets import randbits
from typing import Any

from modularsql.errors import SetupError
from modularsql.rows.cells import Row, Special, comparable, types_in

BATCH = 320
"""Rows at a time: two batches stay in a core's cache; fewer rows are slower to hash."""

_KEY = randbits(64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """How many rows a result has, and their hashes added up. Compare with `==`."""

    rows: int
    total: int


def fingerprint(rows: Iterable[Row], *, plain: bool = False) -> Fingerprint:
    """The fingerprint of a stream of rows, in the memory of one batch.

    `plain`: the rows are known to hold nothing but None, int, float and str, and no NaN, so nobody
    looks at the types of cells, which takes a third of the time. Raises `SetupError` without numpy.
    """
    count = total = 0
    for batch in _batches(rows):
        count += len(batch)
        total += _sum(batch, plain)
    return Fingerprint(rows=count, total=total % 2**64)


def same_bag(one: Iterable[Row], other: Iterable[Row], *, plain: bool = False) -> bool:
    """Whether two streams hold the same rows equally often, in the memory of two batches.

    Both are read side by side: batches that are equal as they stand need no hashing, which decides
    results of one order at the speed of reading them. False is certain; True as sure as equal
    fingerprints are. `plain` and errors as in `fingerprint`.
    """
    rows = total = 0
    nothing: list[Row] = []
    for left, right in zip_longest(_batches(one), _batches(other), fillvalue=nothing):
        if left != right:
            rows += len(left) - len(right)
            total += _sum(left, plain) - _sum(right, plain)
    return rows == 0 and total % 2**64 == 0


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    stream = iter(rows)
    while batch := list(islice(stream, BATCH)):
        yield batch


def _sum(rows: Sequence[Row], plain: bool) -> int:
    if not rows:
        return 0
    np = _numpy()
    return int(_mixed(_hashes(rows, plain, np) ^ np.uint64(_KEY), np).sum())


def _hashes(rows: Sequence[Row], plain: bool, np: Any) -> Any:
    rows = rows if plain else comparable(rows)
    odd = not plain and bytes in types_in(rows)
    if odd or not _ALIKE.keys().isdisjoint(chain.from_iterable(rows)):
        rows = [tuple(map(_unlike, row)) for row in rows]
    return np.fromiter(map(hash, rows), dtype=np.int64, count=len(rows)).view(np.uint64)


# Python gives these a hash that another small value has: -2, and 0.
_ALIKE = {-1: Special.MINUS_ONE, "": Special.NO_TEXT}


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
