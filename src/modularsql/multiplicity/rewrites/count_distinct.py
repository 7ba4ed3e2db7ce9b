"""COUNT of repeated rows becomes COUNT(DISTINCT …) of their key."""

from sqlglot import exp

from modularsql.multiplicity.aggregates import is_distinct, measured
from modularsql.multiplicity.model import Block, Source
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import Edit, Promise, Rewritten, call
from modularsql.multiplicity.rewrites.identity import key_of
from modularsql.records import Evidence
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def count_distinct(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Count each row of the measured table once. Promises the number of its rows in each group.

    COUNT(key) becomes COUNT(DISTINCT key). COUNT of another value, which rows may share, becomes
    COUNT(DISTINCT CASE WHEN value IS NOT NULL THEN key END).
    """
    node = issue.node
    one = next((a for a in issue.block.aggregates if a.node is node), None)
    if not isinstance(node, exp.Count) or one is None or one.argument is None or is_distinct(one):
        return Declined(reason="it counts no value")
    place = call(statement, node)
    if place is None:
        return Declined(reason="its place in the text is not known")
    start, end = statement.tokens[place[0]].end + 1, statement.tokens[place[1]].start
    sources = measured(issue.block, one)
    grade = _is_key(issue.block, node.this)
    if grade is not None:
        text = statement.text[:start] + "DISTINCT " + statement.text[start:]
        return Edit(text, Promise.GROUPS, grade)
    key = _single_key(sources[0], dialect) if len(sources) == 1 else None
    if key is None:
        return Declined(reason="its table has no key of one column to count by")
    name, grade = key
    counted = f"DISTINCT CASE WHEN {statement.text[start:end]} IS NOT NULL THEN {name} END"
    if not isinstance(node.this, exp.Column):
        counted = f"DISTINCT CASE WHEN ({statement.text[start:end]}) IS NOT NULL THEN {name} END"
    text = statement.text[:start] + counted + statement.text[end:]
    return Edit(text, Promise.GROUPS, grade)


def _is_key(block: Block, counted: exp.Expr) -> Evidence | None:
    found = block.columns.get(id(counted))
    return found[0].relation.is_key(found[2]) if found is not None else None


def _single_key(source: Source, dialect: str) -> tuple[str, Evidence] | None:
    key = key_of(source, dialect)
    return (key.columns[0], key.evidence) if key is not None and len(key.columns) == 1 else None
