"""Scores of a run in numbers: fractions of the counted questions, with intervals."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from modularsql.evaluation.run import Run, Verdict
from modularsql.evaluation.statistics import wilson

SCHEMA_VERSION = 1


def summary(run: Run) -> dict[str, Any]:
    """The object of summary.json."""
    systems = {name: _system(run, verdicts) for name, verdicts in run.verdicts.items()}
    return {"schema_version": SCHEMA_VERSION, "systems": systems}


def _system(run: Run, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    counted = [verdict for verdict in verdicts if run.counted(verdict)]
    n = len(counted)
    fractions, intervals, undecided = {}, {}, {}
    for name in run.metrics:
        known = [score for verdict in counted if (score := verdict.scores.get(name)) is not None]
        fractions[name] = sum(known) / n if n else None
        intervals[name] = _interval(known, n)
        undecided[name] = n - len(known)
    mbs = [verdict.question.id for verdict in counted if verdict.mbs]
    left_out = Counter(
        verdict.record.gold.status for verdict in verdicts if not run.counted(verdict)
    )
    return {
        "questions": len(verdicts),
        "n": n,
        **fractions,
        "gap": _gap(fractions),
        "mbs": len(mbs),
        "mbs_ids": mbs,
        "intervals": intervals,
        "undecided": {name: count for name, count in undecided.items() if count},
        "left_out": dict(left_out),
        "gold_status": dict(Counter(v.record.gold.status for v in verdicts)),
        "pred_status": dict(Counter(v.record.pred.status for v in verdicts)),
        "causes": dict(Counter(v.record.cause for v in counted if v.record.cause).most_common()),
        "slow_gold": [v.question.id for v in verdicts if v.record.gold.status == "timeout"],
    }


def _interval(known: Sequence[float], n: int) -> list[float] | None:
    """Wilson's interval; None for scores that are not just 0 and 1."""
    if not n or any(score not in (0.0, 1.0) for score in known):
        return None
    interval = wilson(round(sum(known)), n)
    return None if interval is None else [interval.low, interval.high]


def _gap(fractions: dict[str, float | None]) -> float | None:
    as_set, as_bag = fractions.get("set_ex"), fractions.get("multiset_ex")
    return None if as_set is None or as_bag is None else as_set - as_bag
