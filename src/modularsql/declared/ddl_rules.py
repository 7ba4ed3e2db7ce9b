"""What a constraint is worth in each dialect, as data.

`enforced` is claimed only where the engine refuses rows that break the constraint. Warehouses
take PRIMARY KEY as a comment, SQLite takes foreign keys as one unless each connection asks,
MySQL drops REFERENCES beside a column without a word.
"""

from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from modularsql.records import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One dialect. `schema` is where unqualified names live.

    `text_collation` is the collation of text that names none, None for byte-wise comparison;
    `bytewise` are the names of collations that compare bytes. `bytewise_keys`: keys compare
    bytes even where the column's collation does not. `affinities`: as in SQLite, types are kept
    as written, and a lone INTEGER PRIMARY KEY is the row id.
    """

    schema: str = ""
    keys: Evidence = Evidence.ASSERTED
    foreign_keys: Evidence = Evidence.ASSERTED
    column_references: Evidence = Evidence.ASSERTED
    primary_not_null: bool = False
    text_collation: str | None = None
    bytewise: frozenset[str] = frozenset({"BINARY"})
    bytewise_keys: bool = False
    indexes_in_tables: bool = False
    row_ids: tuple[str, ...] = ()
    affinities: bool = False


_UPHELD = Evidence.ENFORCED

_RULES = {
    # PRIMARY KEY implies NOT NULL only sometimes: see ddl_draft.solid_columns.
    "sqlite": Rules(
        schema="main", keys=_UPHELD, row_ids=("rowid", "_rowid_", "oid"), affinities=True
    ),
    "duckdb": Rules(
        schema="main",
        keys=_UPHELD,
        foreign_keys=_UPHELD,
        column_references=_UPHELD,
        primary_not_null=True,
        bytewise=frozenset({"BINARY", "C", "POSIX"}),
        bytewise_keys=True,
        row_ids=("rowid",),
    ),
    "postgres": Rules(
        schema="public",
        keys=_UPHELD,
        foreign_keys=_UPHELD,
        column_references=_UPHELD,
        primary_not_null=True,
        bytewise=frozenset({"C", "POSIX", "DEFAULT", "UCS_BASIC", "PG_C_UTF8"}),
    ),
    "mysql": Rules(
        keys=_UPHELD,
        foreign_keys=_UPHELD,
        primary_not_null=True,
        text_collation="default",
        indexes_in_tables=True,
    ),
    # SQL Server lets a foreign key be switched off (NOCHECK) without dropping it.
    "tsql": Rules(
        schema="dbo",
        keys=_UPHELD,
        primary_not_null=True,
        text_collation="default",
        indexes_in_tables=True,
    ),
    "doris": Rules(text_collation="default", indexes_in_tables=True),
    "starrocks": Rules(text_collation="default", indexes_in_tables=True),
}


def rules_of(dialect: str) -> Rules:
    """The rules of a dialect; of one that is not listed nothing is taken for enforced."""
    return _RULES.get(dialect, Rules())


@lru_cache(maxsize=4096)
def spelled(type_: str, dialect: str) -> str:
    """A type in one spelling, so that `character varying(9)` and `varchar(9)` are the same.

    SQLite's stay as they are written: their letters decide (INT is not INTEGER there).
    """
    if not type_ or rules_of(dialect).affinities:
        return type_
    try:
        return exp.DataType.build(type_, dialect=dialect, udt=True).sql(dialect)
    except (ParseError, TokenError, ValueError):
        return type_
