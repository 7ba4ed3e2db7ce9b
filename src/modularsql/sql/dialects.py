"""What differs between databases, as one table: no rule or rewrite asks a dialect for its name.

`tests/engines/test_dialects.py` puts each entry of SQLite, DuckDB, PostgreSQL and MariaDB to the
engine, `test_clickhouse.py` those of ClickHouse, `test_spark.py` Spark's; those of others rest on
manuals. A dialect that is not in the table is taken as `STANDARD`, whose entries promise least.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Construct = Literal[
    "DISTINCT ON",
    "QUALIFY",
    "ILIKE",
    "LIMIT a, b",
    "FETCH FIRST",
    "TOP",
    "::",
    "FULL JOIN",
    "`name`",
    "[name]",
]
"""What some dialects have and others refuse; `sql/foreign.py` finds it in a query."""


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
    source_is_row: bool = True
    """The name of a source may stand for its row."""
    words_in_calls: bool = True
    """A bare word in a call may be a unit and no column."""
    own_tables: tuple[str, ...] = ()
    """How the names of the engine's own tables begin."""
    own_words: frozenset[str] = frozenset()
    """What it knows by a bare name beside columns: functions, and what `row_ids` lists."""
    row_ids: tuple[str, ...] = ()
    """Columns that every table has and `*` does not show."""

    # FROM
    comma_binds_weaker: bool = True
    """`a, b JOIN c` joins `b` and `c` first."""
    derived_sees_siblings: bool = True
    """A derived table may use what stands before it."""
    cte_sees_all: bool = False
    """A CTE sees those after it, also without RECURSIVE."""
    padded_with_null: bool = True
    """Where an outer join finds no match it puts NULL, and not 0 or an empty text."""
    merged_first: bool = True
    """`*` lists the columns of USING first."""
    merged_is_coalesced: bool = False
    """A column of USING that `*` lists is not that of one side under a FULL JOIN."""
    using_matches_null: bool = False
    """After a RIGHT or FULL JOIN a column of USING may be NULL on both sides: SQLite 3.40 takes one
    that is declared NOT NULL for never NULL, though it is padded."""
    table_alias_takes_as: bool = True
    """`FROM t AS a` is taken, and not only `FROM t a`."""
    derived_column_names: bool = True
    """`(SELECT …) AS t(a)` names the columns."""
    cte_column_names: bool = True
    """`WITH t(a) AS (…)` names the columns."""
    embeds_any: bool = True
    """A CTE or derived table may begin with a WITH and end in an ORDER BY."""
    bare_union: bool = True
    """UNION without a word is UNION DISTINCT; else it is an error."""

    # Groups and values
    bare_columns: Literal["any", "of_key", "refused", "unknown"] = "unknown"
    """A column neither grouped by nor in an aggregate: of any row, only where a key that is grouped
    by settles it, or refused. Of MySQL as its mode ONLY_FULL_GROUP_BY is not set."""
    bare_follows_extreme: bool = False
    """With a single MIN or MAX the other columns are those of its row."""
    null_undoes_not_in: bool = True
    """`x NOT IN (SELECT …)` is true of no row where the subquery gives a NULL."""
    correlated_exists: bool = True
    """EXISTS may use the query around it."""
    subquery_takes_any: bool = False
    """A scalar subquery of several rows gives one of them; else it is an error."""
    aggregate_filter: bool = True
    """FILTER (WHERE …) on an aggregate exists."""
    numbers_unordered: bool = False
    """ROW_NUMBER() needs no ORDER BY in its window."""
    affinities: bool = False
    """A column's type is a hint: literals are converted to the column, numbers compare by value."""
    text_by_bytes: bool = True
    """Text is equal where its bytes are, if no collation is named."""
    collations_listed: bool = True
    """The engine can tell whether a column has a collation."""
    integer_division: bool = False
    """Whole numbers divide to whole numbers."""
    null_sorts: Literal["small", "large", "last", "unknown"] = "unknown"
    """Where NULL stands in a sort that does not say: below all values, above, or always last."""

    # What it does not take
    lacks: frozenset[Construct] = frozenset()
    """What is written in other dialects and refused in this one."""

    # Rows
    row_hash: str = ""
    """A whole number that follows from a row's identity (`{}`) as if by chance; to draw by it."""
    row_hash_by_row_id: bool = False
    """It takes the engine's own row id only."""
    near_distinct: str = ""
    """An estimate of how many values of a column (`{}`) are different."""
    near_distinct_error: float = 0.0
    """What a sum of 64 of them may err by, as a share of it, at 95 %; 0 = there is none."""


STANDARD = Dialect()
_FOLDS = Dialect(text_by_bytes=False)
_NEITHER: frozenset[Construct] = frozenset({"DISTINCT ON", "LIMIT a, b", "[name]"})
_TRINO = replace(
    STANDARD,
    row_hash="FROM_BIG_ENDIAN_64(XXHASH64(TO_UTF8(JSON_FORMAT(CAST(ROW({}) AS JSON)))))",
    collations_listed=False,
    near_distinct="APPROX_DISTINCT({})",
    near_distinct_error=0.01,  # a standard error of 2.3 % each
)
_SPARK = replace(
    STANDARD,
    comma_binds_weaker=False,
    bare_columns="refused",
    null_sorts="small",
    lacks=frozenset({"DISTINCT ON", "LIMIT a, b", "FETCH FIRST", "TOP", "[name]"}),
    row_hash="XXHASH64(TO_JSON(STRUCT({})))",  # of several columns it passes over NULL
    collations_listed=False,
    near_distinct="APPROX_COUNT_DISTINCT({}, 0.02)",
    near_distinct_error=0.01,  # a standard deviation of 2 % each
)

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
        using_matches_null=True,
        derived_column_names=False,
        bare_follows_extreme=True,
        subquery_takes_any=True,
        affinities=True,
        source_is_row=False,
        words_in_calls=False,
        own_tables=("sqlite_", "pragma_", "dbstat"),
        own_words=frozenset({"rank"}),  # of a full-text search
        row_ids=("rowid", "oid", "_rowid_"),
        bare_columns="any",
        numbers_unordered=True,
        integer_division=True,
        null_sorts="small",
        lacks=frozenset({"DISTINCT ON", "QUALIFY", "ILIKE", "FETCH FIRST", "TOP", "::"}),
        # Knuth's multiplicative hash, modulo a prime: larger products are no whole numbers.
        row_hash="({} % 2147483647 * 2654435761 % 4294967296) / 65536",
        row_hash_by_row_id=True,
    ),
    "duckdb": Dialect(
        merged_first=False,
        own_tables=("duckdb_", "pragma_", "pg_", "sqlite_"),
        own_words=frozenset(
            "all current_role current_user rowid session_user user".split(),
        ),
        row_ids=("rowid",),
        bare_columns="refused",
        numbers_unordered=True,
        null_sorts="last",
        lacks=frozenset({"LIMIT a, b", "TOP", "[name]"}),
        row_hash="HASH({})",
        near_distinct="APPROX_COUNT_DISTINCT({})",
        near_distinct_error=0.01,
    ),
    "postgres": replace(
        STANDARD,
        own_tables=("pg_",),
        own_words=frozenset(
            "ctid current_role current_user session_user tableoid user cmax cmin xmax xmin".split()
        ),
        row_ids=("ctid", "tableoid", "cmax", "cmin", "xmax", "xmin"),
        bare_columns="of_key",
        numbers_unordered=True,
        integer_division=True,
        null_sorts="large",
        lacks=frozenset({"QUALIFY", "LIMIT a, b", "TOP", "`name`", "[name]"}),
        row_hash="HASHTEXT(CONCAT_WS(',', {}))",
    ),
    # MariaDB as well, which names the columns of a CTE only.
    "mysql": replace(
        _FOLDS,
        derived_column_names=False,
        aggregate_filter=False,
        own_tables=("dual",),
        own_words=frozenset({"current_user"}),
        bare_columns="any",
        numbers_unordered=True,
        null_sorts="small",
        lacks=frozenset({"DISTINCT ON", "QUALIFY", "ILIKE", "TOP", "::", "FULL JOIN", "[name]"}),
        row_hash="CRC32(CONCAT_WS(',', {}))",
    ),
    "singlestore": _FOLDS,
    "doris": _FOLDS,
    "starrocks": _FOLDS,
    "tsql": replace(
        _FOLDS,
        embeds_any=False,
        aggregate_filter=False,
        integer_division=True,
        bare_columns="refused",
        null_sorts="small",
        lacks=frozenset({"DISTINCT ON", "QUALIFY", "ILIKE", "LIMIT a, b", "::", "`name`"}),
        # From SQL Server 2019 on. A cast to BIGINT keeps the last 8 bytes.
        row_hash="CAST(HASHBYTES('SHA2_256', (SELECT {} FOR JSON PATH, INCLUDE_NULL_VALUES)) "
        "AS BIGINT)",
        collations_listed=False,
        near_distinct="APPROX_COUNT_DISTINCT({})",
        near_distinct_error=0.01,  # within 2 % each, at 97 %
    ),
    "oracle": replace(
        STANDARD,
        table_alias_takes_as=False,
        derived_column_names=False,
        aggregate_filter=False,
        bare_columns="refused",
        null_sorts="large",
        row_ids=("rowid",),
        lacks=_NEITHER | {"QUALIFY", "ILIKE", "TOP", "::", "`name`"},
        # ORA_HASH takes one value and gives 32 bits, too few for millions of rows.
        row_hash="TO_NUMBER(SUBSTR(RAWTOHEX(STANDARD_HASH(JSON_ARRAY({} NULL ON NULL), 'MD5')), "
        "1, 15), 'XXXXXXXXXXXXXXX')",
        collations_listed=False,
        near_distinct="APPROX_COUNT_DISTINCT({})",
        near_distinct_error=0.01,  # within 3 % each, at 95 %
    ),
    "snowflake": replace(
        STANDARD,
        aggregate_filter=False,
        bare_columns="refused",
        lacks=frozenset({"DISTINCT ON", "LIMIT a, b", "`name`", "[name]"}),
        row_hash="HASH({})",
        collations_listed=False,
        near_distinct="APPROX_COUNT_DISTINCT({})",
        near_distinct_error=0.01,  # a deviation of 1.6 % each
    ),
    "bigquery": replace(
        STANDARD,
        derived_column_names=False,
        cte_column_names=False,
        bare_union=False,
        aggregate_filter=False,
        numbers_unordered=True,
        bare_columns="refused",
        null_sorts="small",
        lacks=_NEITHER | {"ILIKE", "FETCH FIRST", "TOP", "::"},
        row_hash="FARM_FINGERPRINT(TO_JSON_STRING(STRUCT({})))",
        collations_listed=False,
        near_distinct="APPROX_COUNT_DISTINCT({})",
        near_distinct_error=0.01,  # within 1.2 % each, at 95 %
    ),
    "redshift": replace(
        STANDARD,
        aggregate_filter=False,
        # Takes no dates; FNV_HASH, which does, does not say what it makes of NULL.
        row_hash="FARMFINGERPRINT64(JSON_SERIALIZE(ARRAY({})))",
        collations_listed=False,
        near_distinct="APPROXIMATE COUNT(DISTINCT {})",
        near_distinct_error=0.01,  # about 2 % each
    ),
    "presto": _TRINO,
    "trino": _TRINO,
    "athena": _TRINO,
    "spark": _SPARK,
    "databricks": _SPARK,
    # With its settings as they are: union_default_mode, join_use_nulls and transform_null_in would
    # change an entry each.
    "clickhouse": replace(
        STANDARD,
        source_is_row=False,
        comma_binds_weaker=False,
        derived_sees_siblings=False,
        cte_sees_all=True,
        padded_with_null=False,
        null_undoes_not_in=False,
        correlated_exists=False,  # an experiment for long; some builds refuse it
        bare_union=False,
        numbers_unordered=True,
        bare_columns="refused",
        null_sorts="last",
        lacks=frozenset({"TOP", "[name]"}),
        row_hash="sipHash64(tuple({}))",  # a call of several columns is NULL where one of them is
        collations_listed=False,
        near_distinct="uniqCombined64({})",
        near_distinct_error=0.01,
    ),
}


def dialect_of(name: str) -> Dialect:
    """What holds for a dialect, by the name sqlglot knows it by."""
    return DIALECTS.get(name, STANDARD)
