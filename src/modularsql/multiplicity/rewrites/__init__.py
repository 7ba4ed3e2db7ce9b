"""Repairs as edits of the text, in order of preference (docs/design/multiplicity.md).

A rewrite declines with a reason where its precondition does not hold. Whoever has a database
runs what it wrote and checks what it promises.
"""

from collections.abc import Callable

from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.add_join_predicate import add_join_predicate
from modularsql.multiplicity.rewrites.count_child_key import count_child_key
from modularsql.multiplicity.rewrites.count_distinct import count_distinct
from modularsql.multiplicity.rewrites.distinct_rows import distinct_rows
from modularsql.multiplicity.rewrites.drop_else_zero import drop_else_zero
from modularsql.multiplicity.rewrites.not_in_to_not_exists import not_in_to_not_exists
from modularsql.multiplicity.rewrites.semi_join import semi_join
from modularsql.multiplicity.rewrites.union_to_union_all import union_to_union_all
from modularsql.sql.outermost import Edited
from modularsql.sql.statement import Statement

Rewrite = Callable[[Statement, Issue, str], Edited]

REWRITES: tuple[tuple[str, Rewrite], ...] = (
    ("semi_join", semi_join),
    ("count_distinct", count_distinct),
    ("inject_distinct", distinct_rows),
    ("add_join_predicate", add_join_predicate),
    ("not_in_to_not_exists", not_in_to_not_exists),
    ("drop_else_zero", drop_else_zero),
    ("count_child_key", count_child_key),
    ("union_to_union_all", union_to_union_all),
)
"""Each with the name a finding carries; the dialect is the last argument."""
