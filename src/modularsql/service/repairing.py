"""The use case `repair`: the guard over a whole prediction set."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from modularsql.config import Settings
from modularsql.errors import InputError
from modularsql.evaluation.datasets import Dataset, read_dataset
from modularsql.evaluation.predictions import (
    Predictions,
    check_out,
    fits,
    read_predictions,
    write_predictions,
)
from modularsql.guard.policy_file import choose_policy
from modularsql.json_values import plain
from modularsql.service.in_workers import Repaired, Task, guard_all
from modularsql.service.jsonable import SCHEMA_VERSION
from modularsql.service.sources import check_root, find_databases

TRIGGERS = {  # our probe status: the paper's name for the trigger
    "error": "exec_error",
    "timeout": "exec_error",
    "empty": "empty_result",
    "duplicates": "cartesian_explosion",
}

Progress = Callable[[int, int], None]
"""Called with the number of questions done and of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRequest:
    """What `repair` needs."""

    dataset: str
    predictions: Path
    db_root: Path
    out: Path
    settings: Settings
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


def repair(request: RepairRequest) -> RepairSummary:
    """Guard every prediction, write the repaired set, return the counts.

    Raises `InputError` for unreadable or mismatching files and for an `out` that cannot be
    written, before anything is run.
    """
    choose_policy(request.settings.policy, request.settings)
    check_root(request.db_root)
    dataset = read_dataset(request.dataset)
    predictions = read_predictions(request.predictions, dataset)
    databases = find_databases(request.db_root, dataset)
    _check_is_new(request.out, (predictions.path, dataset.path, *filter(None, databases.values())))
    check_out(predictions, request.out)
    summary = RepairSummary(
        questions=len(dataset.questions),
        policy=request.settings.policy,
        out=str(request.out),
        note=dataset.note,
        missing_databases={name for name, path in databases.items() if path is None},
    )
    sqls: dict[str, str] = {}
    with closing(_guarded(predictions, dataset, databases, request.settings)) as results:
        for done, one in enumerate(results, 1):
            summary.add(one)
            _take(one, predictions, sqls, summary)
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
    one: Repaired, predictions: Predictions, sqls: dict[str, str], summary: RepairSummary
) -> None:
    """One SQL that the format cannot hold (a line break inside a literal) costs only itself."""
    if one.sql is None:
        return
    if fits(predictions, one.id, one.sql):
        sqls[one.id] = one.sql
        summary.changes[one.id] = one.rules
    else:
        summary.unwritable.append(one.id)


def _guarded(
    predictions: Predictions,
    dataset: Dataset,
    databases: dict[str, Path | None],
    settings: Settings,
) -> Generator[Repaired, None, None]:
    tasks = []
    for question, prediction in zip(dataset.questions, predictions.items, strict=True):
        path = databases[question.db]
        if not prediction.sql:
            yield Repaired(id=question.id, status="no_sql")
        elif path is None:
            yield Repaired(id=question.id, status="no_database")
        else:
            tasks.append(
                Task(
                    id=question.id,
                    database=str(path),
                    sql=prediction.sql,
                    question=question.question,
                )
            )
    # Questions on one database in a row: a worker then opens few.
    tasks.sort(key=lambda task: task.database)
    # Findings are not shown here, so nothing is measured for a reader.
    yield from guard_all(tasks, replace(settings, evidence_seconds=0))
