"""What the patches and the policies that were tried come to: scores, by difficulty, within flags,
by repair, and how long they take (tables 2, 3, 4, 7, 8, 10; section 4.6)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median, quantiles

from modularsql.evaluation.run import Verdict
from modularsql.evaluation.studies.detector import trigger
from modularsql.evaluation.studies.outcomes import (
    P1_OPEN,
    TAU_INJECT,
    Policy,
    asked,
    effect,
    p1,
    p1_p2,
    untouched,
)
from modularsql.evaluation.table import Table

Systems = Mapping[str, Sequence[Verdict]]
_SHARES = frozenset({"Set-EX", "Multiset-EX", "gain"})


def stages_of(policies: Iterable[str]) -> dict[str, Policy]:
    """The stages to compare, by title: the paper's patches, then what the run tried."""
    return {
        "as predicted": untouched,
        "P1": p1(TAU_INJECT),
        "P1 + P2": p1_p2(),
        **{f"policy {name}": asked(name) for name in policies},
    }


def stages(systems: Systems, policies: Iterable[str]) -> Table:
    """Scores of each system after each stage (tables 2, 3, 7, 10)."""
    rows = []
    for name, verdicts in systems.items():
        for title, policy in stages_of(policies).items():
            found = effect(verdicts, policy)
            rows.append(
                (
                    *(name, title, found.n, _share(found.set_after, found.n)),
                    *(_share(found.after, found.n), found.after, found.fires, found.fixed),
                    *(found.broken, found.net, found.set_after - found.set_before),
                )
            )
    return Table(
        name="stages",
        title="Scores before and after the guard",
        columns=(
            *("system", "stage", "n", "Set-EX", "Multiset-EX", "right", "changed"),
            *("fixed", "broken", "net", "set change"),
        ),
        rows=rows,
        percent=_SHARES,
    )


def by_difficulty(systems: Systems, policies: Iterable[str]) -> Table:
    """Counts of Multiset-EX by difficulty and stage (tables 4, 8), where the set has any."""
    titles = stages_of(policies)
    rows: list[tuple[object, ...]] = []
    for name, verdicts in systems.items():
        if not any(verdict.question.difficulty for verdict in verdicts):
            continue
        strata: dict[str, list[Verdict]] = {}
        for verdict in verdicts:
            strata.setdefault(verdict.question.difficulty or "not said", []).append(verdict)
        for stratum, some in strata.items():
            counts = [effect(some, policy).after for policy in titles.values()]
            rows.append((name, stratum, len(some), *counts))
    return Table(
        name="difficulty",
        title="Right by Multiset-EX, by difficulty and stage",
        columns=("system", "difficulty", "n", *titles),
        rows=rows,
    )


def within_flags(systems: Systems, policies: Iterable[str]) -> Table:
    """What each stage does to the answers that the probe flags (section 4.5)."""
    rows = []
    for name, verdicts in systems.items():
        flagged = [verdict for verdict in verdicts if trigger(verdict)]
        for title, policy in stages_of(policies).items():
            found = effect(flagged, policy)
            share = _share(found.after, found.n)
            rows.append((name, title, found.n, found.after, share, found.fixed, found.broken))
    return Table(
        name="flagged",
        title="Within the flagged answers",
        columns=("system", "stage", "flagged", "right", "Multiset-EX", "fixed", "broken"),
        rows=rows,
        percent=_SHARES,
    )


def by_repair(systems: Systems, policy: str) -> Table:
    """Fixes and breaks of each repair (or several on one answer), all systems together."""
    counts: Counter[tuple[str, str]] = Counter()
    after = asked(policy)
    for verdict in (verdict for verdicts in systems.values() for verdict in verdicts):
        before, now = untouched(verdict), after(verdict)
        if now.fired:
            change = now.multiset_ex - before.multiset_ex
            word = {1: "fixed", -1: "broken", 0: "neither"}[change]
            counts[" + ".join(dict.fromkeys(now.repairs)), word] += 1
    rows = [
        (name, *(counts[name, word] for word in ("fixed", "broken", "neither")))
        for name in sorted({name for name, _ in counts})
    ]
    return Table(
        name=f"repairs_{policy}",
        title=f"Repairs under policy {policy}",
        columns=("repair", "fixed", "broken", "neither"),
        rows=rows,
    )


def latency(systems: Systems, policies: Iterable[str]) -> Table:
    """Milliseconds for the probe, for P1 where it fires, and for the repairs of each policy."""
    verdicts = [verdict for some in systems.values() for verdict in some]
    fires = p1(TAU_INJECT)
    rows = []
    for title, name, chosen in (
        ("probe", P1_OPEN, verdicts),
        ("P1 where it fires", P1_OPEN, [verdict for verdict in verdicts if fires(verdict).fired]),
        *((f"repairs of {name}", name, verdicts) for name in policies),
    ):
        outcomes = [one for v in chosen for one in v.record.guarded if one.policy == name]
        spent = [one.probe_ms if title == "probe" else one.repair_ms for one in outcomes]
        known = [ms for ms in spent if ms is not None]
        if title.startswith("repairs"):
            touched = [one.repair_ms for one in outcomes if one.applied and one.repair_ms]
            rows.append((f"{title}, where it changed something", *_times(touched)))
        rows.append((title, *_times(known)))
    return Table(
        name="latency",
        title="Time of the guard in ms",
        columns=("what", "answers", "median", "p90"),
        rows=rows,
        note="Measured in the run, by worker processes that may have shared their cores.",
    )


def _times(known: Sequence[float]) -> tuple[int, float | None, float | None]:
    if len(known) < 2:
        return len(known), (known[0] if known else None), None
    return len(known), median(known), quantiles(known, n=10)[-1]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
