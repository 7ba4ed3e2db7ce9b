"""Choosing another candidate without a model: rules over what the executions showed."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from modularsql.catalog import Catalog
from modularsql.guard.candidates import Tried
from modularsql.records import RescueOutcome
from modularsql.rows import comparable


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A flagged query and its candidates. `trigger` is the paper's name of what was seen.

    `hint` is what the data set or the user adds to the question; `values` says whether rows may
    be shown to a model; `readings` are other readings of the base query with their results.
    """

    base: Tried
    pool: tuple[Tried, ...]
    trigger: str
    catalog: Catalog
    question: str = ""
    hint: str = ""
    values: bool = True
    allowed: tuple[str, ...] = ()
    readings: tuple[tuple[str, Tried], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What was chosen from the pool; None keeps the base. `outcome` says how it came to that."""

    index: int | None
    outcome: RescueOutcome
    reason: str = ""


def lowest_dup_ratio(case: Case) -> Choice:
    """The healthy candidate with the lowest dup ratio, the first of equals (paper, section 4.4)."""
    healthy = [i for i, tried in enumerate(case.pool) if tried.healthy]
    if not healthy:
        return Choice(index=None, outcome="no_healthy_candidate")
    best = min(healthy, key=lambda i: case.pool[i].dup_ratio)
    ratio = case.pool[best].dup_ratio
    return Choice(index=best, outcome="chosen", reason=f"lowest dup ratio ({ratio:.2f})")


def fewest_findings(case: Case) -> Choice:
    """Ours: the healthy candidate with the fewest warnings and errors; among equals the one whose
    result most candidates agree on; then the first. Where more than half of them return nothing
    either, nothing is the answer."""
    healthy = [i for i, tried in enumerate(case.pool) if tried.healthy]
    if not healthy:
        return Choice(index=None, outcome="no_healthy_candidate")
    results = [result_of(tried) for tried in case.pool]
    empty = sum(tried.probe.status == "empty" for tried in case.pool)
    if case.trigger == "empty_result" and 2 * empty > len(case.pool):
        reason = f"{empty} of {len(case.pool)} candidates return no rows either"
        return Choice(index=None, outcome="kept", reason=reason)
    votes = Counter(results[i] for i in healthy)
    findings = {i: case.pool[i].loud(case.allowed) for i in healthy}
    best = min(healthy, key=lambda i: (findings[i], -votes[results[i]]))
    agreeing = votes[results[best]]
    reason = f"{findings[best]} loud findings, {agreeing} of {len(case.pool)} candidates agree"
    return Choice(index=best, outcome="chosen", reason=reason)


def agreed_by_most(case: Case) -> Choice:
    """Ours, for a query that runs well but for its findings: the result that more than half of the
    candidates return, by the healthy one with the fewest findings; it must have fewer."""
    results = [result_of(tried) for tried in case.pool]
    voted = Counter(result for result in results if result is not None).most_common(1)
    if not voted or 2 * voted[0][1] <= len(results):
        return Choice(index=None, outcome="no_majority")
    (result, votes) = voted[0]
    findings = {
        i: tried.loud(case.allowed)
        for i, tried in enumerate(case.pool)
        if tried.healthy and results[i] == result
    }
    best = min(findings, key=findings.__getitem__, default=None)
    if best is None or result == result_of(case.base):
        return Choice(index=None, outcome="kept")
    if findings[best] >= case.base.loud(case.allowed):
        return Choice(index=None, outcome="kept")
    reason = f"{votes} of {len(results)} candidates agree, with {findings[best]} loud findings"
    return Choice(index=best, outcome="chosen", reason=reason)


def result_of(tried: Tried) -> Hashable:
    """Equal for candidates that return the same rows, order aside; None where there are none.

    Results that a cap cut are compared by what was kept of them.
    """
    if tried.rows is None:
        return None
    return frozenset(Counter(comparable(tried.rows.rows)).items())
