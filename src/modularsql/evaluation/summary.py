"""Scores of a run in numbers: fractions of the counted questions, with intervals."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import Any

from modularsql.evaluation.metrics.pools import pool
from modularsql.evaluation.run import Run, Verdict
from modularsql.evaluation.statistics import wilson

SCHEMA_VERSION = 1


def summary(run: Run) -> dict[str, Any]:
    """The object of summary.json."""
    systems = {name: _system(run, verdicts) for name, verdicts in run.verdicts.items()}
    pools = run.about.get("pools", {})
    return {
        "schema_version": SCHEMA_VERSION,
        "systems": systems,
        "pools": pools,
        "smells": run.smells(),
    }


def candidate_name(pool: str, at: int) -> str:
    """What the system is called that always answers with the candidate at this place."""
    return f"{pool}\0{at}"


def is_candidate(system: str) -> bool:
    """Whether this is such a name, not that of a prediction set."""
    return "\0" in system


def pool_scores(run: Run, systems: Collection[str]) -> dict[str, dict[str, Any]]:
    """By pool and metric: what a perfect, a blind and no selection would score.

    The run has the candidates as systems of their own, beside `systems`. Counted questions that
    have candidates are the denominator.
    """
    by_pool: dict[str, dict[str, list[Verdict]]] = {}
    for name, verdicts in run.verdicts.items():
        if name in systems:
            continue
        questions = by_pool.setdefault(name.partition("\0")[0], {})
        for verdict in verdicts:
            if verdict.pred_sql and run.counted(verdict):
                questions.setdefault(verdict.question.id, []).append(verdict)
    return {name: _pool(run, questions) for name, questions in by_pool.items()}


def _pool(run: Run, questions: Mapping[str, Sequence[Verdict]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "n": len(questions),
        "candidates": sum(map(len, questions.values())),
    }
    for metric in run.metrics:
        pools = [pool([v.scores.get(metric) for v in some]) for some in questions.values()]
        known = [one for one in pools if one is not None]
        found[metric] = {
            "upper": fmean(one.upper for one in known) if known else None,
            "mean": fmean(one.mean for one in known) if known else None,
            "first": fmean(one.first or 0.0 for one in known) if known else None,
        }
    return found


def _system(run: Run, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    counted = [verdict for verdict in verdicts if run.counted(verdict)]
    n = len(counted)
    known = _known(run, counted)
    fractions = _fractions(known, n)
    undecided = {name: n - len(scores) for name, scores in known.items()}
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
        "right_on_empty_gold": sum(map(_is_right_on_empty_gold, counted)),
        "clean": _clean(run, counted),
        "smells": _smells(verdicts),
        "intervals": {name: _interval(scores, n) for name, scores in known.items()},
        "undecided": {name: count for name, count in undecided.items() if count},
        "left_out": dict(left_out),
        "gold_status": dict(Counter(v.record.gold.status for v in verdicts)),
        "pred_status": dict(Counter(v.record.pred.status for v in verdicts)),
        "causes": dict(Counter(v.record.cause for v in counted if v.record.cause).most_common()),
        "slow_gold": [v.question.id for v in verdicts if v.record.gold.status == "timeout"],
    }


def _is_right_on_empty_gold(verdict: Verdict) -> bool:
    """Whether nothing was asked for and nothing returned: any mistake may come to that."""
    return verdict.record.gold.rows == 0 and verdict.scores.get("set_ex") == 1.0


def _known(run: Run, counted: Sequence[Verdict]) -> dict[str, list[float]]:
    """The scores of each metric that are decided."""
    scores = [verdict.scores for verdict in counted]
    return {
        name: [score for one in scores if (score := one.get(name)) is not None]
        for name in run.metrics
    }


def _fractions(known: Mapping[str, Sequence[float]], n: int) -> dict[str, float | None]:
    return {name: sum(scores) / n if n else None for name, scores in known.items()}


def _clean(run: Run, counted: Sequence[Verdict]) -> dict[str, Any] | None:
    """The scores without the questions whose gold smells; None where nobody looked."""
    if not run.smelled:
        return None
    clean = [verdict for verdict in counted if not verdict.record.smells]
    fractions = _fractions(_known(run, clean), len(clean))
    mbs = sum(verdict.mbs for verdict in clean)
    return {"n": len(clean), **fractions, "gap": _gap(fractions), "mbs": mbs}


def _smells(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """The ids of the questions whose prediction has each smell."""
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        for smell in verdict.record.pred_smells:
            found.setdefault(smell, []).append(verdict.question.id)
    return found


def _interval(known: Sequence[float], n: int) -> list[float] | None:
    """Wilson's interval; None for scores that are not just 0 and 1."""
    if not n or any(score not in (0.0, 1.0) for score in known):
        return None
    interval = wilson(round(sum(known)), n)
    return None if interval is None else [interval.low, interval.high]


def _gap(fractions: dict[str, float | None]) -> float | None:
    as_set, as_bag = fractions.get("set_ex"), fractions.get("multiset_ex")
    return None if as_set is None or as_bag is None else as_set - as_bag
