"""LIMIT and ORDER BY that do not go together, or LIMIT that does not go with the question."""

from sqlglot import exp

from modularsql.multiplicity.model import Block
from modularsql.multiplicity.question import read_question
from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case

_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()


def order_limit(case: Case) -> str | None:
    """LIMIT without ORDER BY, an order over an aggregate that is not grouped, another number of
    rows than the question names."""
    for block in case.blocks():
        said = _said(block, case)
        if said is not None:
            return said
    return None


def _said(block: Block, case: Case) -> str | None:
    select = block.select
    order = select.args.get("order")
    outermost = select.parent is None
    if order is None:
        if select.args.get("limit") and not block.is_aggregate and outermost:
            return (
                "LIMIT without ORDER BY returns whichever rows come first. Order by what the "
                "question ranks by, or drop LIMIT where it asks for no number of rows."
            )
        return None
    sums = [a for a in order.find_all(exp.AggFunc) if a.find_ancestor(exp.Select) is select]
    if sums and block.group is None and not any(a.find_ancestor(exp.Window) for a in sums):
        return (
            f"ORDER BY {text(sums[0])} without GROUP BY makes one row of the whole table. "
            "Group by what is ranked, or order by the column itself."
        )
    return _other_number(select, case.question) if outermost else None


def _other_number(select: exp.Select, question: str) -> str | None:
    """LIMIT 5 where the question's only numbers are others; LIMIT 1 may be a superlative."""
    limit = select.args.get("limit")
    number = limit.expression.unnest() if limit is not None and limit.expression else None
    if not isinstance(number, exp.Literal) or not number.name.isdigit() or number.name == "1":
        return None
    words = read_question(question)
    if words is None:
        return None
    named = {w for w in words.words if w.isdigit()} | {
        str(_NUMBERS.index(w)) for w in words.words if w in _NUMBERS
    }
    if number.name in named:
        return None
    return (
        f"LIMIT {number.name} returns {number.name} rows, a number that the question does not "
        "name. Take the number it asks for, or drop LIMIT."
    )
