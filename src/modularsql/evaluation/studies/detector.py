"""The probe as a detector of wrong answers: flags by reason, precision, recall of the blind spot.

Definitions of the paper's tables 9, 11 and 12: a flag is true where Multiset-EX fails; recall is
the share of answers right as a set and wrong as a multiset (MBS) that are flagged.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from modularsql.evaluation.run import Verdict
from modularsql.evaluation.studies.outcomes import TAU_INJECT, right
from modularsql.evaluation.table import Table

REASONS = ("exec_error", "empty_result", "cartesian_explosion")
"""The paper's names, in the order in which its probe asks."""

Systems = Mapping[str, Sequence[Verdict]]


def trigger(verdict: Verdict, tau: float = TAU_INJECT) -> str | None:
    """Why the probe flags an answer (paper, section 3.1); a time-out is an execution error."""
    pred = verdict.record.pred
    if pred.rows is None:
        return None if pred.status == "truncated" else "exec_error"
    if pred.rows == 0:
        return "empty_result"
    ratio = pred.dup_ratio
    return "cartesian_explosion" if ratio is not None and ratio >= max(tau, 1e-12) else None


def flags(systems: Systems) -> Table:
    """Flags by reason, precision and MBS recall of each system (tables 9, 11)."""
    rows = []
    for name, verdicts in systems.items():
        found = [(verdict, reason) for verdict in verdicts if (reason := trigger(verdict))]
        counts = Counter(reason for _, reason in found)
        wrong = sum(not right(verdict) for verdict, _ in found)
        mbs = sum(verdict.mbs for verdict in verdicts)
        seen = sum(verdict.mbs for verdict, _ in found)
        rows.append(
            (
                name,
                len(verdicts),
                *(counts[reason] for reason in REASONS),
                len(found),
                *(wrong, len(found) - wrong, _share(wrong, len(found))),
                *(mbs, seen, _share(seen, mbs)),
            )
        )
    return Table(
        name="detector",
        title="Detector: flags by reason, precision, MBS recall",
        columns=(
            *("system", "n", *REASONS, "flagged", "TP", "FP", "precision"),
            *("MBS", "MBS flagged", "recall"),
        ),
        rows=rows,
        note=f"Probe at dup ratio {TAU_INJECT:g}. TP: flagged and wrong by Multiset-EX.",
    )


def reasons(systems: Systems) -> Table:
    """Precision by trigger reason (table 12)."""
    rows = []
    for name, verdicts in systems.items():
        found = [(reason, verdict) for verdict in verdicts if (reason := trigger(verdict))]
        cells: list[str | None] = []
        for reason in REASONS:
            flagged = [verdict for one, verdict in found if one == reason]
            wrong = sum(not right(verdict) for verdict in flagged)
            share = _share(wrong, len(flagged))
            cells.append(None if share is None else f"{share:.3f} ({wrong}/{len(flagged)})")
        rows.append((name, *cells))
    return Table(
        name="reasons",
        title="Precision by trigger reason",
        columns=("system", *REASONS),
        rows=rows,
    )


def findings(systems: Systems, policy: str) -> Table:
    """What each rule of the analysis says of right, MBS and wrong answers, all systems together."""
    found: Counter[tuple[str, str, str]] = Counter()
    mbs = seen = 0
    for verdict in (verdict for verdicts in systems.values() for verdict in verdicts):
        outcome = next((one for one in verdict.record.guarded if one.policy == policy), None)
        state = "right" if right(verdict) else "MBS" if verdict.mbs else "wrong"
        loud = False
        for rule, severity in set(outcome.found) if outcome else ():
            found[rule, severity, state] += 1
            loud = loud or severity != "info"
        mbs += verdict.mbs
        seen += verdict.mbs and loud
    rows = []
    for rule, severity in sorted({key[:2] for key in found}):
        counts = [found[rule, severity, state] for state in ("right", "MBS", "wrong")]
        rows.append((rule, severity, *counts, _share(sum(counts[1:]), sum(counts))))
    return Table(
        name=f"findings_{policy}",
        title=f"Findings under policy {policy}",
        columns=("rule", "severity", "right", "MBS", "wrong", "precision"),
        rows=rows,
        note=f"A warning or error stands on {seen} of {mbs} MBS answers.",
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
