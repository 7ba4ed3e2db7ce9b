"""What is run and scored together, as it travels to a worker, and its parts where that was lost."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from modularsql.evaluation.gold import Gold, GoldFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A prediction to be scored against the gold of its unit; `pair` is its number.

    `guarded`: the policies of its batch are tried on it; a mere candidate is only scored.
    """

    pair: int
    sql: str
    question: str = ""
    guarded: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One gold (None: the set has none) and all that is scored against it."""

    gold: Gold | None
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Units of one database that share statements, to be worked through by one process.

    `policies` are those of the guard to try. `blame`: the predictions are known to end the
    process with this status; only gold is run.
    """

    database: str
    units: tuple[Unit, ...]
    policies: tuple[str, ...] = ()
    blame: str | None = None


def gold_files(batches: Iterable[Batch]) -> tuple[Path, ...]:
    """The published results that batches are scored by."""
    golds = (unit.gold for batch in batches for unit in batch.units)
    return tuple(Path(g) for g in {g.path: None for g in golds if isinstance(g, GoldFile)})


def smaller(batch: Batch, status: str) -> list[Batch]:
    """What to try of a batch that ended its process: its parts, then without the guard, then
    gold alone. Nothing, once gold alone ended it."""
    units, base = batch.units, batch.database
    if len(units) > 1 or len(units[0].asked) > 1:
        return [
            Batch(database=base, units=(Unit(gold=u.gold, asked=(one,)),), policies=batch.policies)
            for u in units
            for one in u.asked
        ]
    if batch.policies:
        return [Batch(database=base, units=units)]
    if batch.blame is None:
        return [Batch(database=base, units=units, blame=status)]
    return []
