"""A condition that compares a table with itself compares it with the table that was meant."""

from modularsql.multiplicity.model import Source
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import Edit, Promise, Rewritten, spliced
from modularsql.multiplicity.rules.facts.misnamed import Misnamed, misnamed
from modularsql.records import Evidence
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def correct_alias(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """`r.post = r.id` becomes `r.post = p.id`, if exactly one such reading is a foreign key.

    Promises what a join over that key returns: another answer than before.
    """
    found: dict[tuple[int, str, int, str], Misnamed] = {}
    readings = list(misnamed(issue.block, issue.node))
    if not readings:
        return Declined(reason="no condition compares a table with itself")
    for one in readings:
        if _refers(one.kept, one.other) or _refers(one.other, one.kept):
            found.setdefault((id(one.kept[0]), one.kept[1], id(one.other[0]), one.other[1]), one)
    if len(found) != 1:
        return Declined(reason=f"{len(found) or 'no'} foreign keys fit one of its names")
    (one,) = found.values()
    alias = one.column.args.get("table")
    if alias is None or "start" not in alias.meta:
        return Declined(reason="the place of the name is not known")
    meant = one.other[0].qualifier.sql(dialect=dialect)
    cut = (alias.meta["start"], alias.meta["end"] + 1, meant)
    # That the tables belong together this way is likely, no more.
    return Edit(spliced(statement.text, [cut]), Promise.ANSWER, Evidence.OBSERVED)


def _refers(child: tuple[Source, str], parent: tuple[Source, str]) -> bool:
    (source, name), (target, its) = child, parent
    if source.table is None or target.table is None:
        return False
    return any(
        key.resolved
        and key.refers_to(target.table)
        and [c.casefold() for c in key.columns] == [name]
        and [c.casefold() for c in key.target_columns] == [its]
        for key in source.table.foreign_keys
    )
