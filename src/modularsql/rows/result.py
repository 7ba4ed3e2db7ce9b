"""A result as a typed bag of rows, and how much of it is copies.

NULL equals NULL, as DISTINCT and GROUP BY have it (paper, section 3.1). Engines hand over one
NaN object, so that NaN equals NaN here as it does in them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from modularsql.rows.cells import Row, key


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The first rows of a result.

    `types` are the engine's own names, None where it has none (SQLite types cells, not
    columns). `truncated` says that a cap cut the result; `ms` is the time to the last row kept.
    `plain`: no collation was in play, so rows that Python calls equal are equal in the database;
    None where the engine did not look.
    """

    columns: tuple[str, ...]
    types: tuple[str | None, ...]
    rows: list[Row]
    truncated: bool = False
    ms: float = 0.0
    plain: bool | None = None


def distinct_rows(rows: Iterable[Row]) -> set[Row]:
    """The rows without copies; nested values (lists, structs) are compared by content."""
    rows = rows if isinstance(rows, list) else list(rows)
    try:
        return set(rows)
    except TypeError:
        return {tuple(map(key, row)) for row in rows}


def dup_ratio(total: int, distinct: int) -> float:
    """Share of rows that are copies of an earlier one: `(total - distinct) / total`, in [0, 1).

    Paper, equation 1; 0 for an empty result.
    """
    return (total - distinct) / total if total else 0.0
