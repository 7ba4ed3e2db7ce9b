"""No rows, although the tables hold some."""

from modularsql.guard import findings as say
from modularsql.guard.emptiness import why_empty
from modularsql.guard.session import Purse, Session
from modularsql.pipeline.checkers.base import Case
from modularsql.records import Finding, Severity
from modularsql.rows import Rows

_SECONDS = 2.0
# What a right query may well do: rows that match nothing, groups that are too small.
_MAY_BE_RIGHT = frozenset({"having", "limit", "join", "table"})


def result(case: Case) -> str | None:
    """The condition that no row meets, and values near the one it names; nothing where the
    data just has no such rows: a join without partners, a group too small, an empty table."""
    if not isinstance(case.outcome, Rows) or case.query is None or not _is_empty(case.outcome):
        return None
    session = Session(engine=case.engine, params=None, limits=case.limits)
    purse = Purse(session=session, end=session.clock() + _SECONDS)
    bare = Finding(rule=say.EMPTY, severity=Severity.INFO, message="")
    found = why_empty(bare, case.query, purse, case.values)
    if not found.message or found.measured.get("kind") in _MAY_BE_RIGHT:
        return None
    return (
        f"{found.message} Spell a value as the data does (see the schema), or look for it in "
        "another column."
    )


def _is_empty(rows: Rows) -> bool:
    """No row, or the one row of NULLs that an aggregate makes of no row."""
    return not rows.rows or (len(rows.rows) == 1 and all(cell is None for cell in rows.rows[0]))
