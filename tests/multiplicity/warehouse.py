"""A stand-in for a service that tests cannot reach: its SQL is checked, then run in DuckDB."""

from dataclasses import replace
from functools import cache

from sqlglot import ErrorLevel, exp, parse_one
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from modularsql.catalog import Catalog
from modularsql.ports import Engine, Outcome
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Rows
from modularsql.sql.dialects import dialect_of
from modularsql.sql.foreign import constructs
from modularsql.sql.parse import Unparsed, tokenize

WAREHOUSES = ("bigquery", "snowflake")


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
    """Snowflake holds names that were made without quotes in capitals."""

    def held(name: str) -> str:
        return name.upper() if dialect == "snowflake" and name.islower() else name

    tables = tuple(replace(table.renamed(held), row_id=None) for table in catalog)
    return Catalog(dialect=dialect, tables=tables)


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
    assert not [why for kind, why in LACKS[dialect] if any(map(kind, tree.walk()))], sql
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
        columns = {
            f'"{c.name}"' if dialect == "snowflake" else c.name: c.type for c in table.columns
        }
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


_BOTH = (
    (lambda node: isinstance(node, exp.Filter), "FILTER of an aggregate"),
    (_is_unknown, "a function that nobody knows"),
    (lambda node: isinstance(node, exp.Column) and node.name.lower() == "rowid", "a row id"),
)
LACKS = {
    "bigquery": (
        *_BOTH,
        (lambda node: isinstance(node, exp.Dot), "quotes that make a name a text"),
        (_names_columns, "a list of columns behind the name of a CTE or derived table"),
        (_counts_pairs, "COUNT(DISTINCT a, b)"),
    ),
    "snowflake": (*_BOTH, (_numbers_unordered, "ROW_NUMBER() without ORDER BY")),
}
