"""The runtime probe: what one execution shows (paper, section 3.1).

In the paper's order: execution error, empty result, dup ratio at or above tau. Ours besides:
a time-out is told from an error (policy `paper` counts both as err = 1), and `truncated`,
`row_explosion`, `locked` and `probe_skipped` are states that stand beside the status.
"""

from sqlglot import exp

from modularsql.guard.session import Counts, Session
from modularsql.records import Failure, FailureKind, Probe
from modularsql.rows import Rows, dup_ratio
from modularsql.sql.parse import Unparsed
from modularsql.sql.statement import Statement

TRUNCATED = "truncated"
EXPLODED = "row_explosion"
LOCKED = "locked"
SKIPPED = "probe_skipped"


def of_failure(failure: Failure) -> Probe:
    """The probe of a query that gave no rows."""
    return Probe(
        status="timeout" if failure.kind == FailureKind.TIMEOUT else "error",
        states=(LOCKED,) if failure.kind == FailureKind.LOCKED else (),
        error=failure.message,
    )


def of_rows(rows: Rows, counts: Counts | None, tau: float) -> Probe:
    """The probe of a result. `counts` is None where the budget did not suffice to count."""
    states = (TRUNCATED,) if rows.truncated else ()
    if counts is None:
        known = None if rows.truncated else len(rows.rows)
        return Probe(status="empty" if known == 0 else "ok", states=(*states, SKIPPED), rows=known)
    ratio = dup_ratio(counts.rows, counts.distinct)
    return Probe(
        status="empty" if counts.rows == 0 else "duplicates" if ratio >= tau else "ok",
        states=states,
        rows=counts.rows,
        distinct_rows=counts.distinct,
        dup_ratio=ratio,
        pushed_down=counts.pushed_down,
    )


def largest_table(statement: Statement, session: Session, at_most: int) -> int | None:
    """Rows of the largest base table the query names; None when unknown or not worth counting.

    Stops as soon as one table is so large that `at_most` rows out are no explosion of it.
    """
    if isinstance(statement.tree, Unparsed):
        return None
    catalog = session.engine.catalog()
    names = {(t.name, t.db or None) for t in statement.tree.find_all(exp.Table) if t.name}
    tables = {table for name, db in names if (table := catalog.table(name, db))}
    largest = None
    for table in sorted(tables, key=lambda t: (t.schema, t.name)):
        source = exp.table_(table.name, db=table.schema, quoted=True)
        counting = exp.select(exp.Count(this=exp.Star())).from_(source)
        counted = session.run(counting.sql(dialect=session.engine.dialect))
        if isinstance(counted, Failure):
            return None
        largest = max(largest or 0, int(counted.rows[0][0]))
        if largest >= at_most:
            break
    return largest
