"""The tables of a report, in the order in which they are read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from modularsql.evaluation.run import Run, Verdict
from modularsql.evaluation.smells import TITLES, Smell
from modularsql.evaluation.studies import detector, stages, thresholds
from modularsql.evaluation.studies.outcomes import right
from modularsql.evaluation.summary import summary
from modularsql.evaluation.table import Table
from modularsql.wording import counted

Systems = Mapping[str, Mapping[str, Any]]
"""What the summary says of each system."""

_MOST_DATABASES = 40
_MOST_IDS = 20
_SHARES = frozenset({"Set-EX", "Multiset-EX", "gap", "agree"})


def report_tables(run: Run) -> list[Table]:
    """All tables that the run can fill."""
    systems, summed = run.counted_by_system(), summary(run)
    tables = [
        *score_tables(run, summed),
        statuses(run, summed["systems"]),
        causes(systems),
        by_difficulty(systems),
        by_database(systems),
        agreement(run),
        detector.flags(systems),
        detector.reasons(systems),
        *_guard(run, systems),
        smells(run),
        smells_of_predictions(summed["systems"]),
        slow_gold(run),
    ]
    return [table for table in tables if table.rows]


def score_tables(run: Run, found: Mapping[str, Any]) -> list[Table]:
    """Who has which score: the first tables of a report, and what `eval` prints."""
    systems = found["systems"]
    return [
        scores(systems),
        *([without_smells(systems)] if run.smelled else ()),
        metrics(run, systems),
        *(_pool(run, name, one) for name, one in found["pools"].items()),
    ]


def _pool(run: Run, name: str, found: Mapping[str, Any]) -> Table:
    """What the candidates of a pool could score."""
    of = ("upper", "mean", "first")
    given, asked = counted(found["candidates"], "candidate"), counted(found["n"], "question")
    return Table(
        name=f"pool_{name}",
        title=f"Pool {name}: {given} for {asked}",
        columns=("metric", *of),
        rows=[(metric, *(found[metric][one] for one in of)) for metric in run.metrics],
        percent=frozenset(of),
        note="Upper: the best candidate of each question. Mean: a blind choice. First: the first.",
    )


def _guard(run: Run, systems: Mapping[str, Sequence[Verdict]]) -> list[Table]:
    policies = run.about["inputs"]["guard"]
    if not policies:
        return []
    verdicts = [verdict for some in systems.values() for verdict in some]
    tried = thresholds.patches(run)
    return [
        stages.stages(systems, policies),
        stages.by_difficulty(systems, policies),
        stages.within_flags(systems, policies),
        *(stages.by_repair(systems, name) for name in policies),
        *(detector.findings(systems, name) for name in policies),
        *(thresholds.sweep(verdicts, patch) for patch in tried),
        thresholds.folds(systems, tried),
        stages.latency(systems, policies),
    ]


def scores(summed: Systems) -> Table:
    """Set-EX, Multiset-EX, their intervals and the gap (paper, table 1)."""
    rows = []
    for name, one in summed.items():
        intervals = [
            _interval(one["intervals"].get(metric)) for metric in ("set_ex", "multiset_ex")
        ]
        rows.append(
            (
                *(name, one["n"], one["set_ex"], one["multiset_ex"], one["gap"], one["mbs"]),
                *intervals,
            )
        )
    return Table(
        name="scores",
        title="Scores",
        columns=(
            *("system", "n", "Set-EX", "Multiset-EX", "gap", "MBS"),
            *("Set-EX 95 %", "Multiset-EX 95 %"),
        ),
        rows=rows,
        percent=_SHARES,
        note="Per cent of the counted questions, with Wilson intervals. MBS: right as a set only.",
    )


def metrics(run: Run, summed: Systems) -> Table:
    """Every metric of every system."""
    rows = [(metric, *(one[metric] for one in summed.values())) for metric in run.metrics]
    return Table(
        name="metrics",
        title="All metrics",
        columns=("metric", *summed),
        rows=rows,
        percent=frozenset(summed),
    )


def statuses(run: Run, summed: Systems) -> Table:
    """How predictions and gold ended."""
    rows = []
    for name, one in summed.items():
        undecided = max(one["undecided"].values(), default=0)
        counts = one["questions"], one["n"], undecided, one["right_on_empty_gold"]
        rows.append((name, *counts, _listed(one["pred_status"])))
    golds = Counter(v.record.gold.status for v in next(iter(run.verdicts.values()), ()))
    return Table(
        name="statuses",
        title="What became of the queries",
        columns=(
            *("system", "questions", "counted", "undecided"),
            *("right on empty gold", "predictions"),
        ),
        rows=rows,
        note=f"Gold: {_listed(golds)}. Right on empty gold: neither query returns a row.",
    )


def causes(systems: Mapping[str, Sequence[Verdict]]) -> Table:
    """Why results differ, where Multiset-EX is not 1 or the order is not gold's."""
    counts = {
        name: Counter(v.record.cause for v in verdicts if not right(v) or v.out_of_order)
        for name, verdicts in systems.items()
    }
    total: Counter[str | None] = sum(counts.values(), Counter())
    rows = [
        (cause or "-", *(counts[name][cause] for name in systems))
        for cause, _ in total.most_common()
    ]
    return Table(
        name="causes",
        title="Why results differ",
        columns=("cause", *systems),
        rows=rows,
        note="Answers that are not right by Multiset-EX, or only by it (order).",
    )


def by_difficulty(systems: Mapping[str, Sequence[Verdict]]) -> Table:
    """Scores by difficulty, where the set has it."""
    return _strata(systems, "difficulty")


def by_database(systems: Mapping[str, Sequence[Verdict]]) -> Table:
    """Scores by database."""
    return _strata(systems, "db")


def _strata(systems: Mapping[str, Sequence[Verdict]], field: str) -> Table:
    word = {"db": "database"}.get(field, field)
    names = list(
        dict.fromkeys(
            stratum
            for verdicts in systems.values()
            for v in verdicts
            if (stratum := getattr(v.question, field))
        )
    )
    rows = []
    for stratum in names[:_MOST_DATABASES] if len(names) > 1 or field != "db" else ():
        for name, verdicts in systems.items():
            some = [v for v in verdicts if getattr(v.question, field) == stratum]
            as_set = sum(v.scores.get("set_ex") == 1.0 for v in some) / max(len(some), 1)
            as_bag = sum(v.scores.get("multiset_ex") == 1.0 for v in some) / max(len(some), 1)
            mbs = sum(v.mbs for v in some)
            rows.append((stratum, name, len(some), as_set, as_bag, as_set - as_bag, mbs))
    return Table(
        name=f"by_{word}",
        title=f"Scores by {word}",
        columns=(word, "system", "n", "Set-EX", "Multiset-EX", "gap", "MBS"),
        rows=rows,
        percent=_SHARES,
    )


def agreement(run: Run) -> Table:
    """How often two metrics agree on whether an answer is fully right."""
    known, right = _bits(run)
    rows = []
    for one, other in combinations(run.metrics, 2):
        both = known[one] & known[other]
        only = [both & right[one] & ~right[other], both & right[other] & ~right[one]]
        n, first, second = both.bit_count(), *(bits.bit_count() for bits in only)
        share = (n - first - second) / n if n else None
        rows.append((one, other, n, share, first, second))
    return Table(
        name="agreement",
        title="Agreement between metrics",
        columns=("metric", "other", "answers", "agree", "only the first", "only the other"),
        rows=rows,
        percent=_SHARES,
        note="Whether an answer is fully right (a score of 1 or more) by both.",
    )


def _bits(run: Run) -> tuple[dict[str, int], dict[str, int]]:
    """By metric, one bit for each counted answer: its score is known; it is fully right.

    There are hundreds of pairs of metrics, and whole numbers compare all answers at once.
    """
    known, right = dict.fromkeys(run.metrics, 0), dict.fromkeys(run.metrics, 0)
    verdicts = [v for some in run.counted_by_system().values() for v in some]
    for metric in run.metrics:
        found = [verdict.scores.get(metric) for verdict in verdicts]
        for bits, digits in (
            (known, ("01"[score is not None] for score in found)),
            (right, ("01"[score is not None and score >= 1.0] for score in found)),
        ):
            bits[metric] = int("".join(digits) or "0", 2)
    return known, right


def smells(run: Run) -> Table:
    """The questions whose gold smells, by what is wrong with it."""
    return Table(
        name="smells",
        title="Gold that smells",
        columns=("smell", "what it says of gold", "questions", "ids"),
        rows=[(s, TITLES[Smell(s)], len(ids), _some(ids)) for s, ids in run.smells().items()],
        note="Gold that a right prediction may fail. All ids stand in summary.json.",
    )


def smells_of_predictions(summed: Systems) -> Table:
    """The questions whose prediction smells, by system."""
    return Table(
        name="pred_smells",
        title="Predictions that smell",
        columns=("system", "smell", "what it says of the prediction", "questions", "ids"),
        rows=[
            (name, smell, TITLES[Smell(smell)], len(ids), _some(ids))
            for name, one in summed.items()
            for smell, ids in one["smells"].items()
        ],
        note="Whether gold has the same smell or not. All ids stand in summary.json.",
    )


def without_smells(summed: Systems) -> Table:
    """Set-EX, Multiset-EX and the gap over all counted questions, and without gold that smells."""
    rows = [
        (name, questions, *(part[field] for field in ("n", "set_ex", "multiset_ex", "gap", "mbs")))
        for name, one in summed.items()
        for questions, part in (("all", one), ("gold without a smell", one["clean"]))
    ]
    return Table(
        name="without_smells",
        title="Scores with and without gold that smells",
        columns=("system", "questions", "n", "Set-EX", "Multiset-EX", "gap", "MBS"),
        rows=rows,
        percent=_SHARES,
    )


def slow_gold(run: Run) -> Table:
    """Questions whose gold ran into the time limit."""
    verdicts = next(iter(run.verdicts.values()), ())
    slow = [v.question for v in verdicts if v.record.gold.status == "timeout"]
    word = "left out" if run.leaves_slow_gold_out else "counted as wrong"
    return Table(
        name="slow_gold",
        title=f"Gold beyond the time limit ({word})",
        columns=("id", "database", "question"),
        rows=[(question.id, question.db, question.question) for question in slow],
    )


def _interval(found: Sequence[float] | None) -> str | None:
    return None if found is None else f"{100 * found[0]:.1f} to {100 * found[1]:.1f}"


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_MOST_IDS]) + (", …" if ids[_MOST_IDS:] else "")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
