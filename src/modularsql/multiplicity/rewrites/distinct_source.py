"""A table whose rows are stored twice is read without the copies."""

from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import Edit, Promise, Rewritten
from modularsql.records import Evidence
from modularsql.sql.clauses import clauses
from modularsql.sql.named import table_alias
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def distinct_source(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """The table becomes SELECT DISTINCT * over it. Promises the same groups.

    Equal rows may be two events, and the data should be mended, so it is only a suggestion.
    """
    block, parts = issue.block, clauses(statement)
    source = next((s for s in block.sources if s in issue.entity), None)
    if source is None or parts is None or len(parts.items) != len(block.sources):
        return Declined(reason="its FROM clause could not be taken apart")
    span = parts.items[block.sources.index(source)].table
    # The name without the alias: the parser says where it ends.
    alias = source.node.args.get("alias")
    named = {id(p) for p in alias.walk()} if alias is not None else set()
    ends = [p.meta["end"] for p in source.node.walk() if "end" in p.meta and id(p) not in named]
    if not ends:
        return Declined(reason="the place of the table is not known")
    name = statement.text[span.start : max(ends) + 1]
    called = table_alias(source.qualifier.sql(dialect=dialect), dialect)
    derived = f"(SELECT DISTINCT * FROM {name}){called}"
    return Edit(
        statement.text[: span.start] + derived + statement.text[span.end :],
        Promise.GROUPS,
        Evidence.OBSERVED,
        doubt="equal rows may be different events, and it is the stored data that needs mending",
    )
