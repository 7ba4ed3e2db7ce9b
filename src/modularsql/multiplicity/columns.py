"""Which columns an expression uses, and which kinds of value compare as equal.

A predicate may be taken for an equality of a key only when it compares as the key itself does:
the same class of type and the same collation. Otherwise two key values may match one value
(TEXT '1' and '01' against INTEGER 1; NOCASE 'a' and 'A').
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp

from modularsql.catalog import UNSURE, Column
from modularsql.sql.dialects import dialect_of


class Kind(NamedTuple):
    """How a column's values compare: class of type, collation (None: byte-wise).

    `exact`: equal values are the same value, so whatever is computed of them is equal too. It
    is not so for 'a' and 'A' under NOCASE, 1 and 1.0 in a column without type, 0.0 and -0.0.
    """

    type: str
    collation: str | None = None
    exact: bool = False


# HUGEINT and UHUGEINT are no part of it: DuckDB compares them as DOUBLE.
_INTEGERS = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT "
    "INT INT2 INT4 INT8 MEDIUMINT SERIAL BIGSERIAL".split()
)
_TEXTS = frozenset("VARCHAR TEXT CHAR STRING BPCHAR NVARCHAR".split()) | {"CHARACTER VARYING"}
_EXACT = frozenset("integer HUGEINT UHUGEINT BOOLEAN DATE TIMESTAMP UUID".split())

_COUNTS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.Count)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg)
_ARGUMENTS = re.compile(r"\(.*", re.DOTALL)
_SAFE_DIGITS = 18


def kind_of(column: Column, dialect: str) -> Kind | None:
    """The kind of a base column; None where its collation is not known."""
    if column.collation == UNSURE:
        return None
    name = column.type.upper()
    if dialect_of(dialect).affinities:
        affinity = _affinity(name)
        exact = affinity != "blob" and column.collation is None
        return Kind(affinity, column.collation, exact)
    type_ = _class(name)
    exact = type_ in _EXACT or (type_ == "text" and dialect_of(dialect).text_by_bytes)
    return Kind(type_, column.collation, exact and column.collation is None)


def whole_number(dialect: str) -> Kind:
    """The kind of what counts or numbers rows."""
    return Kind("number" if dialect_of(dialect).affinities else "integer", None, True)


def _affinity(name: str) -> str:
    """SQLite's rules (https://www.sqlite.org/datatype3.html, 3.1); NUMERIC is as INTEGER."""
    if "INT" in name:
        return "number"
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return "text"
    # ANY is no type in a STRICT table, and nothing here tells which tables are.
    if "BLOB" in name or not name or name == "ANY":
        return "blob"
    return "real" if any(part in name for part in ("REAL", "FLOA", "DOUB")) else "number"


def _class(name: str) -> str:
    bare = _ARGUMENTS.sub("", name).strip()
    if bare in _INTEGERS:
        return "integer"
    return "text" if bare in _TEXTS else bare if "(" not in name else name


def compare_alike(one: Kind | None, other: Kind | None) -> bool:
    """Whether values of the two kinds compare as values of each do among themselves.

    SQLite compares whole and real numbers exactly, but in a UNION they may become one type.
    """
    if one is None or other is None or one.collation != other.collation:
        return False
    return one.type == other.type or {one.type, other.type} == {"number", "real"}


def literal_fits(kind: Kind | None, literal: exp.Expr, dialect: str) -> bool:
    """Whether `column = literal` leaves one value of the column, under the column's equality.

    SQLite converts the literal to the column, never the column to the literal. Elsewhere a
    literal with a point or an exponent may turn the comparison into one of floating numbers.
    """
    if kind is None:
        return False
    if dialect_of(dialect).affinities:
        return True
    if isinstance(literal, exp.Neg):
        literal = literal.this
    if not isinstance(literal, exp.Literal) or kind.collation is not None:
        return False
    if literal.is_string:
        return kind.type == "text"
    return kind.type == "integer" and literal.is_int and len(literal.this) <= _SAFE_DIGITS


def value_kind(expression: exp.Expr, dialect: str) -> Kind | None:
    """The kind of a computed value, where it shows: a literal, a count, SQLite's arithmetic."""
    if isinstance(expression, _COUNTS):
        return whole_number(dialect)
    if isinstance(expression, exp.Literal):
        if expression.is_string:
            return Kind("text", None, dialect_of(dialect).text_by_bytes)
        return whole_number(dialect) if expression.is_int else None
    is_number = isinstance(expression, _ARITHMETIC) and dialect_of(dialect).affinities
    return Kind("number") if is_number else None


_WHOLE = (exp.Column, exp.Literal, exp.Identifier, exp.DataType, exp.Query)


def own_parts(expression: exp.Expr) -> Iterator[exp.Expr]:
    """The expression and its parts, without going into subqueries and names."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _WHOLE):
            stack.extend(node.iter_expressions(reverse=True))


def own_columns(expression: exp.Expr) -> Iterator[exp.Column]:
    """The columns an expression uses outside its subqueries."""
    return (part for part in own_parts(expression) if isinstance(part, exp.Column))


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of a condition that must all hold."""
    if condition is None:
        return
    stack = [condition]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Paren):
            stack.append(node.this)
        elif isinstance(node, exp.And):
            stack += [node.expression, node.this]
        else:
            yield node


def bare(expression: exp.Expr) -> exp.Expr:
    """The expression without parentheses around it."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    return expression


_VOLATILE = (exp.Rand, exp.Randn, exp.Uuid, exp.TableSample)
_VOLATILE_NAMES = frozenset({"random", "randomblob", "nextval", "gen_random_uuid", "setseed"})


def is_volatile(expression: exp.Expr) -> bool:
    """Whether evaluating it twice may give two values."""
    return any(map(is_chance, expression.walk()))


def is_chance(part: exp.Expr) -> bool:
    """Whether a single part, apart from what it holds, may give another value each time."""
    if isinstance(part, exp.Anonymous):
        return part.name.lower() in _VOLATILE_NAMES
    return isinstance(part, _VOLATILE)


# SQLite's "now" is one instant for each row that comes back, not for all of them.
_CLOCKS = (exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime, exp.CurrentDatetime)
_SETTLED = frozenset(
    "julianday printf format instr typeof hex quote unicode char ltrim rtrim".split()
)
"""Functions sqlglot has no class for, whose arguments settle their value."""


def is_determined(expression: exp.Expr) -> bool:
    """Whether the columns it uses settle its value: no aggregate, window, subquery or chance."""
    return not any(_unsettled(part) or is_chance(part) for part in own_parts(expression))


def _unsettled(part: exp.Expr) -> bool:
    if isinstance(part, exp.Anonymous):
        return part.name.lower() not in _SETTLED or not part.expressions
    if isinstance(part, exp.Literal):
        return part.is_string and part.this.strip().lower() == "now"
    outside = (exp.AggFunc, exp.Window, exp.Query, exp.UDTF, exp.Star, exp.Columns, *_CLOCKS)
    if isinstance(part, outside):
        return True
    # date() and the like, without arguments, read the clock.
    return isinstance(part, exp.Func) and next(part.iter_expressions(), None) is None


_MAKES_ROWS = (exp.UDTF, exp.GenerateSeries)
_MAKES_ROWS_NAMES = frozenset(
    "generate_series generate_subscripts json_array_elements json_array_elements_text json_each "
    "json_each_text json_object_keys json_populate_recordset json_to_recordset "
    "jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys "
    "jsonb_path_query jsonb_populate_recordset jsonb_to_recordset regexp_matches "
    "regexp_split_to_table string_to_table unnest".split()
)


def makes_rows(expression: exp.Expr) -> bool:
    """Whether an output may turn one row into several (UNNEST)."""
    return any(
        isinstance(part, _MAKES_ROWS)
        or (isinstance(part, exp.Anonymous) and part.name.lower() in _MAKES_ROWS_NAMES)
        for part in own_parts(expression)
    )
