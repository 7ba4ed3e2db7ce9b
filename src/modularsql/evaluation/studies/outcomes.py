"""What a patch, a pair of patches or a policy does to each answer of a run.

P1 fires where the dup ratio reaches its threshold and P1 held its check; P2 where the ratio
without DISTINCT stays at or below its own. A patch ends the matter, as in the guard.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from modularsql.evaluation.log import Guarded
from modularsql.evaluation.run import Verdict

TAU_INJECT, TAU_REMOVE = 0.80, 0.10
"""The paper's operating points."""

P1_OPEN, P2_OPEN, GRAIN_OPEN = "p1@0", "p2@1", "grain@1"
"""Names of the outcomes without a threshold, in the log and in `guarding`."""
GRAIN_HEEDED, GRAIN_UNHEEDED = "grain", "grain~"
"""Policy `grain` with its thresholds in use; and without an ear for signs that speak for copies."""
OPEN = frozenset({P1_OPEN, P2_OPEN, GRAIN_OPEN, GRAIN_UNHEEDED})


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """An answer after a policy: whether it fired, with which repairs, and how it is scored."""

    fired: bool
    repairs: tuple[str, ...]
    set_ex: bool
    multiset_ex: bool


Policy = Callable[[Verdict], After]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Counts over answers: right before and after, and what changed."""

    n: int
    fires: int
    set_before: int
    set_after: int
    before: int
    after: int
    fixed: int
    broken: int

    @property
    def net(self) -> int:
        """Fixed less broken."""
        return self.fixed - self.broken


def right(verdict: Verdict, metric: str = "multiset_ex") -> bool:
    """Whether the prediction is known to be right."""
    return verdict.scores.get(metric) == 1.0


def untouched(verdict: Verdict) -> After:
    """The answer as predicted."""
    return After(
        fired=False, repairs=(), set_ex=right(verdict, "set_ex"), multiset_ex=right(verdict)
    )


def p1(tau: float) -> Policy:
    """DISTINCT injection from dup ratio `tau` on."""

    def after(verdict: Verdict) -> After:
        found, ratio = outcome(verdict, P1_OPEN), verdict.record.pred.dup_ratio
        fires = found is not None and found.applied and ratio is not None and ratio >= tau
        return _after(found) if fires and found else untouched(verdict)

    return after


def p2(tau: float) -> Policy:
    """DISTINCT removal where the ratio afterwards is at most `tau`."""

    def after(verdict: Verdict) -> After:
        found = outcome(verdict, P2_OPEN)
        fires = found is not None and found.applied and (found.ratio or 0.0) <= tau
        return _after(found) if fires and found else untouched(verdict)

    return after


def p1_p2(tau: float = TAU_INJECT, tau_remove: float = TAU_REMOVE) -> Policy:
    """P1, else P2: the paper's deterministic patches."""
    first, second = p1(tau), p2(tau_remove)

    def after(verdict: Verdict) -> After:
        found = first(verdict)
        return found if found.fired else second(verdict)

    return after


def asked(name: str, without: Iterable[str] = ()) -> Policy:
    """A policy that was tried in the run; answers that a repair in `without` touched stay."""
    off = frozenset(without)

    def after(verdict: Verdict) -> After:
        found = outcome(verdict, name)
        if found is None or off.intersection(found.applied):
            return untouched(verdict)
        return _after(found)

    return after


def effect(verdicts: Sequence[Verdict], policy: Policy) -> Effect:
    """What a policy does to these answers."""
    before = [untouched(verdict) for verdict in verdicts]
    after = [policy(verdict) for verdict in verdicts]
    pairs = list(zip(before, after, strict=True))
    return Effect(
        n=len(verdicts),
        fires=sum(new.fired for new in after),
        set_before=sum(old.set_ex for old in before),
        set_after=sum(new.set_ex for new in after),
        before=sum(old.multiset_ex for old in before),
        after=sum(new.multiset_ex for new in after),
        fixed=sum(new.multiset_ex and not old.multiset_ex for old, new in pairs),
        broken=sum(old.multiset_ex and not new.multiset_ex for old, new in pairs),
    )


def outcome(verdict: Verdict, name: str) -> Guarded | None:
    """What the guard made of an answer under a policy, if that was tried."""
    return next((one for one in verdict.record.guarded if one.policy == name), None)


def _after(found: Guarded) -> After:
    return After(
        fired=bool(found.applied),
        repairs=found.applied,
        set_ex=found.set_ex == 1.0,
        multiset_ex=found.multiset_ex == 1.0,
    )
