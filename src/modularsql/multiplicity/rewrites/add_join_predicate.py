"""Two tables that no condition connects get the one that their foreign key says."""

from sqlglot import exp

from modularsql.multiplicity.model import JoinKind, Source
from modularsql.multiplicity.registry import Issue
from modularsql.sql.clauses import clauses
from modularsql.sql.outermost import Declined, Edited, outermost
from modularsql.sql.statement import Statement


def add_join_predicate(statement: Statement, issue: Issue, dialect: str) -> Edited:
    """Add `child.fk = parent.key` to WHERE, if exactly one foreign key joins the two.

    Promises what a join over that key returns: another answer than before.
    """
    block = issue.block
    if outermost(statement.tree) is not block.select:
        return Declined(reason="the tables are those of an inner query")
    if any(s.kind not in (JoinKind.FIRST, JoinKind.INNER) for s in block.sources):
        return Declined(reason="it has an outer join")
    if len(block.sources) != 2:
        return Declined(reason="which tables to connect is not clear")
    paths = _paths(block.sources[0], block.sources[1], dialect)
    paths += _paths(block.sources[1], block.sources[0], dialect)
    if len(paths) != 1:
        return Declined(reason=f"{len(paths) or 'no'} foreign keys connect the tables")
    parts = clauses(statement)
    where = block.select.args.get("where")
    if parts is None or (where is not None and isinstance(where.this, exp.Or)):
        return Declined(reason="its WHERE could not be extended")
    lead = " AND " if where is not None else " WHERE "
    return statement.text[: parts.end] + lead + paths[0] + statement.text[parts.end :]


def _paths(child: Source, parent: Source, dialect: str) -> list[str]:
    if child.table is None or parent.table is None:
        return []
    return [
        " AND ".join(
            f"{_column(child, ours, dialect)} = {_column(parent, theirs, dialect)}"
            for ours, theirs in zip(key.columns, key.target_columns, strict=True)
        )
        for key in child.table.foreign_keys
        if key.resolved and key.target.casefold() == parent.table.name.casefold()
    ]


def _column(source: Source, name: str, dialect: str) -> str:
    return exp.column(name, table=source.alias).sql(dialect=dialect)
