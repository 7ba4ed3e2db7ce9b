"""Which of several readings a question asks for, where the query alone leaves them open.

A rewrite that is one of them carries a doubt, and is only suggested. Where its sign here holds, the
question says that it is the one; without a question none does.
"""

from collections.abc import Callable

from sqlglot import exp

from modularsql.multiplicity.measure import groups_of
from modularsql.multiplicity.question import (
    Question,
    asks_for_different,
    asks_for_most,
    asks_for_so_many,
    asks_for_unmatched,
    asks_of_each,
)
from modularsql.multiplicity.registry import Issue


def _keeps_unmatched(issue: Issue, question: Question) -> bool:
    return asks_for_unmatched(question)


def _asks_for_rows(issue: Issue, question: Question) -> bool:
    """`The 5 latest plays`: LIMIT's number is that of the rows that are ordered, not of values."""
    select = issue.block.select
    limit, order = select.args.get("limit"), select.args.get("order")
    number = limit.expression if limit is not None else None
    if issue.rule != "limit_before_dedup" or not isinstance(number, exp.Literal) or not order:
        return False
    homes = (issue.block.columns.get(id(column)) for column in order.find_all(exp.Column))
    ordered = {name for home in homes if home is not None for name in home[0].called}
    return number.is_int and any(
        asks_for_so_many(question, int(number.this), name) for name in ordered
    )


SETTLES: dict[str, Callable[[Issue, Question], bool]] = {
    "move_filter_to_on": _keeps_unmatched,
    "keep_groups": _keeps_unmatched,
    "remove_distinct": lambda issue, question: (
        _asks_for_rows(issue, question) and not asks_for_different(question)
    ),
    "distinct_after_limit": lambda issue, question: (
        _asks_for_rows(issue, question) and asks_for_different(question)
    ),
    "top_of_group": lambda issue, question: (
        asks_for_most(question)
        and any(asks_of_each(question, group.name) for group in groups_of(issue.block))
    ),
}
"""By rewrite, whether a question asks for what it returns."""


def settled(rewrite: str, issue: Issue, question: Question | None) -> bool:
    """Whether the question says that a rewrite is what is asked for."""
    sign = SETTLES.get(rewrite)
    return question is not None and sign is not None and sign(issue, question)
