"""Bound values in a tree: a probe asks a part of a query, and takes its own values along.

The database binds by the whole text, of which a probe has only some placeholders; so each keeps
its value with it, and a probe is written with the values as literals.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from modularsql.records import Params

_MARK = "bound_value_{}_"
_FOUND = re.compile(r"bound_value_(\d+)_")


def bind(tree: exp.Expr, params: Params, dialect: str) -> None:
    """Note at each placeholder the value that is bound to it, where it can be written."""
    if not params:
        return
    marks = _marks(tree)
    if isinstance(params, Mapping):
        values = [params.get(_name(m), ...) for m in marks]
    elif all(_name(mark).isdigit() for mark in marks):
        values = [_at(params, int(_name(mark)) - 1) for mark in marks]
    else:
        places = _in_text_order(tree, dialect)
        values = [_at(params, places.index(i)) if i in places else ... for i in range(len(marks))]
    for mark, value in zip(marks, values, strict=True):
        if _can_be_written(value):
            mark.meta["bound"] = (value,)


def bound_value(node: exp.Expr) -> tuple[Any] | None:
    """The value bound to a placeholder, in a tuple; None where it has none."""
    found: tuple[Any] | None = node.meta.get("bound")
    return found


def written_out(tree: exp.Expr, dialect: str) -> str:
    """The text of a probe, with bound values as literals."""
    if any(map(bound_value, _marks(tree))):
        tree = tree.copy()
        for mark in _marks(tree):
            if (value := bound_value(mark)) is not None:
                mark.replace(exp.convert(value[0]))
    return tree.sql(dialect=dialect, comments=False)


def _marks(tree: exp.Expr) -> list[exp.Expr]:
    return list(tree.find_all(exp.Placeholder, exp.Parameter))


def _name(mark: exp.Expr) -> str:
    return mark.this.name if isinstance(mark.this, exp.Expr) else str(mark.this or "")


def _at(params: Sequence[Any], number: int) -> Any:
    return params[number] if 0 <= number < len(params) else ...


def _can_be_written(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int)


def _in_text_order(tree: exp.Expr, dialect: str) -> list[int]:
    """Numbers of the placeholders, as found in the tree, in the order of the text."""
    copy = tree.copy()
    for number, mark in enumerate(_marks(copy)):
        mark.replace(exp.column(_MARK.format(number)))
    return [int(number) for number in _FOUND.findall(copy.sql(dialect=dialect, comments=False))]
