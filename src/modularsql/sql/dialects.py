"""What differs between databases, as one table: no rule or rewrite asks a dialect for its name.

The rules' pages run on SQLite, DuckDB, PostgreSQL and MariaDB (`tests/multiplicity/rules`); the
other entries rest on manuals. A dialect that is not in the table is taken as `STANDARD`, whose
entries promise least.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one dialect reads a query."""

    # Names
    unknown_quoted_is_text: bool = False
    """`"x"` is a text where no column is called so."""
    dotted_may_be_field: bool = True
    """`a.b` may be the field `b` of a column `a`."""
    aliases_beside: bool = True
    """A name in the SELECT list may be the alias of another item there."""

    # FROM
    comma_binds_weaker: bool = True
    """`a, b JOIN c` joins `b` and `c` first."""
    derived_sees_siblings: bool = True
    """A derived table may use what stands before it."""
    cte_sees_all: bool = False
    """A CTE sees those after it, also without RECURSIVE."""
    merged_first: bool = True
    """`*` lists the columns of USING first."""
    merged_is_coalesced: bool = False
    """A column of USING that `*` lists is not that of one side under a FULL JOIN."""
    derived_column_names: bool = True
    """`(SELECT …) AS t(a)` names the columns."""

    # Groups and values
    bare_follows_extreme: bool = False
    """With a single MIN or MAX the other columns are those of its row."""
    subquery_takes_any: bool = False
    """A scalar subquery of several rows gives one of them; else it is an error."""
    aggregate_filter: bool = True
    """FILTER (WHERE …) on an aggregate exists."""
    affinities: bool = False
    """A column's type is a hint: literals are converted to the column, numbers compare by value."""
    text_by_bytes: bool = True
    """Text is equal where its bytes are, if no collation is named."""

    # Rows
    row_hash: str = ""
    """A whole number that follows from a row's identity (`{}`) as if by chance; to draw by it."""
    row_hash_by_row_id: bool = False
    """It takes the engine's own row id only."""


STANDARD = Dialect()
_FOLDS = Dialect(text_by_bytes=False)

DIALECTS: Mapping[str, Dialect] = {
    "sqlite": Dialect(
        unknown_quoted_is_text=True,
        dotted_may_be_field=False,
        aliases_beside=False,
        comma_binds_weaker=False,
        derived_sees_siblings=False,
        cte_sees_all=True,
        merged_first=False,
        merged_is_coalesced=True,
        derived_column_names=False,
        bare_follows_extreme=True,
        subquery_takes_any=True,
        affinities=True,
        row_hash="({} * 2654435761 % 4294967296) / 65536",  # Knuth's multiplicative hash
        row_hash_by_row_id=True,
    ),
    "duckdb": Dialect(merged_first=False, row_hash="HASH({})"),
    "postgres": replace(STANDARD, row_hash="HASHTEXT(CONCAT_WS(',', {}))"),
    # MariaDB as well, which names the columns of a CTE only.
    "mysql": replace(
        _FOLDS,
        derived_column_names=False,
        aggregate_filter=False,
        row_hash="CRC32(CONCAT_WS(',', {}))",
    ),
    "singlestore": _FOLDS,
    "doris": _FOLDS,
    "starrocks": _FOLDS,
    "tsql": replace(_FOLDS, aggregate_filter=False),
    "oracle": replace(STANDARD, aggregate_filter=False),
    "snowflake": replace(STANDARD, aggregate_filter=False),
    "bigquery": replace(STANDARD, aggregate_filter=False),
    "redshift": replace(STANDARD, aggregate_filter=False),
}


def dialect_of(name: str) -> Dialect:
    """What holds for a dialect, by the name sqlglot knows it by."""
    return DIALECTS.get(name, STANDARD)
