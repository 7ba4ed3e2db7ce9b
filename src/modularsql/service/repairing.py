"""The use case `repair`: the guard over a whole prediction set, in worker processes.

A worker keeps a few databases open and is given one question at a time. When a query does not
stop by itself, or takes its process down, that worker is replaced and one question is lost: it
keeps its SQL and is counted.
"""

import multiprocessing
import os
import tempfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from modularsql.config import Settings
from modularsql.engines.connect import connect
from modularsql.engines.isolated import GRACE, prepare_worker
from modularsql.errors import InputError, ModularSqlError
from modularsql.evaluation.datasets import Dataset, database_file, read_dataset
from modularsql.evaluation.predictions import Predictions, read_predictions, write_predictions
from modularsql.guard.policy import find_policy
from modularsql.guard.run import Guard
from modularsql.records import Answer, FailureKind
from modularsql.service.jsonable import SCHEMA_VERSION

# Beyond the time limit of the queries: reading and parsing the SQL, opening the database.
_OWN_WORK = 15.0
_OPEN_DATABASES = 4

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What became of one question; `sql` is None where nothing changed."""

    id: str
    status: str
    rule: str | None = None
    sql: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class RepairSummary:
    """Counts over a prediction set. Statuses beyond the probe's: `no_sql` (the entry is no
    text), `no_database`, `refused`, `locked`, `died`."""

    questions: int = 0
    policy: str = ""
    out: str = ""
    by_rule: Counter[str] = field(default_factory=Counter)
    by_status: Counter[str] = field(default_factory=Counter)
    by_trigger: Counter[str] = field(default_factory=Counter)
    missing_databases: set[str] = field(default_factory=set)
    unwritable: list[str] = field(default_factory=list)

    @property
    def changed(self) -> int:
        """How many queries the written set has another SQL for."""
        return self.by_rule.total() - len(self.unwritable)

    def as_json(self) -> dict[str, Any]:
        """The object that `repair --format json` prints."""
        return {
            "schema_version": SCHEMA_VERSION,
            "policy": self.policy,
            "questions": self.questions,
            "changed": self.changed,
            "by_rule": dict(self.by_rule),
            "by_trigger": dict(self.by_trigger),
            "by_status": dict(self.by_status),
            "missing_databases": sorted(self.missing_databases),
            "unwritable": self.unwritable,
            "out": self.out,
        }

    def add(self, one: Repaired) -> None:
        """Count one question."""
        self.by_status[one.status] += 1
        if one.status in TRIGGERS:
            self.by_trigger[TRIGGERS[one.status]] += 1
        if one.rule:
            self.by_rule[one.rule] += 1


def repair(request: RepairRequest) -> RepairSummary:
    """Guard every prediction, write the repaired set, return the counts.

    Raises `InputError` for unreadable or mismatching files, before anything is run or written.
    """
    find_policy(request.settings.policy, request.settings)
    if not request.db_root.is_dir():
        raise InputError(f"no folder of databases at {request.db_root}", "check --db-root")
    dataset = read_dataset(request.dataset)
    predictions = read_predictions(request.predictions, dataset)
    summary = RepairSummary(
        questions=len(dataset.questions), policy=request.settings.policy, out=str(request.out)
    )
    changes: dict[str, str] = {}
    for done, one in enumerate(_guarded(request, dataset, predictions, summary), 1):
        summary.add(one)
        if one.sql is not None:
            changes[one.id] = one.sql
        request.progress(done, summary.questions)
    _write(predictions, changes, request.out, summary)
    return summary


def _write(
    predictions: Predictions, changes: dict[str, str], out: Path, summary: RepairSummary
) -> None:
    """One SQL that the format cannot hold (a line break inside a literal) costs only itself."""
    for id_, sql in list(changes.items()):
        if predictions.kind == "lines" and "\n" in sql:
            del changes[id_]
            summary.unwritable.append(id_)
    write_predictions(predictions, changes, out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One question as it travels to a worker."""

    id: str
    database: str
    sql: str


def _guarded(
    request: RepairRequest, dataset: Dataset, predictions: Predictions, summary: RepairSummary
) -> Iterator[Repaired]:
    tasks = []
    for question, prediction in zip(dataset.questions, predictions.items, strict=True):
        path = database_file(request.db_root, question.db)
        if not prediction.sql:
            yield Repaired(id=question.id, status="no_sql")
        elif path is None:
            summary.missing_databases.add(question.db)
            yield Repaired(id=question.id, status="no_database")
        else:
            tasks.append(Task(id=question.id, database=str(path), sql=prediction.sql))
    # Questions on one database in a row: a worker then opens few.
    tasks.sort(key=lambda task: task.database)
    if tasks:
        yield from _in_workers(tasks, request.settings)


def _in_workers(tasks: list[Task], settings: Settings) -> Iterator[Repaired]:
    jobs = min(settings.jobs or os.cpu_count() or 1, len(tasks))
    context = multiprocessing.get_context("spawn")
    within = settings.timeout + GRACE + _OWN_WORK
    with (
        tempfile.TemporaryDirectory(prefix="modularsql-", ignore_cleanup_errors=True) as scratch,
        ProcessPool(
            max_workers=jobs,
            context=context,
            initializer=_start,
            initargs=(settings, scratch),
        ) as pool,
    ):

        def start(task: Task, patches: bool) -> "ProcessFuture[Repaired]":
            return pool.schedule(_work, args=(task, patches), timeout=within)

        try:
            for task, future in [(task, start(task, True)) for task in tasks]:
                yield _outcome(task, future, lambda task: start(task, False))
        except BaseException:
            pool.stop()  # type: ignore[no-untyped-call]
            raise


Again = Callable[[Task], "ProcessFuture[Repaired]"]


def _outcome(task: Task, future: "ProcessFuture[Repaired]", again: "Again | None") -> Repaired:
    try:
        result: Repaired = future.result()
    except FutureTimeout:
        lost = "timeout"
    except ProcessExpired:
        lost = "died"
    else:
        return result
    if again is None:
        return Repaired(id=task.id, status=lost)
    # It may have been a patch that hung, not the query: ask once more without patches.
    return _outcome(task, again(task), None)


class _Worker:
    """In a worker process: the databases it has open, the last used kept."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._guards: OrderedDict[str, Guard] = OrderedDict()

    def guard(self, database: str) -> Guard:
        """The guard of a database, opened if need be."""
        if database not in self._guards:
            if len(self._guards) >= _OPEN_DATABASES:
                self._guards.popitem(last=False)[1].close()
            engine = connect(database, self.settings)
            self._guards[database] = Guard(engine, settings=self.settings)
        self._guards.move_to_end(database)
        return self._guards[database]


_worker: _Worker | None = None


def _start(settings: Settings, scratch: str) -> None:
    global _worker
    prepare_worker(settings, scratch)
    _worker = _Worker(settings)


def _work(task: Task, patches: bool) -> Repaired:
    assert _worker is not None
    try:
        guard = _worker.guard(task.database)
        policy: Any = guard.policy if patches else find_policy("off", _worker.settings)
        answer = Guard(guard.engine, policy, _worker.settings).run(task.sql, fix=True)
    except ModularSqlError as error:
        status = "locked" if error.kind == "locked" else "no_database"
        return Repaired(id=task.id, status=status, notes=(error.message,))
    return Repaired(
        id=task.id,
        status=_status(answer),
        rule=answer.applied[0] if answer.applied else None,
        sql=answer.final_sql if answer.applied else None,
        notes=answer.notes,
    )


def _status(answer: Answer) -> str:
    if answer.failure is not None and answer.failure.kind in (
        FailureKind.REFUSED,
        FailureKind.LOCKED,
        FailureKind.DIED,
    ):
        return answer.failure.kind.value
    return answer.probe.status if answer.probe else "error"
