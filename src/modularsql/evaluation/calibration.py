"""Thresholds, and which signs for copies to heed, fitted on one part of a run and judged on the
other.

Parts are databases where there are several (a threshold must hold on databases it has not seen),
else questions. What is written in the end is fitted on all of the run.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from modularsql.errors import InputError
from modularsql.evaluation.run import Run, Verdict
from modularsql.evaluation.studies import signs
from modularsql.evaluation.studies.stages import by_repair
from modularsql.evaluation.studies.thresholds import (
    GRAIN,
    Patch,
    best,
    fires,
    folds,
    net,
    patches,
    sweep,
)
from modularsql.evaluation.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Thresholds by the name of their setting (`kept`: as they were), the signs for copies that are
    not heeded, the policy they belong to, and what was seen."""

    base: str
    thresholds: Mapping[str, float]
    kept: tuple[str, ...]
    unheeded: tuple[str, ...]
    tables: tuple[Table, ...]

    def policy_file(self, source: str) -> str:
        """The text of a policy file (TOML)."""
        lines = [f"# Fitted on {source} by modularsql calibrate."]
        lines += [f'base = "{self.base}"']
        lines += [f"{name} = {value:g}" for name, value in self.thresholds.items()]
        if self.unheeded:
            lines += [f"unheeded = {json.dumps(self.unheeded)}"]
        return "\n".join(lines) + "\n"


def calibrate(run: Run) -> Calibration:
    """Fit every threshold, and every sign, that the run can say something about.

    Raises `InputError` where the guard was not part of the run.
    """
    tried = patches(run)
    if not tried:
        raise InputError(
            "the run does not have what the guard would do",
            "run eval with --guard grain (or paper) into another folder",
        )
    systems = run.counted_by_system()
    verdicts = [verdict for some in systems.values() for verdict in some]
    grain, parts = GRAIN.name in {patch.name for patch in tried}, split(verdicts)
    thresholds = {patch.setting: chosen(verdicts, patch) for patch in tried}
    return Calibration(
        base="grain" if grain else "p1-p2",
        thresholds=thresholds,
        kept=tuple(p.setting for p in tried if thresholds[p.setting] == p.operating),
        unheeded=signs.not_to_heed(verdicts, parts),
        tables=(
            *(sweep(verdicts, patch) for patch in tried),
            folds(systems, tried),
            halves(verdicts, tried),
            *([signs.table(verdicts, parts)] if grain else ()),
            *(repairs(verdicts, name) for name in run.about["inputs"]["guard"]),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A threshold fitted on one half: its net there and on the other half, where the threshold
    in use has `in_use`."""

    tau: float
    here: int
    there: int
    in_use: int


def fit_halves(parts: Sequence[Sequence[Verdict]], patch: Patch) -> tuple[Fit, Fit]:
    """Fitted on the first half and judged on the second, and the other way round."""
    found = [fires(part, patch) for part in parts]

    def fit(here: int, there: int) -> Fit:
        tau = best(found[here], patch)
        return Fit(
            tau=tau,
            here=net(found[here], patch, tau),
            there=net(found[there], patch, tau),
            in_use=net(found[there], patch, patch.operating),
        )

    return fit(0, 1), fit(1, 0)


def chosen(verdicts: Sequence[Verdict], patch: Patch) -> float:
    """The threshold fitted on all answers, where fitting paid on halves that it had not seen;
    else the one in use."""
    fits = fit_halves(split(verdicts), patch)
    if sum(fit.there for fit in fits) <= sum(fit.in_use for fit in fits):
        return patch.operating
    return best(fires(verdicts, patch), patch)


_WAYS = ("A, judged on B", "B, judged on A")


def halves(verdicts: Sequence[Verdict], tried: Sequence[Patch]) -> Table:
    """Each threshold fitted on one half and judged on the other, both ways."""
    parts = split(verdicts)
    rows = [
        (patch.name, patch.setting, way, fit.tau, fit.here, fit.there, fit.in_use)
        for patch in tried
        for way, fit in zip(_WAYS, fit_halves(parts, patch), strict=True)
    ]
    names = [sorted({verdict.question.db for verdict in part}) for part in parts]
    said = f"Part A: {', '.join(names[0])}." if names[0] != names[1] else "Parts of questions."
    return Table(
        name="halves",
        title="Fitted on one half, judged on the other",
        columns=(
            *("patch", "setting", "fitted on", "tau", "net there", "net on the other half"),
            "threshold in use, on the other half",
        ),
        rows=rows,
        note=f"{said} A threshold is written where fitting beats the one in use on both together.",
    )


def repairs(verdicts: Sequence[Verdict], policy: str) -> Table:
    """What each repair fixes and breaks on either half: one that breaks on both is a habit of the
    data, which `--allow` of its rule silences."""
    counts: dict[str, list[int]] = {}
    for half, part in enumerate(split(verdicts)):
        for row in by_repair({"all": part}, policy).records():
            found = counts.setdefault(row["repair"], [0] * 4)
            found[2 * half : 2 * half + 2] = row["fixed"], row["broken"]
    return Table(
        name=f"repairs_{policy}",
        title=f"Repairs under policy {policy}, on either half",
        columns=("repair", "fixed on A", "broken on A", "fixed on B", "broken on B"),
        rows=[(name, *found) for name, found in sorted(counts.items())],
        note="Parts as above. Every repair at the thresholds in use.",
    )


def split(verdicts: Sequence[Verdict]) -> tuple[list[Verdict], list[Verdict]]:
    """Two halves that share no database, or no question where there is one database only."""
    sizes = Counter(verdict.question.db for verdict in verdicts)
    left: set[str] = set()
    weights = [0, 0]
    for db, size in sorted(sizes.items(), key=lambda one: (-one[1], one[0])):
        lighter = weights.index(min(weights))
        weights[lighter] += size
        if lighter == 0:
            left.add(db)

    def first(verdict: Verdict) -> bool:
        if len(sizes) > 1:
            return verdict.question.db in left
        return hashlib.sha256(verdict.question.id.encode()).digest()[0] % 2 == 0

    return [v for v in verdicts if first(v)], [v for v in verdicts if not first(v)]
