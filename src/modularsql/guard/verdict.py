"""From findings to one word (the table in docs/interfaces.md)."""

from collections.abc import Sequence

from modularsql.records import Failure, FailureKind, Finding, Severity, Verdict

_RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}


def remaining(findings: Sequence[Finding], applied: Sequence[str]) -> list[Finding]:
    """The findings that no applied repair has answered."""
    return [f for f in findings if not any(repair.name in applied for repair in f.repairs)]


def loudest(findings: Sequence[Finding]) -> Severity | None:
    """The highest severity among findings, None when there are none."""
    return max((f.severity for f in findings), key=_RANK.__getitem__, default=None)


def reaches(severity: Severity | None, bar: Severity) -> bool:
    """Whether a severity is at or above the bar."""
    return severity is not None and _RANK[severity] >= _RANK[bar]


def verdict(
    findings: Sequence[Finding], applied: Sequence[str], failure: Failure | None, unsure: bool
) -> Verdict:
    """`unsure`: the query was not run, or not all of it analysed (it does not parse, for one)."""
    if failure is not None and failure.kind != FailureKind.UNBOUND:
        # Also where the finding about it was allowed: there is no result to pass.
        return Verdict.REFUSE if failure.kind == FailureKind.REFUSED else Verdict.ANNOTATE
    left = loudest(remaining(findings, applied))
    if reaches(left, Severity.WARNING):
        return Verdict.ANNOTATE
    if applied:
        return Verdict.REPAIR
    if unsure:
        return Verdict.UNDECIDED
    return Verdict.PASS if left is None else Verdict.ANNOTATE
