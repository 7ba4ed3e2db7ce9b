"""SELECT without its DISTINCT: where that changes nothing, and where it chooses other rows."""

from modularsql.multiplicity.grain import returned
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import Edit, Promise, Rewritten
from modularsql.records import Evidence
from modularsql.sql import outermost
from modularsql.sql.outermost import Declined, is_cut
from modularsql.sql.statement import Statement


def remove_distinct(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Promises the same rows where a key keeps them apart, else the rows that LIMIT then cuts."""
    text = outermost.remove_distinct(statement, dialect)
    if isinstance(text, Declined):
        return text
    block = issue.block
    if not is_cut(block.select):
        if issue.rule == "needless_distinct":
            sure = issue.evidence == Evidence.ENFORCED
            doubt = "" if sure else "nothing enforces the key, and later data may hold copies"
            return Edit(text, Promise.ROWS, issue.evidence, doubt=doubt)
        return Declined(reason="DISTINCT takes copies away that a join has made")
    if block.rows.is_key(returned(block)) is not None:
        return Declined(reason="LIMIT may cut other rows of the same rank")
    return Edit(text, Promise.ANSWER, doubt="the first rows may be wanted, or the first values")
