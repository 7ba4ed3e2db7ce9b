"""Two tables that no condition connects get the one that their foreign key says."""

from modularsql.multiplicity.model import JoinKind, Source
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import (
    Edit,
    Promise,
    Rewritten,
    and_where,
    column,
    spliced,
)
from modularsql.multiplicity.rules.facts.misnamed import misnamed
from modularsql.records import Evidence
from modularsql.sql.clauses import clauses
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def add_join_predicate(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Add `child.fk = parent.key` to WHERE, if exactly one foreign key joins the two.

    Promises what a join over that key returns: another answer than before.
    """
    block = issue.block
    if any(s.kind not in (JoinKind.FIRST, JoinKind.INNER) for s in block.sources):
        return Declined(reason="it has an outer join")
    if len(block.sources) != 2:
        return Declined(reason="which tables to connect is not clear")
    if any(one.kept[1] != one.other[1] for one in misnamed(block, issue.node)):
        return Declined(reason="its condition may name the wrong table")
    paths = _paths(block.sources[0], block.sources[1], dialect)
    paths += _paths(block.sources[1], block.sources[0], dialect)
    if len(paths) != 1:
        return Declined(reason=f"{len(paths) or 'no'} foreign keys connect the tables")
    parts = clauses(statement)
    if parts is None:
        return Declined(reason="its WHERE could not be extended")
    text = spliced(statement.text, and_where(statement, parts, paths[0]))
    # That the tables belong together this way is likely, no more.
    return Edit(text, Promise.ANSWER, Evidence.OBSERVED)


def _paths(child: Source, parent: Source, dialect: str) -> list[str]:
    if child.table is None or parent.table is None:
        return []
    return [
        " AND ".join(
            f"{column(child, ours, dialect)} = {column(parent, theirs, dialect)}"
            for ours, theirs in zip(key.columns, key.target_columns, strict=True)
        )
        for key in child.table.foreign_keys
        if key.resolved and key.refers_to(parent.table)
    ]
