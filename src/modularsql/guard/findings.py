"""The findings of the runtime guard, one function each: what was seen, in words and numbers."""

from collections.abc import Sequence
from dataclasses import replace

from modularsql.guard.policy import Policy
from modularsql.records import Evidence, Failure, FailureKind, Finding, Limits, Severity
from modularsql.rows import Rows, distinct_rows
from modularsql.sql.parse import Unparsed

DUPLICATE_ROWS = "duplicate_rows"
UNPARSED = "unparsed"
ROW_EXPLOSION = "row_explosion"
TIMEOUT = "timeout"
DISTINCT_DROPS_ROWS = "distinct_drops_rows"
TRUNCATED = "truncated"
EMPTY = "empty_result"
ROW_LOSS = "row_loss"
NULL_SORTS_FIRST = "null_sorts_first"
REJECTED = "exec_error"
OTHER_DIALECT = "other_dialect"
REJECTIONS = (REJECTED, "refused")
"""What is said of a query that the database does not take."""

Place = tuple[int, int]
"""Line and column, 1-based, in the text as given."""

_FAILURES = {
    FailureKind.ERROR: (REJECTED, "The database rejects the query: {}"),
    FailureKind.LOCKED: ("locked", "The query did not run: {}."),
    FailureKind.REFUSED: ("refused", "Not run: {}."),
    FailureKind.TOO_LARGE: ("too_large", "The query was stopped: {}."),
    FailureKind.DIED: (REJECTED, "The query was stopped: {}."),
}


def failed(failure: Failure, limits: Limits) -> Finding:
    """The query gave no rows."""
    if failure.kind == FailureKind.UNBOUND:
        return Finding(
            rule="not_executed",
            severity=Severity.INFO,
            message=f"Not run: {failure.message}; "
            "give each parameter one value with --param NAME=VALUE.",
        )
    if failure.kind == FailureKind.TIMEOUT:
        message = (
            f"The query was stopped at the time limit of {limits.seconds:g} s; "
            "raise it with --timeout."
        )
        return Finding(rule=TIMEOUT, severity=Severity.ERROR, message=message)
    rule, words = _FAILURES[failure.kind]
    message = words.format(failure.message.rstrip("."))
    return Finding(rule=rule, severity=Severity.ERROR, message=message)


def other_dialect(written_for: str, here: str, because: Sequence[str], *, was_run: bool) -> Finding:
    """The query is written for another database; its translation is its repair."""
    why = f" ({here} has no {' and no '.join(because)})" if because else ""
    return Finding(
        rule=OTHER_DIALECT,
        severity=Severity.WARNING,
        message=f"It reads like {written_for}{why}. Its translation "
        + ("was run in its place." if was_run else f"is what {here} takes; --transpile runs it."),
    )


def not_executed() -> Finding:
    """The caller asked for no execution."""
    return Finding(rule="not_executed", severity=Severity.INFO, message="Not run, as asked.")


def no_sql(reason: str) -> Finding:
    """The text holds nothing to run."""
    return Finding(rule="no_sql", severity=Severity.ERROR, message=f"Nothing to run: {reason}.")


def many_statements(texts: tuple[str, ...]) -> Finding:
    """The text holds several statements; all are shown, none is run."""
    shown = "; ".join(f"({i}) {_short(text)}" for i, text in enumerate(texts, 1))
    return Finding(
        rule="multi_statement",
        severity=Severity.ERROR,
        message=f"Not run: {len(texts)} statements where one is expected: {shown}",
    )


def extracted(how: str, place: Place) -> Finding:
    """The SQL was taken out of other text."""
    return Finding(
        rule="sql_extracted",
        severity=Severity.INFO,
        message=f"The SQL was taken out of the text around it ({how}).",
        line=place[0],
        column=place[1],
    )


def unparsed(problem: Unparsed, place: Place) -> Finding:
    """The database understood the query, our parser did not; `place` is where it stopped."""
    return Finding(
        rule=UNPARSED,
        severity=Severity.INFO,
        message=f"Run and probed, but not analysed: {problem.reason.rstrip('.')}.",
        line=place[0],
        column=place[1],
    )


def syntax(message: str, place: Place) -> Finding:
    """The engine's own parser refuses the text."""
    return Finding(
        rule="syntax",
        severity=Severity.ERROR,
        message=f"{message.rstrip('.')}.",
        line=place[0],
        column=place[1],
    )


def unknown_table(name: str, near: str | None, place: Place) -> Finding:
    """The schema has no such table."""
    return _absent("unknown_table", f"The schema has no table {name}", near, place)


def unknown_column(name: str, near: str | None, place: Place) -> Finding:
    """No table that the name could belong to has such a column."""
    return _absent("unknown_column", f"No table read here has a column {name}", near, place)


def unknown_source(
    name: str, column: str, near: str | None, place: Place, *, is_table: bool
) -> Finding:
    """A column of something that FROM does not list; `is_table`: the schema has such a table."""
    message = f"Nothing that is read here is called {name}, so it has no column {column}"
    if not is_table or near is not None:
        return _absent("unknown_column", message, near, place)
    message = f"{message}: join the table {name} to read it"
    return replace(_absent("unknown_column", message, None, place), tables=(name,))


def ambiguous_column(name: str, homes: Sequence[tuple[str, str]], place: Place) -> Finding:
    """Several tables have the column; `homes` are their names, and what to write for each."""
    tables = [table for table, _ in homes]
    called = ", ".join(tables[:-1]) + " and " + tables[-1]
    return Finding(
        rule="ambiguous_column",
        severity=Severity.ERROR,
        message=f"{called} have a column {name}; write {' or '.join(w for _, w in homes)}.",
        line=place[0],
        column=place[1],
        tables=tuple(dict.fromkeys(tables)),
    )


def _absent(rule: str, message: str, near: str | None, place: Place) -> Finding:
    return Finding(
        rule=rule,
        severity=Severity.ERROR,
        message=f"{message}; did you mean {near}?" if near else f"{message}.",
        line=place[0],
        column=place[1],
        measured={"nearest": near} if near else {},
    )


def empty(place: Place) -> Finding:
    """No row came back: a signal, not a fault (paper, section 3.1)."""
    return Finding(
        rule=EMPTY,
        severity=Severity.INFO,
        message="No row comes back. That may be right; if not, look at the conditions.",
        line=place[0],
        column=place[1],
    )


def row_loss(join: str, tables: tuple[str, str], lost: int, rows: int, place: Place) -> Finding:
    """An inner join to a table of one partner at most leaves rows out.

    `tables` are that one, and what the rows are of.
    """
    table, of = tables
    return Finding(
        rule=ROW_LOSS,
        severity=Severity.INFO,
        message=(
            f"{lost:,} of {rows:,} rows of {of} have no match in {table} and are left out "
            f"({join}); "
            "a LEFT JOIN would keep them."
        ),
        line=place[0],
        column=place[1],
        tables=(table,),
        cause=join,
        measured={"join": join, "rows_before": rows, "rows_after": rows - lost, "lost": lost},
    )


def null_sorts_first(key: str, clause: str, found: tuple[int, int], place: Place) -> Finding:
    """NULL stands on top of what LIMIT keeps; `found`: rows with NULL, of so many kept."""
    nulls, rows = found
    kept = "The row" if rows == 1 else f"{nulls:,} of the {rows:,} rows"
    has = "is kept has" if rows == 1 else f"are kept {'has' if nulls == 1 else 'have'}"
    return Finding(
        rule=NULL_SORTS_FIRST,
        severity=Severity.WARNING,
        message=(
            f"{kept} that {has} NULL in {key}: NULL sorts first here, and rows with a value are "
            f"cut off. If that is not meant, ask for {key} IS NOT NULL{clause}."
        ),
        line=place[0],
        column=place[1],
        measured={"rows": rows, "null_rows": nulls},
    )


def duplicates(
    rows: int, distinct: int, policy: Policy, place: Place, *, error: float = 0.0
) -> Finding:
    """Most rows are copies of another one (condition iii of the paper's probe).

    `error` is that of `distinct` where it is an estimate, as a share of it.
    """
    about, within = ("about ", f" (±{error:.1%}, 95% sure)") if error else ("", "")
    measured = {"rows_before": distinct, "rows_after": rows, "factor": _factor(rows, distinct)}
    return Finding(
        rule=DUPLICATE_ROWS,
        severity=Severity.WARNING,
        message=(
            f"{rows:,} rows come back, {about}{distinct:,} of them distinct{within}: "
            f"{_percent(rows - distinct, rows)} are copies "
            f"(threshold {policy.tau_inject * 100:g}%)."
        ),
        line=place[0],
        column=place[1],
        measured=measured | ({"approximate": True} if error else {}),
    )


def repeated_values(rows: int, distinct: int, why: str, place: Place) -> Finding:
    """The question asks for each value once, and values repeat."""
    return Finding(
        rule="repeated_values",
        severity=Severity.WARNING,
        message=f"{rows:,} rows come back, {distinct:,} of them distinct, but {why}.",
        line=place[0],
        column=place[1],
        measured={"rows_before": distinct, "rows_after": rows, "factor": _factor(rows, distinct)},
    )


def explosion(rows: int, largest: int, place: Place, *, at_least: bool = False) -> Finding:
    """Far more rows out than the largest table read holds; `at_least`: not all were counted."""
    return Finding(
        rule=ROW_EXPLOSION,
        severity=Severity.WARNING,
        message=(
            f"{rows:,} rows {'or more ' * at_least}come back although the largest table read has "
            f"{largest:,}: "
            f"the joins multiply rows by {_times(rows, largest)} or more. Is a join "
            "condition missing?"
        ),
        line=place[0],
        column=place[1],
        measured={
            "rows_before": largest,
            "rows_after": rows,
            "factor": _factor(rows, largest),
            **({"at_least": True} if at_least else {}),
        },
    )


def explosion_ahead(most: float, largest: float, place: Place) -> Finding:
    """Far more rows are expected than the largest table read has, by the engine's estimates."""
    factor = most / max(1.0, largest)
    return Finding(
        rule=ROW_EXPLOSION,
        severity=Severity.INFO,
        evidence=Evidence.ASSUMED,
        message=(
            f"The database expects about {roughly(most)} rows where the largest table read has "
            f"about {roughly(largest)}: {roughly(factor)} times as many, by its estimates. "
            "Is a join condition missing?"
        ),
        line=place[0],
        column=place[1],
        measured={
            "rows_before": round(largest),
            "rows_after": round(most),
            "factor": round(factor, 4),
            "approximate": True,
        },
    )


def roughly(number: float) -> str:
    """An estimate for reading: three digits of it."""
    digits = len(str(round(number)))
    return f"{round(number, min(0, 3 - digits)):,.0f}"


def truncated(kept: int, total: int | None, limits: Limits) -> Finding:
    """A cap cut the rows that are kept; `total` is None where the budget did not suffice."""
    of = f"of {total:,} " if total is not None else ""
    return Finding(
        rule=TRUNCATED,
        severity=Severity.INFO,
        message=(
            f"The first {kept:,} {of}rows are kept "
            f"(limits: {limits.max_rows:,} rows, {limits.max_bytes:,} bytes)."
        ),
    )


def skipped(why: str, rows: Rows) -> Finding:
    """The duplicates of a result were not counted; what the rows show that were kept of it."""
    kept, distinct = len(rows.rows), len(distinct_rows(rows.rows))
    seen = f" Of {kept:,} rows at hand {distinct:,} are distinct." if kept else ""
    return Finding(
        rule="probe_skipped",
        severity=Severity.INFO,
        message=f"Duplicates were not counted: {why}.{seen}",
        measured={"not_measured": why},
    )


def distinct_drops(kept: int, all_rows: int, place: Place) -> Finding:
    """DISTINCT drops so few rows that it is more likely to melt things together (P2)."""
    return Finding(
        rule=DISTINCT_DROPS_ROWS,
        severity=Severity.INFO,
        message=(
            f"DISTINCT drops {all_rows - kept:,} of {all_rows:,} rows: so few copies are more "
            "likely different things with equal values than repeated rows."
        ),
        line=place[0],
        column=place[1],
        measured={"rows_before": all_rows, "rows_after": kept, "factor": _factor(kept, all_rows)},
    )


def _factor(after: int, before: int) -> float:
    return round(after / before, 4)


def _times(after: int, before: int) -> str:
    """Rounded down, as it goes with "or more"."""
    tenths = after * 10 // before
    return f"{tenths // 10:,}" if tenths >= 1_000 else f"{tenths / 10:g}"


def _percent(part: int, whole: int) -> str:
    """Rounded down: what is not all must not read 100%, nor what is below a threshold reach it."""
    return f"{part * 1000 // whole / 10:.1f}%"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 80 else flat[:77] + "..."


RUNTIME_RULES = {
    "duplicate_rows": "Most rows are copies of another one (the paper's rule).",
    "row_explosion": "Far more rows come back than the largest table read holds.",
    "repeated_values": "The question asks for each value once, and values repeat.",
    "distinct_drops_rows": "DISTINCT drops so few rows that it may melt different things together.",
    "empty_result": "No row comes back; which table, join or condition took the last ones away.",
    "row_loss": "An inner join that only looks something up leaves out rows without a match.",
    "null_sorts_first": "LIMIT keeps rows with NULL in their sort key, which sorts first here.",
    "truncated": "A cap cut the rows that are kept.",
    "probe_skipped": "Duplicates were not counted: it would take longer than it may.",
    "exec_error": "The database rejects the query.",
    "other_dialect": "The query is rejected here, and reads as one for another database.",
    "timeout": "The query ran into the time limit.",
    "locked": "Another program held a lock for the whole time limit.",
    "refused": "The query would do more than read.",
    "too_large": "A cell or the engine's memory passed its cap.",
    "multi_statement": "The text holds several statements; none is run.",
    "no_sql": "The text holds nothing to run.",
    "sql_extracted": "The SQL was taken out of other text.",
    "unparsed": "The database understood the query, our parser did not.",
    "syntax": "The engine's own parser refuses the text (`check` of SQLite and DuckDB).",
    "unknown_table": "A table that the schema file does not have (`check`).",
    "unknown_column": "A column that no table read there has, by the schema file (`check`).",
    "ambiguous_column": "A column that several of the tables read there have (`check`).",
    "not_executed": "The query was not run: as asked, or for want of parameter values.",
}
"""What the guard itself says, by rule, in one line each."""
