"""A stand-in for a service that tests cannot reach: its SQL is checked, then run in DuckDB."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from sqlglot import ErrorLevel, exp, parse_one
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema
from sqlglot.tokenizer_core import Token, TokenType

from modularsql.catalog import Catalog
from modularsql.ports import Engine, Outcome
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Rows
from modularsql.sql.dialects import dialect_of
from modularsql.sql.foreign import constructs
from modularsql.sql.parse import Unparsed, is_folded, tokenize

WAREHOUSES = ("bigquery", "snowflake", "databricks", "redshift", "trino", "tsql", "oracle")


class Warehouse:
    """An `Engine` for SQL of `dialect` over a database of DuckDB.

    `refused` is what the service would not take, and why. Names stand in its catalog as the
    service holds them; tables have no row id there, and text is never known to compare by bytes.
    """

    def __init__(self, dialect: str, inner: Engine) -> None:
        self.name, self.dialect = f"{dialect} in DuckDB", dialect
        self.inner = inner
        self.refused: list[str] = []
        self._catalog = _as_there(inner.catalog(), dialect)

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        try:
            tree = taken(sql, self._catalog)
        except (AssertionError, SqlglotError) as error:
            self.refused.append(f"{sql}: {error}")
            return Failure(kind=FailureKind.ERROR, message=str(error))
        there = tree.sql("duckdb", unsupported_level=ErrorLevel.RAISE)
        outcome = self.inner.execute(there, params, limits=limits)
        return replace(outcome, plain=False) if isinstance(outcome, Rows) else outcome

    def catalog(self) -> Catalog:
        return self._catalog

    def compares_bytes(self) -> bool:
        return False

    def close(self) -> None:
        """The database is another's."""


def _as_there(catalog: Catalog, dialect: str) -> Catalog:
    """Snowflake and Oracle hold names that were made without quotes in capitals."""

    def held(name: str) -> str:
        return name.upper() if in_capitals(dialect) and name.islower() else name

    tables = tuple(replace(table.renamed(held), row_id=None) for table in catalog)
    return Catalog(dialect=dialect, tables=tables)


def in_capitals(dialect: str) -> bool:
    return is_folded("a", dialect)


def taken(sql: str, catalog: Catalog) -> exp.Expr:
    """The tree of a query that the service would take, as far as its manual says.

    Raises `AssertionError` or sqlglot's errors: for a syntax, a name or a construct that it lacks.
    """
    dialect = catalog.dialect
    tree: exp.Expr = parse_one(sql, read=dialect, error_level=ErrorLevel.RAISE)
    assert isinstance(tree, exp.Query), sql
    tokens = tokenize(sql, dialect)
    assert not isinstance(tokens, Unparsed)
    assert not constructs(sql, tokens, tree) & dialect_of(dialect).lacks, sql
    assert not [why for kind, why in _lacking(dialect) if any(map(kind, tree.walk()))], sql
    if not dialect_of(dialect).table_alias_takes_as:
        assert not _tables_called_with_as(tokens), sql
    bare = tree.copy()
    for source in bare.find_all(exp.Table):
        source.set("db", None)
    qualify(
        bare,
        dialect=dialect,
        schema=_schema(catalog),
        quote_identifiers=False,
    )
    return tree


@cache
def _schema(catalog: Catalog) -> MappingSchema:
    dialect = catalog.dialect
    schema = MappingSchema(dialect=dialect)
    for table in catalog:
        name = exp.table_(table.name, quoted=True)
        columns = {f'"{c.name}"' if in_capitals(dialect) else c.name: c.type for c in table.columns}
        schema.add_table(name, columns, dialect=dialect)
    return schema


def _names_columns(node: exp.Expr) -> bool:
    return isinstance(node, exp.TableAlias) and bool(node.args.get("columns"))


def _counts_pairs(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.Distinct)
        and isinstance(node.parent, exp.Count)
        and (len(node.expressions) > 1)
    )


def _numbers_unordered(node: exp.Expr) -> bool:
    is_number = isinstance(node, exp.Window) and isinstance(node.this, exp.RowNumber)
    return is_number and not node.args.get("order")


def _is_unknown(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name != "HASH"  # which Snowflake has


def _embeds(node: exp.Expr) -> bool:
    inside = isinstance(node, exp.Query) and isinstance(node.parent, (exp.CTE, exp.Subquery))
    settled = node.args.get("limit") or node.args.get("offset")
    return inside and bool(node.args.get("with_") or (node.args.get("order") and not settled))


def _names_derived(node: exp.Expr) -> bool:
    return _names_columns(node) and isinstance(node.parent, exp.Subquery)


def _names_cte(node: exp.Expr) -> bool:
    return _names_columns(node) and isinstance(node.parent, exp.CTE)


def _is_row_id(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name.lower() == "rowid"


def _is_filter(node: exp.Expr) -> bool:
    return isinstance(node, exp.Filter)


def _merges(node: exp.Expr) -> bool:
    return isinstance(node, exp.Join) and bool(
        node.args.get("using") or node.args.get("method") == "NATURAL"
    )


_Kind = Callable[[exp.Expr], bool]
_ALL: tuple[tuple[_Kind, str], ...] = (
    (_is_unknown, "a function that nobody knows"),
    (_is_row_id, "a row id"),
)
_UNLESS: Mapping[str, tuple[_Kind, str]] = {
    "aggregate_filter": (_is_filter, "FILTER of an aggregate"),
    "cte_column_names": (_names_cte, "a list of columns behind the name of a CTE"),
    "derived_column_names": (_names_derived, "a list of columns behind that of a derived table"),
    "numbers_unordered": (_numbers_unordered, "ROW_NUMBER() without ORDER BY"),
    "embeds_any": (_embeds, "WITH or ORDER BY in a CTE or derived table"),
}
"""What a dialect lacks whose entry of this name is False."""
_COUNTS_PAIRS = (_counts_pairs, "COUNT(DISTINCT a, b)")
LACKS: Mapping[str, tuple[tuple[_Kind, str], ...]] = {
    "bigquery": (
        (lambda node: isinstance(node, exp.Dot), "quotes that make a name a text"),
        _COUNTS_PAIRS,
    ),
    "redshift": (_COUNTS_PAIRS,),
    "trino": (_COUNTS_PAIRS,),
    "tsql": (_COUNTS_PAIRS, (_merges, "USING and NATURAL")),
    "oracle": (_COUNTS_PAIRS,),
}
"""What a dialect lacks besides."""


def _lacking(dialect: str) -> Iterator[tuple[_Kind, str]]:
    yield from _ALL
    yield from LACKS.get(dialect, ())
    for name, lack in _UNLESS.items():
        if not getattr(dialect_of(dialect), name):
            yield lack


def _tables_called_with_as(tokens: Sequence[Token]) -> bool:
    """Whether AS stands before the name of a derived table behind FROM or JOIN."""
    opened: list[bool] = []
    closed = False
    for before, token in pairwise(tokens):
        if token.token_type == TokenType.ALIAS and before.token_type == TokenType.R_PAREN:
            if closed:
                return True
        elif token.token_type == TokenType.L_PAREN:
            opened.append(before.token_type in (TokenType.FROM, TokenType.JOIN))
        elif token.token_type == TokenType.R_PAREN:
            closed = opened.pop()
    return False
