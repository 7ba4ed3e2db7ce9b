"""The findings of the runtime guard, one function each: what was seen, in words and numbers."""

from modularsql.guard.policy import Policy
from modularsql.records import Failure, FailureKind, Finding, Limits, Severity
from modularsql.rows import dup_ratio
from modularsql.sql.parse import Unparsed

DUPLICATE_ROWS = "duplicate_rows"
DISTINCT_DROPS_ROWS = "distinct_drops_rows"

Place = tuple[int, int]
"""Line and column, 1-based, in the text as given."""

_FAILURES = {
    FailureKind.ERROR: ("exec_error", "The database rejects the query: {}"),
    FailureKind.TIMEOUT: ("timeout", "The query was stopped: {}."),
    FailureKind.LOCKED: ("locked", "The query did not run: {}."),
    FailureKind.REFUSED: ("refused", "Not run: {}."),
    FailureKind.TOO_LARGE: ("too_large", "The query was stopped: {}."),
    FailureKind.DIED: ("exec_error", "The query was stopped: {}."),
}


def failed(failure: Failure, limits: Limits) -> Finding:
    """The query gave no rows."""
    if failure.kind == FailureKind.UNBOUND:
        return Finding(
            rule="not_executed",
            severity=Severity.INFO,
            message="Not run: it has parameters without values; give each with --param.",
        )
    rule, words = _FAILURES[failure.kind]
    message = words.format(failure.message.rstrip("."))
    if failure.kind == FailureKind.TIMEOUT:
        message += f" The limit is {limits.seconds:g} s for a query and its probes."
    return Finding(rule=rule, severity=Severity.ERROR, message=message)


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
    """The database understood the query, our parser did not."""
    return Finding(
        rule="unparsed",
        severity=Severity.INFO,
        message=f"Run and probed, but not analysed: {problem.reason.rstrip('.')}.",
        line=place[0] + problem.line - 1,
        column=problem.column + (place[1] - 1 if problem.line == 1 else 0),
    )


def empty(place: Place) -> Finding:
    """No row came back: a signal, not a fault (paper, section 3.1)."""
    return Finding(
        rule="empty_result",
        severity=Severity.INFO,
        message="No row comes back. That may be right; if not, look at the conditions.",
        line=place[0],
        column=place[1],
    )


def duplicates(rows: int, distinct: int, policy: Policy, place: Place) -> Finding:
    """Most rows are copies of another one (condition iii of the paper's probe)."""
    return Finding(
        rule=DUPLICATE_ROWS,
        severity=Severity.WARNING,
        message=(
            f"{rows:,} rows come back, {distinct:,} of them distinct: "
            f"{dup_ratio(rows, distinct):.1%} are copies (threshold {policy.tau_inject:.0%})."
        ),
        line=place[0],
        column=place[1],
        measured={"rows_before": distinct, "rows_after": rows, "factor": _factor(rows, distinct)},
    )


def explosion(rows: int, largest: int, place: Place) -> Finding:
    """Far more rows out than the largest table read holds."""
    return Finding(
        rule="row_explosion",
        severity=Severity.WARNING,
        message=(
            f"{rows:,} rows come back although the largest table read has {largest:,}: "
            f"the joins multiply rows by {_factor(rows, largest):,.4g} or more. Is a join "
            "condition missing?"
        ),
        line=place[0],
        column=place[1],
        measured={"rows_before": largest, "rows_after": rows, "factor": _factor(rows, largest)},
    )


def truncated(kept: int, total: int | None, limits: Limits) -> Finding:
    """A cap cut the rows that are kept; `total` is None where the budget did not suffice."""
    of = f"of {total:,} " if total is not None else ""
    return Finding(
        rule="truncated",
        severity=Severity.INFO,
        message=(
            f"The first {kept:,} {of}rows are kept "
            f"(limits: {limits.max_rows:,} rows, {limits.max_bytes:,} bytes)."
        ),
    )


def skipped() -> Finding:
    """The budget ended before the duplicates of a large result were counted."""
    return Finding(
        rule="probe_skipped",
        severity=Severity.INFO,
        message="Duplicates were not counted: the time limit ran out; raise it with --timeout.",
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
    return round(after / before, 4) if before else float(after)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 80 else flat[:77] + "..."
