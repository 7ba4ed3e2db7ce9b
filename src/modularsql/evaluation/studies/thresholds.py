"""Thresholds: sweeps over the log (tables 5, 6), and whether a choice holds on other databases.

Leave-one-database-out: the threshold is held, or picked anew on the other databases; the net of
the databases left out is what a choice is worth (paper, section 4.6 and appendix A).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from modularsql.config import Settings
from modularsql.evaluation.log import Guarded
from modularsql.evaluation.run import Run, Verdict
from modularsql.evaluation.studies.outcomes import (
    GRAIN_OPEN,
    P1_OPEN,
    P2_OPEN,
    TAU_INJECT,
    TAU_REMOVE,
    outcome,
    right,
)
from modularsql.evaluation.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A patch with a threshold: it fires at or above it, or at or below.

    `outcome` is its name in the log without a threshold, which is the same as `none`. `grid` are
    the thresholds to choose from, `shown` those of a sweep, `setting` what `calibrate` writes.
    """

    name: str
    outcome: str
    setting: str
    operating: float
    none: float
    above: bool
    grid: tuple[float, ...]
    shown: tuple[float, ...]
    of: str = "the dup ratio"

    def reached(self, ratio: float, tau: float) -> bool:
        """Whether the patch fires at this ratio."""
        return ratio >= tau if self.above else ratio <= tau

    def careful(self, taus: Iterable[float]) -> float:
        """The threshold at which it fires least."""
        return max(taus) if self.above else min(taus)


_GRID = tuple(step / 100 for step in range(5, 100, 5))
_SHOWN = (0.0, 0.10, 0.20, 0.30, 0.40, 0.50, 0.60, 0.70, 0.80, 0.85, 0.90, 0.95)
_TIMES = (1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0)

P1 = Patch(
    name="P1",
    outcome=P1_OPEN,
    setting="tau_inject",
    operating=TAU_INJECT,
    none=0.0,
    above=True,
    grid=_GRID,
    shown=_SHOWN,
)
P2 = Patch(
    name="P2",
    outcome=P2_OPEN,
    setting="tau_remove",
    operating=TAU_REMOVE,
    none=1.0,
    above=False,
    grid=_GRID,
    shown=_SHOWN,
)
GRAIN = Patch(
    name="grain",
    outcome=GRAIN_OPEN,
    setting="tau_repeat",
    operating=Settings().tau_repeat,
    none=1.0,
    above=True,
    grid=_TIMES,
    shown=_TIMES,
    of="the mean number of copies",
)
"""Repairs of lists under policy `grain`; its other repairs fire at any threshold."""


def patches(run: Run) -> list[Patch]:
    """The patches whose outcomes the run has, at the thresholds it was made with."""
    tried = {one.policy for v in run.all_verdicts() for one in v.record.guarded}
    used = run.about["inputs"]["settings"]
    return [
        replace(patch, operating=used.get(patch.setting, patch.operating))
        for patch in (P1, P2, GRAIN)
        if patch.outcome in tried
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """An answer that a patch would change without a threshold: the dup ratio that decides, and
    what it does to Multiset-EX (1 fixed, -1 broken, 0 neither)."""

    db: str
    ratio: float
    change: int


def fires(verdicts: Iterable[Verdict], patch: Patch) -> list[Fire]:
    """All answers that the patch would change at some threshold."""
    found = []
    for verdict in verdicts:
        after = outcome(verdict, patch.outcome)
        if after is None or not after.applied:
            continue
        change = (after.multiset_ex == 1.0) - right(verdict)
        found.append(
            Fire(db=verdict.question.db, ratio=_ratio(verdict, after, patch), change=change)
        )
    return found


def _ratio(verdict: Verdict, after: Guarded, patch: Patch) -> float:
    """What is compared with the threshold."""
    if patch.outcome == GRAIN_OPEN:
        return inf if after.factor is None else after.factor
    ratio = verdict.record.pred.dup_ratio if patch.outcome == P1_OPEN else after.ratio
    return ratio or 0.0


def net(found: Iterable[Fire], patch: Patch, tau: float) -> int:
    """Fixes less breaks at a threshold."""
    return sum(fire.change for fire in found if patch.reached(fire.ratio, tau))


def best(found: Sequence[Fire], patch: Patch) -> float:
    """The threshold with the highest net, the most careful of equals; the one in use where none
    has a net above zero."""
    nets = {tau: net(found, patch, tau) for tau in (*patch.grid, patch.operating)}
    highest = max(nets.values())
    if highest <= 0:
        return patch.operating
    return patch.careful(tau for tau, worth in nets.items() if worth == highest)


def sweep(verdicts: Iterable[Verdict], patch: Patch) -> Table:
    """Fires, fixes and breaks at each threshold, and without one."""
    found = fires(verdicts, patch)
    rows = []
    for tau in sorted({*patch.shown, patch.operating, patch.none}):
        changes = [fire.change for fire in found if patch.reached(fire.ratio, tau)]
        fixed, broken = changes.count(1), changes.count(-1)
        rows.append((tau, len(changes), fixed, broken, fixed - broken))
    word = "at least" if patch.above else "at most"
    return Table(
        name=f"sweep_{patch.name.lower()}",
        title=f"{patch.name}: threshold sweep, all systems together",
        columns=("tau", "fires", "fixed", "broken", "net"),
        rows=rows,
        note=f"Fires where {patch.of} is {word} tau; {patch.none:g} is no threshold.",
    )


def folds(systems: Mapping[str, Sequence[Verdict]], tried: Iterable[Patch]) -> Table:
    """Leave-one-database-out for each system, and for all of them together; of one database nothing
    is left."""
    rows = []
    several = len({verdict.question.db for some in systems.values() for verdict in some}) > 1
    for patch in tried if several else ():
        by_system = {name: fires(verdicts, patch) for name, verdicts in systems.items()}
        if len(systems) > 1:
            by_system["all"] = [fire for found in by_system.values() for fire in found]
        rows += [(patch.name, name, *_left_out(found, patch)) for name, found in by_system.items()]
    return Table(
        name="folds",
        title="Leave one database out",
        columns=(
            *("patch", "system", "databases", "net, tau held", "net, tau picked anew"),
            *("net, no threshold", "not negative (held)", "worst (held)"),
        ),
        rows=rows,
        note="Only databases on which the patch fires at all. Held: the threshold in use.",
    )


def _left_out(found: Sequence[Fire], patch: Patch) -> tuple[int, int, int, int, str, int]:
    databases = dict.fromkeys(fire.db for fire in found)
    held, picked = [], 0
    for db in databases:
        inside = [fire for fire in found if fire.db == db]
        others = [fire for fire in found if fire.db != db]
        held.append(net(inside, patch, patch.operating))
        picked += net(inside, patch, best(others, patch))
    good = f"{sum(worth >= 0 for worth in held)}/{len(held)}"
    bare = net(found, patch, patch.none)
    return len(databases), sum(held), picked, bare, good, min(held, default=0)
