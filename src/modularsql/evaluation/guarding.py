"""What the guard makes of predictions, so that thresholds can be swept without running SQL.

Besides the policies that are asked for, open ones are tried: the paper's P1 and P2, and ours,
without their thresholds, and ours without the signs that speak for copies. What each does at any
threshold, or heeding some signs, follows from the ratios they saw and the signs they passed over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from modularsql.config import Settings
from modularsql.evaluation.batch import Asked
from modularsql.evaluation.bench import Pairing
from modularsql.evaluation.log import Guarded
from modularsql.evaluation.studies.outcomes import (
    GRAIN_HEEDED,
    GRAIN_OPEN,
    GRAIN_UNHEEDED,
    P1_OPEN,
    P2_OPEN,
)
from modularsql.guard.policy import Policy, find_policy
from modularsql.guard.policy_file import choose_policy
from modularsql.guard.run import Guard
from modularsql.multiplicity.intent import SIGNS
from modularsql.ports import Engine
from modularsql.records import Answer, FailureKind
from modularsql.rows import Rows, distinct_rows, dup_ratio

_OPEN: Mapping[str, tuple[str, Mapping[str, float]]] = {
    P1_OPEN: ("p1", {"tau_inject": 0.0}),
    P2_OPEN: ("p1-p2", {"tau_inject": 1.0, "tau_remove": 1.0}),
    GRAIN_OPEN: ("grain", {"tau_repeat": 1.0}),
}
"""Policies without a threshold. No dup ratio reaches 1, so that P1 never comes before P2."""


def with_open(policies: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """The policies to try for those that are asked for; raises `InputError` for an unknown one."""
    if not policies:
        return ()
    grain = any(choose_policy(name, settings).grain for name in policies)
    ours = (GRAIN_OPEN, GRAIN_HEEDED, GRAIN_UNHEEDED) if grain else ()
    return tuple(dict.fromkeys((P1_OPEN, P2_OPEN, *ours, *policies)))


def _policy(name: str, settings: Settings) -> Policy:
    if name == GRAIN_UNHEEDED:
        return replace(find_policy(GRAIN_HEEDED, settings), unheeded=frozenset(SIGNS))
    if name not in _OPEN:
        return choose_policy(name, settings)
    base, thresholds = _OPEN[name]
    return find_policy(base, replace(settings, **thresholds))  # type: ignore[arg-type]


def guard_one(
    engine: Engine,
    one: Asked,
    pairing: Pairing | None,
    name: str,
    before: Sequence[Guarded],
    *,
    settings: Settings,
) -> Guarded:
    """The outcome of one policy on one prediction, scored beside gold's rows (None: unknown).

    `before`: those of the policies before it. Where no sign spoke, it is all the same who heeds it.
    """
    if name == GRAIN_UNHEEDED:
        for heeded in before:
            if heeded.policy == GRAIN_HEEDED and heeded.status != "died" and not heeded.signs:
                return replace(heeded, policy=name)
    policy = _policy(name, settings)
    answer = Guard(engine, policy, settings).run(one.sql, question=one.question, fix=True)
    as_set, as_bag = _scores(answer, pairing)
    return Guarded(
        policy=name,
        status=answer.probe.status if answer.probe else "error",
        applied=answer.applied,
        found=tuple((finding.rule, finding.severity.value) for finding in answer.findings),
        set_ex=as_set,
        multiset_ex=as_bag,
        ratio=_ratio(answer),
        factor=_factor(answer),
        signs=answer.unheeded if name == GRAIN_UNHEEDED else answer.signs,
        probe_ms=answer.timing_ms["probe"],
        repair_ms=answer.timing_ms["repair"],
        sql=answer.final_sql if answer.final_sql != one.sql else None,
    )


def _scores(answer: Answer, pairing: Pairing | None) -> tuple[float | None, float | None]:
    if pairing is None:
        return None, None
    if answer.failure is not None:
        ours = (FailureKind.LOCKED, FailureKind.TOO_LARGE)
        return (None, None) if answer.failure.kind in ours else (0.0, 0.0)
    pair = pairing(_rows(answer), answer.final_sql)
    return _score(pair.same_set), _score(pair.same_bag)


def _score(fact: bool | None) -> float | None:
    return None if fact is None else float(fact)


def _rows(answer: Answer) -> Rows:
    return Rows(
        columns=answer.columns,
        types=(None,) * len(answer.columns),
        rows=list(answer.rows),
        truncated=answer.truncated,
    )


def _ratio(answer: Answer) -> float | None:
    if answer.failure is not None or answer.truncated:
        return None
    return dup_ratio(len(answer.rows), len(distinct_rows(list(answer.rows))))


def _factor(answer: Answer) -> float | None:
    """How often a row of a list came back on average, where a repair changed that."""
    for finding in answer.findings:
        if finding.rule == "fan_out_rows" and {r.name for r in finding.repairs} & set(
            answer.applied
        ):
            factor = finding.measured.get("factor")
            return None if factor is None else float(factor)
    return None
