"""What the workers of `eval` do: open a database, run and score a batch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from modularsql.config import Settings
from modularsql.engines.isolated import GRACE
from modularsql.evaluation.batch import Batch, gold_files, smaller
from modularsql.evaluation.bench import Bench, Guarding, Smelling, lost, score_batch
from modularsql.evaluation.log import Record
from modularsql.evaluation.metrics import METRICS
from modularsql.evaluation.metrics.tolerant import tolerant_ex
from modularsql.rows.tolerance import Tolerance
from modularsql.service.opened import Opened, when_there
from modularsql.service.pool import Loss
from modularsql.service.workers import Work

_STATEMENTS_OF_A_PREDICTION = 3
"""Its own, and both it and gold once more where a cap has cut a result."""
_STATEMENTS_OF_A_POLICY = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """What is asked of each pair: metrics by name, the guard's policies, the smells.

    With a tolerance, Multiset-EX that allows it comes on top of the metrics.
    """

    metrics: tuple[str, ...]
    guard: tuple[str, ...] = ()
    smells: bool = False
    tolerance: Tolerance | None = None

    @property
    def policy_files(self) -> tuple[Path, ...]:
        """The policies that are files."""
        return tuple(Path(name) for name in self.guard if name.endswith(".toml"))


def scoring_work(
    asked: Scoring, settings: Settings, batches: Sequence[Batch]
) -> Work[Batch, list[Record]]:
    """What is to be done with batches, for `workers.run_all`."""
    return Work(
        prepare=partial(prepare, asked),
        do=score,
        seconds=partial(_seconds, settings.timeout + GRACE),
        smaller=lambda batch, loss: smaller(batch, loss.status),
        lost=_lost,
        files=(*asked.policy_files, *gold_files(batches)),
    )


def _seconds(limit: float, batch: Batch) -> float:
    """Each statement is stopped at its own limit; this is for what happens between them."""
    each = _STATEMENTS_OF_A_PREDICTION + _STATEMENTS_OF_A_POLICY * len(batch.policies)
    return limit * sum(1 + each * len(unit.asked) for unit in batch.units)


def _lost(batch: Batch, loss: Loss) -> list[Record]:
    return lost(batch, loss.status, loss.problem)


@dataclass(slots=True)
class _Here:
    """In a worker process: what it has open, and how it scores."""

    opened: Opened
    bench: Bench


_here: _Here | None = None


def prepare(asked: Scoring, settings: Settings) -> None:
    """In a worker process, once."""
    global _here
    metrics = tuple(METRICS[name] for name in asked.metrics)
    if asked.tolerance is not None:
        metrics += (tolerant_ex(asked.tolerance),)
    bench = Bench(
        metrics=metrics,
        limits=settings.scoring_limits(),
        guard=_guarding(settings) if asked.guard else None,
        smelling=_smelling(settings) if asked.smells else None,
    )
    _here = _Here(Opened(settings), bench)


def _guarding(settings: Settings) -> Guarding:
    # Imported here: the guard's parser takes longer to import than most runs.
    from modularsql.evaluation.guarding import guard_one

    limits = settings.scoring_limits()
    same = replace(settings, max_rows=limits.max_rows, max_bytes=limits.max_bytes)
    return partial(guard_one, settings=same)


def _smelling(settings: Settings) -> Smelling:
    # Imported here, as the guard is.
    from modularsql.evaluation.smelling import smell, smell_of_prediction

    return Smelling(
        gold=partial(smell, settings=settings), pred=partial(smell_of_prediction, settings=settings)
    )


def score(batch: Batch) -> list[Record]:
    """In a worker process: the records of a batch."""
    assert _here is not None
    return when_there(partial(score_batch, batch, _here.opened.engine, _here.bench))
