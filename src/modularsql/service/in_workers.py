"""Many queries on many databases, guarded in worker processes.

A query that ends its worker is run once more without repairs; if it does so again, it is lost: it
keeps its SQL and is counted.
"""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from modularsql.config import Settings
from modularsql.engines.isolated import GRACE
from modularsql.errors import ModularSqlError, is_away
from modularsql.guard.policy_file import ENDING, choose_policy
from modularsql.guard.run import Guard
from modularsql.llm.desk import ModelDesk
from modularsql.ports import Model, losses
from modularsql.records import Answer, Cost, FailureKind, Rescue
from modularsql.service.opened import Opened, when_there
from modularsql.service.pool import Loss
from modularsql.service.workers import Work, run_all

_MOST_CALLS = 4  # of a model for one question: two votes, each asked for twice


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A query as it travels to a worker; without `repairs` it is only looked at."""

    database: str
    sql: str
    question: str = ""
    hint: str = ""
    candidates: tuple[str, ...] = ()
    repairs: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What became of one query; `sql` is None where nothing changed."""

    status: str
    rules: tuple[str, ...] = ()
    sql: str | None = None
    problem: str | None = None
    rescue: Rescue | None = None
    cost: Cost = field(default_factory=Cost)
    rescue_ms: float = 0.0
    notes: tuple[str, ...] = ()


def guard_all(
    tasks: list[Task], settings: Settings, model: Model | None = None
) -> Generator[Repaired, None, None]:
    """Guard each query with repairs applied; results in the order of the tasks.

    The model stays in this process; workers ask it through `llm.desk`. Close the iterator to end
    the workers. Raises `SetupError` when no worker can be started.
    """
    with ExitStack() as stack:
        desk = None if model is None else stack.enter_context(ModelDesk(model, _host(settings)))
        work = Work(
            prepare=partial(prepare, model=None if desk is None else desk.door()),
            do=guarded,
            seconds=partial(_seconds, _limit(settings, asks=model is not None)),
            smaller=_smaller,
            lost=_lost,
            files=(Path(settings.policy),) if settings.policy.endswith(ENDING) else (),
            at_once=1 if model is None else settings.model_concurrency,
        )
        for some in stack.enter_context(closing(run_all(tasks, work, settings))):
            yield from some


def _host(settings: Settings) -> str | None:
    """Where workers on other machines find the model."""
    if not settings.cluster:
        return None
    from modularsql.service.cluster import own_host

    return own_host(settings.cluster)


def _limit(settings: Settings, asks: bool) -> float:
    """Seconds one question may take: its queries, candidates and repairs, and what it asks."""
    once = settings.timeout + GRACE
    return 3 * once + _MOST_CALLS * settings.model_timeout if asks else once


def _seconds(limit: float, task: Task) -> float:
    return limit


def _smaller(task: Task, loss: Loss) -> Sequence[Task]:
    """It may have been a patch that ended the process, and not the query."""
    return [] if loss.timeout or not task.repairs else [replace(task, repairs=False)]


def _lost(task: Task, loss: Loss) -> Repaired:
    return Repaired(status=loss.status, problem=loss.problem)


_opened: Opened | None = None
_model: Model | None = None


def prepare(settings: Settings, model: Model | None = None) -> None:
    """In a worker process, once."""
    global _opened, _model
    _opened, _model = Opened(settings), model


def guarded(task: Task) -> Repaired:
    """In a worker process: guard one query. Raises `SetupError` where its server is away."""
    return when_there(partial(_guarded, task))


def _guarded(task: Task) -> Repaired:
    assert _opened is not None
    settings = _opened.settings
    try:
        policy = choose_policy(settings.policy if task.repairs else "off", settings)
        with _opened.use(task.database) as engine:
            guard = partial(
                Guard(engine, policy, settings, _model).run,
                task.sql,
                question=task.question,
                hint=task.hint,
                candidates=task.candidates,
                candidates_from="--pools",
                fix=True,
            )
            before = losses(engine)
            answer = guard()
            if losses(engine) != before:  # maybe for another reason than this query
                answer = guard()
    except ModularSqlError as error:
        if is_away(error):
            raise
        status = "locked" if error.kind == "locked" else "no_database"
        return Repaired(status=status, problem=error.message)
    except MemoryError:
        problem = f"no memory left (worker_memory_mb is {settings.worker_memory_mb:,})"
        return Repaired(status="died", problem=problem)
    except Exception as error:  # a mistake of ours: this question is lost, the others are not
        problem = f"the guard failed: {type(error).__name__}: {error}"
        return Repaired(status="died", problem=problem)
    return Repaired(
        status=_status(answer),
        rules=answer.applied,
        sql=answer.final_sql if answer.applied else None,
        rescue=answer.rescue,
        cost=answer.cost,
        rescue_ms=answer.timing_ms["rescue"],
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
