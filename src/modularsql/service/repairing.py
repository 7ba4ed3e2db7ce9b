"""The use case `repair`: the guard over a whole prediction set."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from modularsql.config import Settings
from modularsql.errors import InputError
from modularsql.evaluation.datasets import Dataset, read_dataset
from modularsql.evaluation.pools import Pools, read_pools
from modularsql.evaluation.predictions import (
    Predictions,
    check_out,
    fits,
    read_predictions,
    write_predictions,
)
from modularsql.guard.policy_file import choose_policy
from modularsql.guard.probe import TRIGGERS
from modularsql.json_values import plain
from modularsql.llm.connect import connect_model
from modularsql.ports import Model
from modularsql.records import Cost
from modularsql.service.in_workers import Repaired, Task, guard_all
from modularsql.service.jsonable import SCHEMA_VERSION
from modularsql.service.rescuing import RescueSummary
from modularsql.service.sources import check_root, file_of, find_databases, told
from modularsql.service.telemetry import traced_model, whole

Progress = Callable[[int, int], None]
"""Called with the number of questions done and of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRequest:
    """What `repair` needs."""

    dataset: str
    predictions: Path
    db_root: str | Path
    out: Path
    settings: Settings
    pools: Path | None = None
    progress: Progress = lambda done, total: None


@dataclass(slots=True, kw_only=True)
class RepairSummary:
    """Counts over a prediction set. Statuses beyond the probe's: `no_sql` (the entry is no
    text), `no_database`, `refused`, `locked`, `died`."""

    questions: int = 0
    policy: str = ""
    out: str = ""
    note: str | None = None
    changes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    by_rule: Counter[str] = field(default_factory=Counter)
    by_status: Counter[str] = field(default_factory=Counter)
    by_trigger: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    missing_databases: set[str] = field(default_factory=set)
    unwritable: list[str] = field(default_factory=list)
    rescue: RescueSummary = field(default_factory=RescueSummary)

    @property
    def changed(self) -> int:
        """How many queries the written set has another SQL for."""
        return len(self.changes)

    def as_json(self) -> dict[str, Any]:
        """The object that `repair --format json` prints."""
        shown: dict[str, Any] = plain(
            {
                "schema_version": SCHEMA_VERSION,
                "policy": self.policy,
                "questions": self.questions,
                "changed": self.changed,
                "changes": self.changes,
                "by_rule": dict(self.by_rule),
                "by_trigger": dict(self.by_trigger),
                "by_status": dict(self.by_status),
                "missing_databases": sorted(self.missing_databases),
                "problems": dict(self.problems),
                "unwritable": self.unwritable,
                "note": self.note,
                "rescue": self.rescue.as_json(),
                "out": self.out,
            }
        )
        return shown

    def add(self, one: Repaired) -> None:
        """Count one question."""
        self.by_status[one.status] += 1
        if one.status in TRIGGERS:
            self.by_trigger[TRIGGERS[one.status]] += 1
        self.by_rule.update(one.rules)
        if one.problem:
            self.problems[one.problem] += 1
        self.rescue.add(one, flagged=one.status in TRIGGERS)


def repair(request: RepairRequest) -> RepairSummary:
    """Guard every prediction, write the repaired set, return the counts.

    Raises `InputError` for unreadable or mismatching files and for an `out` that cannot be
    written, before anything is run.
    """
    choose_policy(request.settings.policy, request.settings)
    check_root(request.db_root)
    dataset = read_dataset(request.dataset)
    predictions = read_predictions(request.predictions, dataset)
    files = find_databases(request.db_root, dataset, request.settings)
    databases = {name: next(iter(found), None) for name, found in files.items()}
    pools = {} if request.pools is None else read_pools(request.pools, dataset)
    model = connect_model(request.settings)
    if model is not None:
        model = traced_model(model, request.settings)
    read = (predictions.path, dataset.path, *map(file_of, chain.from_iterable(files.values())))
    _check_is_new(request.out, filter(None, read))
    check_out(predictions, request.out)
    summary = RepairSummary(
        questions=len(dataset.questions),
        policy=request.settings.policy,
        out=str(request.out),
        note=dataset.note,
        missing_databases={name for name, path in databases.items() if path is None},
    )
    summary.rescue = RescueSummary(pools=len(pools), model=request.settings.model)
    sqls: dict[str, str] = {}
    given = _Given(predictions=predictions, dataset=dataset, databases=databases, pools=pools)
    with (
        told("nothing was written"),
        whole("repair", request.settings),
        closing(_guarded(given, request.settings, model)) as results,
    ):
        for done, (question, one) in enumerate(results, 1):
            summary.add(one)
            _take(question, one, predictions, sqls, summary)
            request.progress(done, summary.questions)
    write_predictions(predictions, sqls, request.out)
    return summary


def _check_is_new(out: Path, sources: Iterable[Path]) -> None:
    """What is read must still be there afterwards."""
    for source in sources:
        with suppress(OSError, ValueError):
            if out.samefile(source):
                raise InputError(f"{out} is read here, and would be lost", "name another --out")


def _take(
    question: str,
    one: Repaired,
    predictions: Predictions,
    sqls: dict[str, str],
    summary: RepairSummary,
) -> None:
    """One SQL that the format cannot hold (a line break inside a literal) costs only itself."""
    if one.sql is None:
        return
    if fits(predictions, question, one.sql):
        sqls[question] = one.sql
        summary.changes[question] = one.rules
    else:
        summary.unwritable.append(question)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """What is read before anything is run."""

    predictions: Predictions
    dataset: Dataset
    databases: dict[str, str | None]
    pools: Pools


def _guarded(
    given: _Given, settings: Settings, model: Model | None
) -> Generator[tuple[str, Repaired], None, None]:
    """The id of each question and what became of it; what several ask in one way, is asked once."""
    reads = model is not None or choose_policy(settings.policy, settings).grain
    tasks: dict[Task, list[str]] = {}
    for question, prediction in zip(given.dataset.questions, given.predictions.items, strict=True):
        path = given.databases[question.db]
        if not prediction.sql:
            yield question.id, Repaired(status="no_sql")
        elif path is None:
            yield question.id, Repaired(status="no_database")
        else:
            task = Task(
                database=path,
                sql=prediction.sql,
                question=question.question if reads else "",
                hint=question.hint if reads else "",
                candidates=given.pools.get(question.id, ()),
            )
            tasks.setdefault(task, []).append(question.id)
    # Queries on one database in a row: a worker then opens few.
    ordered = sorted(tasks, key=lambda task: task.database)
    # Findings are not shown here: nothing is measured for a reader, and nothing suggested to him.
    settings = replace(settings, evidence_seconds=0)
    if settings.transpile == "suggest":
        settings = replace(settings, transpile="off")
    with closing(guard_all(ordered, settings, model)) as results:
        for task, one in zip(ordered, results, strict=True):
            first, *others = tasks[task]
            yield first, one
            # What a model cost, it cost once.
            yield from ((other, replace(one, cost=Cost())) for other in others)
