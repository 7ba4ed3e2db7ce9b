"""DISTINCT on a SELECT, where a join repeats its rows."""

from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import Edit, Promise, Rewritten
from modularsql.records import Evidence
from modularsql.sql.outermost import Declined, add_distinct
from modularsql.sql.statement import Statement


def inject_distinct(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """The paper's P1 edit, for a finding that names the join. Promises the same set of rows.

    That it drops nothing but copies is for the data to say: two things may look the same.
    """
    text = add_distinct(statement, dialect)
    if isinstance(text, Declined):
        return text
    return Edit(text, Promise.SET, Evidence.OBSERVED)
