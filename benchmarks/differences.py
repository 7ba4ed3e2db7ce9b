"""How a wrong query differs from gold: the paper's classes of errors (RQ10), told by the trees.

The first class in this order that differs names the error; the paper's were read by hand.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

import sqlglot
from sqlglot import exp

from modularsql.catalog import Catalog
from modularsql.pipeline.names_used import names_used

Parts = Callable[[exp.Expr], Iterable[str]]


def error_kind(sql: str, gold: str, catalog: Catalog) -> str:
    """The class of what is wrong with a query that does not return what gold returns."""
    if names_used(sql, catalog) != names_used(gold, catalog):
        return "schema: selection"
    mine, wanted = (sqlglot.parse_one(text, dialect=catalog.dialect) for text in (sql, gold))
    for kind, parts in _KINDS.items():
        if Counter(parts(mine)) != Counter(parts(wanted)):
            return kind
    return "logic: presentation"


def _joins(tree: exp.Expr) -> Iterator[str]:
    """What is equated: each side by its column, so that aliases make no difference."""
    for equal in tree.find_all(exp.EQ):
        sides = (equal.this, equal.expression)
        if all(isinstance(side, exp.Column) for side in sides):
            yield " = ".join(sorted(side.name.casefold() for side in sides))


def _format(value: str) -> str:
    return "".join(c for c in value.casefold() if c.isalnum())


def _literals(tree: exp.Expr) -> Iterator[exp.Literal]:
    return tree.find_all(exp.Literal)


def _named(*kinds: type[exp.Expr]) -> Parts:
    def names(tree: exp.Expr) -> Iterator[str]:
        # sqlglot calls AND and OR functions.
        found = (node for node in tree.find_all(*kinds) if not isinstance(node, exp.Connector))
        return (type(node).__name__ for node in found)

    return names


def _filters(tree: exp.Expr) -> Iterator[str]:
    for clause in tree.find_all(exp.Where, exp.Having):
        yield from (type(node).__name__ for node in clause.walk())


_KINDS: Mapping[str, Parts] = {
    "schema: join": _joins,
    "value: mapping": lambda tree: (_format(one.name) for one in _literals(tree)),
    "value: format": lambda tree: (one.sql() for one in _literals(tree)),
    "function: aggregation": _named(exp.AggFunc),
    "function: calculation": _named(exp.Func, exp.Add, exp.Sub, exp.Mul, exp.Div),
    "logic: filter": _filters,
}


def jaccard(one: str, other: str) -> float:
    """The share of tokens that two queries have in common, of those that either has."""
    left, right = (set(text.casefold().split()) for text in (one, other))
    return len(left & right) / len(left | right) if left | right else 1.0
