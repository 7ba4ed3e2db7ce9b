"""`SELECT *` where the question asks for something in particular."""

from sqlglot import exp

from modularsql.multiplicity.question import read_question
from modularsql.pipeline.checkers.base import Case

_ALL = frozenset("all everything inform detail column field record entir whole full".split())


def select(case: Case) -> str | None:
    """A wildcard in the outermost SELECT, unless the question wants all there is."""
    query = case.query
    if query is None or query.block is None or not _has_star(query.block.select):
        return None
    question = read_question(case.question)
    if question is not None and not _ALL.isdisjoint(question.stems):
        return None
    return "SELECT * returns every column. Name those that the question asks for, and no others."


def _has_star(select: exp.Select) -> bool:
    return any(
        isinstance(item, exp.Star)
        or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))
        for item in select.expressions
    )
