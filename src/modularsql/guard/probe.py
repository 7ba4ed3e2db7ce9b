"""The runtime probe: what one execution shows (paper, section 3.1).

In the paper's order: execution error, empty result, dup ratio at or above tau. Ours besides:
a time-out is told from an error (policy `paper` counts both as err = 1), and `truncated`,
`row_explosion`, `locked` and `probe_skipped` are states that stand beside the status.
"""

import math

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import traverse_scope

from modularsql.catalog import Catalog, Table
from modularsql.guard.counting import Counts
from modularsql.guard.session import Session
from modularsql.records import Failure, FailureKind, Probe
from modularsql.rows import Rows, dup_ratio
from modularsql.sql.parse import Unparsed
from modularsql.sql.statement import Statement

TRUNCATED = "truncated"
EXPLODED = "row_explosion"
LOCKED = "locked"
SKIPPED = "probe_skipped"


TRIGGERS = {  # our probe status: the paper's name for what triggers a rescue
    "error": "exec_error",
    "timeout": "exec_error",
    "empty": "empty_result",
    "duplicates": "cartesian_explosion",
}
OUTVOTED = "outvoted"
"""Ours: a query that the probe finds healthy, with findings that most candidates answer."""
_NO_FAULT_OF_THE_SQL = (FailureKind.REFUSED, FailureKind.LOCKED, FailureKind.UNBOUND)


def trigger_of(probe: Probe | None, failure: Failure | None) -> str | None:
    """What makes a query anomalous (paper, section 3.1), None for a healthy one.

    A query that was refused stays refused: no other one is run in its place.
    """
    if probe is None or (failure is not None and failure.kind in _NO_FAULT_OF_THE_SQL):
        return None
    return TRIGGERS.get(probe.status)


def of_failure(failure: Failure) -> Probe:
    """The probe of a query that gave no rows."""
    return Probe(
        status="timeout" if failure.kind == FailureKind.TIMEOUT else "error",
        states=(LOCKED,) if failure.kind == FailureKind.LOCKED else (),
        error=failure.message,
    )


def of_rows(rows: Rows, counts: Counts | Failure | None, tau: float) -> Probe:
    """The probe of a result. `counts` is none where it could not be counted in time."""
    states = (TRUNCATED,) if rows.truncated else ()
    if not isinstance(counts, Counts):
        known = None if rows.truncated else len(rows.rows)
        return Probe(status="empty" if known == 0 else "ok", states=(*states, SKIPPED), rows=known)
    repeats = is_repetitive(counts, tau)
    return Probe(
        status="empty" if counts.rows == 0 else "duplicates" if repeats else "ok",
        states=states,
        rows=counts.rows,
        distinct_rows=counts.distinct,
        dup_ratio=dup_ratio(counts.rows, counts.distinct),
        distinct_error=counts.error,
        pushed_down=counts.pushed_down,
    )


def is_repetitive(counts: Counts, tau: float) -> bool:
    """Condition (iii): copies make up at least tau of the rows. With tau = 0: any copy does.

    Of an estimate, its upper end has to.
    """
    distinct = math.ceil(counts.distinct * (1 + counts.error))
    return counts.rows > distinct and dup_ratio(counts.rows, distinct) >= tau


def largest_table(statement: Statement, session: Session, at_most: int) -> int | None:
    """Rows of the largest base table that is joined; None where nothing follows from it.

    That is: what `base_tables` says, or no time. Stops as soon as one table is so large that
    `at_most` rows out are no explosion of it.
    """
    tables = base_tables(statement, session.catalog(statement.tree))
    largest = 0 if tables else None
    for table in tables:
        source = exp.table_(table.name, db=table.schema, quoted=True)
        counting = exp.select(exp.Count(this=exp.Star())).from_(source)
        counted = session.probe(counting.sql(dialect=session.engine.dialect))
        if isinstance(counted, Failure):
            return None
        largest = max(largest or 0, int(counted.rows[0][0]))
        if largest >= at_most:
            break
    return largest


def base_tables(statement: Statement, catalog: Catalog) -> list[Table]:
    """The base tables that are joined, in order; none where their rows do not bound those out.

    That is: no join, rows that come from elsewhere too (recursion, table functions), or an unknown
    table.
    """
    tree = statement.tree
    if isinstance(tree, Unparsed) or tree.find(exp.Join) is None or _makes_rows(tree):
        return []
    found = [catalog.table(name, schema) for name, schema in _tables_read(tree)]
    tables = {(table.schema, table.name): table for table in found if table}
    return [] if None in found else [tables[key] for key in sorted(tables)]


def _makes_rows(tree: exp.Expr) -> bool:
    """Whether rows also come from recursion, from functions or from lists."""
    if any(with_.args.get("recursive") for with_ in tree.find_all(exp.With)):
        return True
    if tree.find(exp.Unnest, exp.Lateral, exp.Explode) is not None:
        return True
    return any(not isinstance(table.this, exp.Identifier) for table in tree.find_all(exp.Table))


def _tables_read(tree: exp.Expr) -> set[tuple[str, str | None]]:
    """Names and schemas of the base tables; a CTE hides the table whose name it has."""
    try:
        scopes = traverse_scope(tree)
    except (SqlglotError, RecursionError):
        return set()
    return {
        (source.name, source.db or None)
        for scope in scopes
        for source in scope.sources.values()
        if isinstance(source, exp.Table)
    }
