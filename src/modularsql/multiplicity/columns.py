"""Which columns an expression uses, and which kinds of value compare as equal.

A predicate may be taken for an equality of a key only when it compares as the key itself does:
the same class of type and the same collation. Otherwise two key values may match one value
(TEXT '1' and '01' against INTEGER 1; NOCASE 'a' and 'A').
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp

from modularsql.catalog import Column


class Kind(NamedTuple):
    """How a column's values compare: class of type, collation (None: byte-wise)."""

    type: str
    collation: str | None


_INTEGERS = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT "
    "INT INT2 INT4 INT8 MEDIUMINT SERIAL BIGSERIAL".split()
)
_TEXTS = frozenset("VARCHAR TEXT CHAR STRING BPCHAR NVARCHAR".split())
_ARGUMENTS = re.compile(r"\(.*", re.DOTALL)


def kind_of(column: Column, dialect: str) -> Kind:
    """The kind of a base column."""
    name = column.type.upper()
    return Kind(_affinity(name) if dialect == "sqlite" else _class(name), column.collation)


def _affinity(name: str) -> str:
    """SQLite's rules (https://www.sqlite.org/datatype3.html, 3.1); all numbers compare alike."""
    if "INT" in name:
        return "number"
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return "text"
    if "BLOB" in name or not name:
        return "blob"
    return "number"


def _class(name: str) -> str:
    bare = _ARGUMENTS.sub("", name).strip()
    if bare in _INTEGERS:
        return "integer"
    return "text" if bare in _TEXTS else bare if "(" not in name else name


def literal_fits(kind: Kind | None, literal: exp.Expr, dialect: str) -> bool:
    """Whether `column = literal` leaves one value of the column, under the column's equality.

    SQLite converts the literal to the column, never the column to the literal.
    """
    if kind is None:
        return False
    if dialect == "sqlite":
        return True
    if isinstance(literal, exp.Neg):
        literal = literal.this
    if not isinstance(literal, exp.Literal):
        return False
    return kind.type == ("text" if literal.is_string else "integer") and kind.collation is None


def own_parts(expression: exp.Expr) -> Iterator[exp.Expr]:
    """The expression and its parts, without going into subqueries (these are yielded whole)."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, exp.Query):
            stack.extend(reversed(list(node.iter_expressions())))


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


_VOLATILE = (exp.Rand, exp.Randn, exp.Uuid)
_VOLATILE_NAMES = frozenset({"random", "randomblob", "nextval", "gen_random_uuid", "setseed"})


def is_volatile(expression: exp.Expr) -> bool:
    """Whether evaluating it twice may give two values."""
    return any(
        isinstance(part, _VOLATILE)
        or (isinstance(part, exp.Anonymous) and part.name.lower() in _VOLATILE_NAMES)
        for part in expression.walk()
    )
