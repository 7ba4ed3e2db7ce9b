"""Two sets of answers to the same questions: which is better, and could it be chance?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from modularsql.errors import InputError
from modularsql.evaluation.run import Run, Verdict
from modularsql.evaluation.statistics import Interval, Paired, compare_paired
from modularsql.evaluation.studies.outcomes import outcome
from modularsql.evaluation.table import Table

_LEVEL = 0.05
"""Below this p a difference is said to be hardly chance."""
GUARDED = ("set_ex", "multiset_ex")
"""The metrics that are known of what the guard made of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """One side of a comparison: a name for it, its counted answers by question, its metrics, and
    whether the smells of gold were looked for."""

    name: str
    verdicts: Mapping[str, Verdict]
    metrics: tuple[str, ...]
    smelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The table of a comparison and the figures in it by metric, what it comes to, warnings, and
    the questions that one side alone has right.

    `clean` is the same without questions whose gold smells; None where nobody looked.
    """

    table: Table
    paired: Mapping[str, Paired]
    clean: Table | None
    conclusion: str
    warnings: tuple[str, ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]


def answers_of(run: Run, where: str, system: str | None, policy: str | None) -> Answers:
    """The answers of a system of a run, as predicted or after the guard under a policy.

    Raises `InputError` where the run does not have them.
    """
    names = list(run.verdicts)
    if system is None and len(names) > 1:
        raise InputError(f"{where} holds {len(names)} systems", f"name one: {where}:{names[0]}")
    chosen = system or names[0]
    if chosen not in run.verdicts:
        raise InputError(f"{where} has no system {chosen!r}", f"it has {', '.join(names)}")
    counted = [verdict for verdict in run.verdicts[chosen] if run.counted(verdict)]
    metrics = tuple(run.metrics)
    name = f"{where}:{chosen}"
    if policy is not None:
        if policy not in _tried(run):
            raise InputError(
                f"{where} did not try policy {policy!r}", "run eval with --guard and that policy"
            )
        counted = [_after(verdict, policy) for verdict in counted]
        metrics, name = GUARDED, f"{name}@{policy}"
    return Answers(
        name=name,
        verdicts={v.question.id: v for v in counted},
        metrics=metrics,
        smelled=run.smelled,
    )


def compare(a: Answers, b: Answers, warnings: Sequence[str] = ()) -> Comparison:
    """b against a, on the questions that both have. Raises `InputError` where there are none, or
    where scipy is not installed."""
    ids = [name for name, one in a.verdicts.items() if _is_of(one, b.verdicts.get(name))]
    if not ids:
        raise InputError(
            f"{a.name} and {b.name} share no question that counts", "compare runs of one data set"
        )
    said = [*warnings, *_unequal(a, b, ids)]
    metrics = [name for name in a.metrics if name in b.metrics]
    better = [_change(a.verdicts[name], b.verdicts[name]) for name in ids]
    pairs = _paired(a, b, ids, metrics)
    return Comparison(
        table=_table(a, b, pairs),
        paired=pairs,
        conclusion=_conclusion(pairs["multiset_ex"]),
        clean=_clean(a, b, ids),
        warnings=tuple(said),
        gained=tuple(name for name, change in zip(ids, better, strict=True) if change > 0),
        lost=tuple(name for name, change in zip(ids, better, strict=True) if change < 0),
    )


def _is_of(one: Verdict, other: Verdict | None) -> bool:
    """Whether both answer one question: data sets number theirs alike, on other databases."""
    return other is not None and one.question.db == other.question.db


def _conclusion(found: Paired) -> str:
    """What the comparison says of Multiset-EX, in a sentence."""
    if not found.gained and not found.lost:
        return "Multiset-EX: the two are right on the same questions"
    points, p = 100 * found.difference, f"p = {found.p:.2g}"
    if found.p >= _LEVEL:
        return f"Multiset-EX: a difference of {points:+.2f} points could be chance ({p})"
    said = f"Multiset-EX: {'B' if points > 0 else 'A'} is better by {abs(points):.2f} points"
    if found.clustered is not None and found.clustered.low <= 0 <= found.clustered.high:
        return f"{said}, hardly by chance on these databases ({p}); on others it may not be"
    return f"{said}, hardly by chance ({p})"


def _clean(a: Answers, b: Answers, ids: Sequence[str]) -> Table | None:
    if not (a.smelled or b.smelled):
        return None
    clean = [n for n in ids if not (a.verdicts[n].record.smells or b.verdicts[n].record.smells)]
    table = _table(a, b, _paired(a, b, clean, GUARDED if clean else ()))
    title = f"Without gold that smells, {len(clean):,} questions"
    return replace(table, name="clean", title=title, note="")


def _paired(
    a: Answers, b: Answers, ids: Sequence[str], metrics: Sequence[str]
) -> dict[str, Paired]:
    databases = [a.verdicts[name].question.db for name in ids]
    pairs = {}
    for metric in metrics:
        one, other = (
            [side.verdicts[name].scores.get(metric) or 0.0 for name in ids] for side in (a, b)
        )
        found = compare_paired(one, other, databases)
        if found is None:
            raise InputError("comparing needs scipy", "pip install 'modularsql[eval]'")
        pairs[metric] = found
    return pairs


def _table(a: Answers, b: Answers, pairs: Mapping[str, Paired]) -> Table:
    n = next((found.n for found in pairs.values()), 0)
    return Table(
        name="comparison",
        title=f"B = {b.name} against A = {a.name}, {n:,} questions",
        columns=(
            *("metric", "A", "B", "B - A", "B better", "A better", "p (McNemar, exact)"),
            *("95 % by question", "95 % by database"),
        ),
        rows=[(metric, found.a, found.b, *_cells(found)) for metric, found in pairs.items()],
        percent=frozenset({"A", "B", "B - A"}),
        note=(
            "Better: questions on which that side scores higher. Where nothing differs, one metric "
            "in twenty has a p below 0.05 all the same."
        ),
    )


def data_warnings(a: Run, b: Run) -> list[str]:
    """What differs in the data below two runs, told by their hashes."""
    one, other = a.about["inputs"], b.about["inputs"]
    said = []
    if one["dataset"]["sha256"] != other["dataset"]["sha256"]:
        said.append("the data sets are not the same file")
    golds = [{n: found["sha256"] for n, found in i["gold"].items()} for i in (one, other)]
    if golds[0] != golds[1]:
        said.append("the published gold is not the same")
    shared = one["databases"].keys() & other["databases"].keys()
    changed = {
        name
        for name in shared
        if one["databases"][name].get("sha256") != other["databases"][name].get("sha256")
    }
    # One run may have had further files of a database (name/file) that the other had not.
    changed |= {
        owner
        for name in one["databases"].keys() ^ other["databases"].keys()
        if (owner := name.partition("/")[0]) in shared and owner != name
    }
    if changed:
        said.append(f"databases differ: {', '.join(sorted(changed))}")
    days = [inputs.get("settings", {}).get("today") or "not set" for inputs in (one, other)]
    if days[0] != days[1]:
        said.append(f"the day that `now` means differs: {days[0]} and {days[1]}")
    limits = [inputs.get("settings", {}).get("timeout") for inputs in (one, other)]
    if limits[0] != limits[1]:
        said.append(f"time limits differ: {limits[0]:g} s and {limits[1]:g} s")
    return said


def _unequal(a: Answers, b: Answers, ids: Sequence[str]) -> list[str]:
    said = []
    for side, other in ((a, b), (b, a)):
        if alone := len(side.verdicts) - len(ids):
            said.append(f"{alone:,} counted questions of {side.name} are not in {other.name}")
    golds = sum(a.verdicts[name].question.gold != b.verdicts[name].question.gold for name in ids)
    if golds:
        said.append(f"{golds:,} questions have another gold query")
    return said


def _tried(run: Run) -> set[str]:
    guarded = (one.policy for v in run.all_verdicts() for one in v.record.guarded)
    return {*run.about["inputs"]["guard"], *guarded}


def _after(verdict: Verdict, policy: str) -> Verdict:
    """The answer after a policy; as predicted where the guard was lost, or had no query."""
    if (found := outcome(verdict, policy)) is None:
        return verdict
    scores = {"set_ex": found.set_ex, "multiset_ex": found.multiset_ex}
    return replace(verdict, record=replace(verdict.record, scores=scores))


def _change(a: Verdict, b: Verdict) -> float:
    return (b.scores.get("multiset_ex") or 0.0) - (a.scores.get("multiset_ex") or 0.0)


def _cells(found: Paired) -> tuple[float, int, int, float, str | None, str | None]:
    intervals = _interval(found.interval), _interval(found.clustered)
    return found.difference, found.gained, found.lost, found.p, *intervals


def _interval(found: Interval | None) -> str | None:
    return None if found is None else f"{100 * found.low:+.2f} to {100 * found.high:+.2f}"
