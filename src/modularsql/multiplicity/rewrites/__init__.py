"""Repairs as edits of the text, in order of preference (docs/design/multiplicity.md).

A rewrite declines with a reason where its precondition does not hold, else it says what it
promises. Whoever has a database runs what it wrote and checks that.
"""

from collections.abc import Callable

from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.add_join_predicate import add_join_predicate
from modularsql.multiplicity.rewrites.aggregate_before_join import aggregate_before_join
from modularsql.multiplicity.rewrites.correct_alias import correct_alias
from modularsql.multiplicity.rewrites.count_child_key import count_child_key
from modularsql.multiplicity.rewrites.count_distinct import count_distinct
from modularsql.multiplicity.rewrites.distinct_after_limit import distinct_after_limit
from modularsql.multiplicity.rewrites.distinct_source import distinct_source
from modularsql.multiplicity.rewrites.drop_else_zero import drop_else_zero
from modularsql.multiplicity.rewrites.drop_outer_join import drop_outer_join
from modularsql.multiplicity.rewrites.edits import Rewritten
from modularsql.multiplicity.rewrites.group_bare_columns import group_bare_columns
from modularsql.multiplicity.rewrites.inject_distinct import inject_distinct
from modularsql.multiplicity.rewrites.keep_groups import keep_groups
from modularsql.multiplicity.rewrites.move_filter_to_on import move_filter_to_on
from modularsql.multiplicity.rewrites.not_in_to_not_exists import not_in_to_not_exists
from modularsql.multiplicity.rewrites.remove_distinct import remove_distinct
from modularsql.multiplicity.rewrites.semi_join import semi_join
from modularsql.multiplicity.rewrites.split_chasm import split_chasm
from modularsql.multiplicity.rewrites.top_of_group import top_of_group
from modularsql.multiplicity.rewrites.union_all_to_union import union_all_to_union
from modularsql.multiplicity.rewrites.union_to_union_all import union_to_union_all
from modularsql.sql.clauses import within
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement

Rewrite = Callable[[Statement, Issue, str], Rewritten]

REWRITES: tuple[Rewrite, ...] = (
    semi_join,
    drop_outer_join,
    count_distinct,
    split_chasm,
    aggregate_before_join,
    inject_distinct,
    remove_distinct,
    distinct_after_limit,
    correct_alias,
    add_join_predicate,
    not_in_to_not_exists,
    drop_else_zero,
    count_child_key,
    union_to_union_all,
    union_all_to_union,
    move_filter_to_on,
    keep_groups,
    top_of_group,
    group_bare_columns,
    distinct_source,
)
"""Each is called by its name in findings. It is given the statement with the tree and the tokens
of the issue's SELECT only, in the whole text; the dialect is the last argument."""


def rewritten(rewrite: Rewrite, statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """The statement with one of its SELECTs rewritten, the outermost or one inside."""
    part = within(statement, issue.block.select)
    if part is None:
        return Declined(reason="its SELECT was not found in the text")
    return rewrite(part, issue, dialect)
