"""The use case `eval`: score prediction sets on real databases, each statement run once."""

import platform
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from modularsql import __version__
from modularsql.config import Settings
from modularsql.errors import InputError
from modularsql.evaluation.datasets import Dataset, read_dataset
from modularsql.evaluation.log import Record, to_line
from modularsql.evaluation.metrics import METRICS
from modularsql.evaluation.metrics.tolerant import NAME as TOLERANT
from modularsql.evaluation.metrics.ves import TIMED
from modularsql.evaluation.plan import Plan, answers_of, make_plan, without
from modularsql.evaluation.predictions import Predictions, read_predictions
from modularsql.evaluation.report.tables import score_tables
from modularsql.evaluation.run import Run, fill
from modularsql.evaluation.summary import candidate_name, is_candidate, pool_scores, summary
from modularsql.evaluation.table import Table
from modularsql.rows.tolerance import Tolerance
from modularsql.service import run_files, run_folder
from modularsql.service.scoring import Scoring, scoring_work
from modularsql.service.sources import check_root, database_marks, find_databases, marks, told
from modularsql.service.workers import run_all

ALWAYS = ("set_ex", "multiset_ex")
"""Metrics of every run: the gap between them is what this package is about."""


GO_ON = "the same command goes on where it stopped"


@dataclass(slots=True)
class Standing:
    """How far a run is: pairs done, and the scores of each system so far; in the timing pass
    (`timing`) right answers timed."""

    done: int
    total: int
    right: dict[str, list[float]]
    timing: bool = False


Progress = Callable[[Standing], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRequest:
    """What `eval` needs. `metrics` empty: all of them. `smells`: also what may be wrong with gold
    or answers.
    `tolerance`: also Multiset-EX that allows it. `turns`: how often right answers and gold are run
    in turns for R-VES.
    `slow_gold_out`: gold that does not end in time leaves the question out of the denominator
    (preset paper)."""

    dataset: str
    predictions: Sequence[Path]
    db_root: str | Path
    out: Path
    settings: Settings
    metrics: Sequence[str] = ()
    guard: Sequence[str] = ()
    pools: Sequence[Path] = ()
    smells: bool = False
    tolerance: Tolerance | None = None
    turns: int = 0
    slow_gold_out: bool = False
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """What a run came to; `notes` are for a person to read."""

    run: Run
    summary: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    resumed: int = 0

    @property
    def tables(self) -> list[Table]:
        """The scores, for reading."""
        return score_tables(self.run, self.summary)


def evaluate(request: EvalRequest) -> Evaluated:
    """Score every prediction set, write the files of the run, return the scores.

    Goes on where an earlier call with the same inputs stopped. Raises `InputError` for files that
    cannot be read or do not fit each other, or an `out` that holds another run or is in use;
    `SetupError` where the disk is full.
    """
    start = time.monotonic()
    asked = _asked(request)
    check_root(request.db_root)
    dataset = read_dataset(request.dataset)
    systems = _systems(request.predictions, dataset)
    databases = find_databases(request.db_root, dataset, request.settings)
    candidates = _candidates(request, dataset)
    answers = {**answers_of(systems), **candidates}
    plan = make_plan(dataset, answers, databases, _policies(request), candidates=candidates.keys())
    about = _about(request, asked, dataset, systems, databases)
    with run_folder.locked(request.out):
        about = run_folder.begin(request.out, about)
        records = run_files.read_records(request.out)
        known = len(records)
        _run(plan, records, asked, request)
        if request.turns:
            _time(plan, records, request)
        filled = fill(plan, dataset.questions, answers, records)
        verdicts = {name: filled[name] for name in systems}
        about["pools"] = pool_scores(Run(about=about, verdicts=filled), set(systems))
        about["seconds"] = round(about.get("seconds", 0.0) + time.monotonic() - start, 3)
        run = Run(about=about, verdicts=verdicts)
        scores = summary(run)
        run_files.write_run(request.out, run, scores)
    return Evaluated(run=run, summary=scores, notes=run.notes(), resumed=known)


def _run(plan: Plan, records: dict[int, Record], asked: Scoring, request: EvalRequest) -> None:
    """Fill `records`, writing each to the log as it comes."""
    batches = without(plan, records)
    seen = _Seen(plan, records, request.progress)
    log = run_folder.Log(request.out)
    work = replace(scoring_work(asked, request.settings, batches), meanwhile=run_files.prepare)
    with told(GO_ON), closing(log), closing(run_all(batches, work, request.settings)) as results:
        for some in results:
            found = [record for one in some for record in one]
            log.add(map(to_line, found))
            records.update((record.pair, record) for record in found)
            seen.add(found)


def _time(plan: Plan, records: dict[int, Record], request: EvalRequest) -> None:
    """Add the scores of R-VES to `records`; those of new times go to the log."""
    from modularsql.evaluation.timing import races, untimed, with_times
    from modularsql.service.timing import time_all

    records.update(untimed(records))
    log = run_folder.Log(request.out)
    todo = races(plan, records)
    standing = Standing(0, len(todo), {}, timing=True)
    with (
        told(GO_ON),
        closing(log),
        closing(time_all(todo, request.turns, request.settings)) as results,
    ):
        for some in results:
            found = [with_times(records[one.pair], one.timing) for one in some]
            log.add(map(to_line, found))
            records.update((record.pair, record) for record in found)
            standing.done += len(found)
            if request.progress is not None:
                request.progress(standing)


class _Seen:
    """Keeps the running scores, where somebody watches."""

    def __init__(
        self, plan: Plan, records: Mapping[int, Record], progress: Progress | None
    ) -> None:
        self._progress = progress
        self._standing = Standing(0, plan.pairs, {})
        self._systems: dict[int, list[str]] = {}
        if progress is not None:
            for place in plan.places:
                if is_candidate(place.system):
                    continue
                self._standing.right.setdefault(place.system, [0.0, 0.0, 0.0])
                for pair in chain.from_iterable(place.pairs):
                    self._systems.setdefault(pair, []).append(place.system)
            self.add(list(records.values()))

    def add(self, records: Sequence[Record]) -> None:
        """Count these, and show how it stands."""
        if self._progress is None:
            return
        self._standing.done += len(records)
        for record in records:
            if record.gold.ok:
                for system in self._systems.get(record.pair, ()):
                    sums = self._standing.right[system]
                    sums[0] += 1
                    for at, name in enumerate(ALWAYS, 1):
                        sums[at] += record.scores.get(name) or 0.0
        self._progress(self._standing)


def _candidates(request: EvalRequest, dataset: Dataset) -> dict[str, list[str | None]]:
    """The pools as systems of their own: the first candidate of each question, the second, …"""
    if not request.pools:
        return {}
    from modularsql.evaluation.pools import read_pools

    found: dict[str, list[str | None]] = {}
    for name, path in _named(request.pools, "pools").items():
        pools = read_pools(path, dataset)
        for at in range(max(map(len, pools.values()), default=0)):
            column = [pools.get(question.id, ())[at : at + 1] for question in dataset.questions]
            found[candidate_name(name, at)] = [one[0] if one else None for one in column]
    return found


def _policies(request: EvalRequest) -> tuple[str, ...]:
    """The guard's policies to try; imports the guard only where it is asked for."""
    if not request.guard:
        return ()
    from modularsql.evaluation.guarding import with_open

    return with_open(request.guard, request.settings)


def _asked(request: EvalRequest) -> Scoring:
    with_option = {**dict.fromkeys(TIMED, "--timing"), TOLERANT: "--tolerance"}
    given = {"--timing": bool(request.turns), "--tolerance": request.tolerance is not None}
    for name in request.metrics:
        if name not in (*METRICS, *with_option):
            known = ", ".join((*METRICS, *with_option))
            raise InputError(f"unknown metric {name!r}", f"known: {known}")
        if name in with_option and not given[with_option[name]]:
            raise InputError(f"{name} comes with an option of its own", f"add {with_option[name]}")
    named = [name for name in request.metrics if name in METRICS]
    return Scoring(
        metrics=tuple(dict.fromkeys((*ALWAYS, *(named if request.metrics else METRICS)))),
        guard=tuple(request.guard),
        smells=request.smells,
        tolerance=request.tolerance,
    )


def _metrics(request: EvalRequest, asked: Scoring) -> list[str]:
    tolerant = (TOLERANT,) if request.tolerance else ()
    return [*asked.metrics, *tolerant, *(TIMED if request.turns else ())]


def _systems(paths: Sequence[Path], dataset: Dataset) -> dict[str, Predictions]:
    """The prediction sets by name."""
    named = _named(paths, "prediction sets")
    return {name: read_predictions(path, dataset) for name, path in named.items()}


def _named(paths: Sequence[Path], what: str) -> dict[str, Path]:
    """The files by their stem, with their folder where stems repeat. Raises `InputError`."""
    for path, times in Counter(path.resolve() for path in paths).items():
        if times > 1:
            raise InputError(f"{path} is given {times} times", f"name each of the {what} once")
    stems = [path.stem for path in paths]
    found: dict[str, Path] = {}
    for path, stem in zip(paths, stems, strict=True):
        name = stem if stems.count(stem) == 1 else f"{path.parent.name}/{stem}"
        if name in found:
            raise InputError(f"two {what} are called {name}", "rename one of the files")
        found[name] = path
    return found


def _about(
    request: EvalRequest,
    asked: Scoring,
    dataset: Dataset,
    systems: Mapping[str, Predictions],
    databases: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    settings = request.settings
    bounds = ("timeout", "score_rows", "score_bytes", "max_cell_bytes", "worker_memory_mb")
    guarding = ("tau_inject", "tau_remove", "tau_repeat", "explosion_factor", "explosion_min_rows")
    names = bounds + (guarding if request.guard else ()) + (("today",) if settings.today else ())
    return {
        "schema_version": 1,
        "modularsql": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "jobs": settings.jobs,
        "inputs": {
            "modularsql": __version__,
            "dataset": {**marks(dataset.path), "kind": dataset.kind},
            "gold": {path.name: marks(path) for path in dataset.gold},
            "systems": {name: marks(found.path) for name, found in systems.items()},
            "databases": {
                name if file == files[0] else f"{name}/{Path(file).name}": database_marks(file)
                for name, files in databases.items()
                for file in files
            },
            "note": dataset.note,
            "missing_databases": sorted(name for name, files in databases.items() if not files),
            "several_files": sorted(name for name, files in databases.items() if len(files) > 1),
            "metrics": _metrics(request, asked),
            "guard": list(request.guard),
            "pools": {n: marks(path) for n, path in _named(request.pools, "pools").items()},
            "policy_files": {n: marks(Path(n)) for n in request.guard if n.endswith(".toml")},
            "slow_gold_out": request.slow_gold_out,
            "smells": request.smells,
            "tolerance": None if request.tolerance is None else asdict(request.tolerance),
            "turns": request.turns,
            "settings": {name: getattr(settings, name) for name in names},
        },
    }
