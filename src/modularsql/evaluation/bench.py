"""Runs and scores a batch: in a worker process, with the rows at hand and never sent anywhere.

Scores: 0 where the prediction failed and gold did not; None (undecided) where gold gave no rows,
or where it was our bounds or a lock that kept rows from us.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from modularsql.catalog import Catalog
from modularsql.engines.isolated import GRACE
from modularsql.engines.worker import alarm
from modularsql.errors import ModularSqlError, SetupError, is_away
from modularsql.evaluation.batch import Asked, Batch, Unit
from modularsql.evaluation.cause import BY_COLUMNS, Cause, cause, column_map
from modularsql.evaluation.csv_rows import as_csv, read_gold
from modularsql.evaluation.further import all_scores, with_ties
from modularsql.evaluation.gold import GoldFile
from modularsql.evaluation.log import NOT_RUN, TOO_SLOW, Guarded, Ran, Record
from modularsql.evaluation.metrics import Metric
from modularsql.evaluation.pair import Pair
from modularsql.evaluation.sides import sides
from modularsql.ports import Engine, Outcome, Streaming, catalog_of, losses
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Rows, distinct_rows
from modularsql.rows.streams import same_bag

T = TypeVar("T")

UNDECIDED = ("truncated", "too_large", "locked", "no_database", NOT_RUN)
"""Statuses of a prediction of which nobody can say that it is wrong."""


class Recalling:
    """An engine that runs each statement once as long as somebody may ask for it again.

    `uses` counts how often the batch itself will. A statement that stops for nothing ends the
    process a moment after its limit.
    """

    def __init__(self, engine: Engine, uses: Mapping[str, int]) -> None:
        self._engine = engine
        self._left = Counter(uses)
        self._known: dict[str, Outcome] = {}
        self.dialect = engine.dialect
        self.name = engine.name

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """See `ports.Engine`."""
        if (known := self._known.get(sql)) is None:
            with alarm(limits.seconds + GRACE):
                known = self._engine.execute(sql, params, limits=limits)
            self._known[sql] = known
        return known

    def fold(self, function: Callable[..., T], *sqls: str, limits: Limits) -> T | Failure | None:
        """As `ports.Streaming`; None where the engine cannot, or a library is missing."""
        if not isinstance(self._engine, Streaming):
            return None
        try:
            with alarm(limits.seconds + GRACE):
                return self._engine.fold(function, *sqls, limits=limits)
        except SetupError as error:
            _bear(error)
            return None

    def done_with(self, sql: str | None) -> None:
        """One use of a statement is over; what nobody asks for any more is dropped."""
        if sql is not None:
            self._left[sql] -= 1
        self._known = {one: rows for one, rows in self._known.items() if self._left[one] > 0}

    def catalog(self) -> Catalog:
        """See `ports.Engine`."""
        return self._engine.catalog()

    def catalog_with(self, schemas: frozenset[str]) -> Catalog:
        """See `ports.Spanning`."""
        return catalog_of(self._engine, schemas)

    def compares_bytes(self) -> bool:
        """See `ports.Engine`."""
        return self._engine.compares_bytes()

    def close(self) -> None:
        """The engine stays open: it is not ours."""


Guarding = Callable[[Engine, Asked, "Pairing | None", str, Sequence[Guarded]], Guarded]
"""What the guard makes of a prediction, from an engine, what sets a result beside gold's (None:
there is none), the name of a policy, and what came of the policies before it."""

Pairing = Callable[[Rows, str], Pair]
"""A prediction's rows and its query, beside gold's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smelling:
    """The smells of a gold query, and of a predicted one, from an engine, its text and outcome;
    of gold also from what runs a query."""

    gold: Callable[[Engine, str, Outcome, Callable[[str], Rows | None]], tuple[str, ...]]
    pred: Callable[[Engine, str, Outcome], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What a batch is scored by; `guard` and `smelling` are None where nobody asked for them."""

    metrics: tuple[Metric, ...]
    limits: Limits
    guard: Guarding | None = None
    smelling: Smelling | None = None


def score_batch(batch: Batch, open_: Callable[[str], Engine], bench: Bench) -> list[Record]:
    """The records of all pairs of a batch. Never raises for a bad query or database.

    Raises `SetupError` where a server is away.
    """
    try:
        engine = open_(batch.database)
    except ModularSqlError as error:
        ran = _unreadable(error)
        return [_without_gold(one, ran, ran) for unit in batch.units for one in unit.asked]
    uses: Counter[str] = Counter()
    for unit in batch.units:
        queries = [unit.gold] if isinstance(unit.gold, str) else []
        uses.update(filter(None, (*queries, *(one.sql for one in unit.asked))))
    before = losses(engine)
    records = _scored(batch, Recalling(engine, uses), bench)
    if losses(engine) == before:
        return records
    # The server may have ended for another reason than these queries.
    return _scored(batch, Recalling(engine, uses), bench)


def _scored(batch: Batch, desk: Recalling, bench: Bench) -> list[Record]:
    return [record for unit in batch.units for record in _Scorer(desk, bench, unit).records(batch)]


def lost(batch: Batch, status: str, problem: str | None) -> list[Record]:
    """Records of a batch that was given up: its gold ends the process."""
    gold = Ran(status=status, error=problem)
    pred = Ran(status=NOT_RUN)
    smells = (TOO_SLOW,) if status == TOO_SLOW else ()
    return [
        replace(_without_gold(one, gold, pred), smells=smells)
        for unit in batch.units
        for one in unit.asked
    ]


def _without_gold(one: Asked, gold: Ran, pred: Ran) -> Record:
    return Record(pair=one.pair, gold=gold, pred=pred, cause=f"gold_{gold.status}")


class _Scorer:
    """Scores the predictions of one unit against its gold."""

    def __init__(self, desk: Recalling, bench: Bench, unit: Unit) -> None:
        self._desk = desk
        self._bench = bench
        self._unit = unit
        self._besides: dict[str, Rows | None] = {}
        self._sql = unit.gold if isinstance(unit.gold, str) else None
        self._standard = unit.gold if isinstance(unit.gold, GoldFile) else None
        if self._standard is not None:
            self._gold, self._gold_ran = _ran(read_gold(self._standard, bench.limits.max_rows))
        else:
            self._gold, self._gold_ran = self._run(self._sql, "no_gold")
        self._smells = self._gold_smells()

    def records(self, batch: Batch) -> Iterator[Record]:
        """One record for each prediction; several with one text are scored once."""
        scored: dict[str, Record] = {}
        for one in self._unit.asked:
            if batch.blame is not None:
                record = self._unscored(one, Ran(status=batch.blame))
                yield replace(record, smells=self._smells)
                continue
            if (known := scored.get(one.sql)) is None:
                known = self._record(one)
                known = scored[one.sql] = replace(known, pred_smells=self._pred_smells(one.sql))
            guarded = self._guarded(one, batch.policies)
            yield replace(known, pair=one.pair, guarded=guarded, smells=self._smells)
            self._desk.done_with(one.sql)
        self._desk.done_with(self._sql)

    def _run(self, sql: str | None, absent: str) -> tuple[Rows | None, Ran]:
        if not sql:
            return None, Ran(status=absent)
        try:
            outcome = self._desk.execute(sql, limits=self._bench.limits)
        except ModularSqlError as error:  # the file itself went bad
            return None, _unreadable(error)
        except MemoryError:
            return None, Ran(status="too_large", error="no memory left in the worker process")
        return _ran(outcome)

    def _gold_smells(self) -> tuple[str, ...]:
        smelling = self._bench.smelling
        if smelling is None or not self._sql:
            return ()
        gold, further = smelling.gold, self._further
        return self._smelled(
            self._sql, lambda engine, sql, outcome: gold(engine, sql, outcome, further)
        )

    def _pred_smells(self, sql: str) -> tuple[str, ...]:
        smelling = self._bench.smelling
        return () if smelling is None or not sql else self._smelled(sql, smelling.pred)

    def _smelled(
        self, sql: str, smells: Callable[[Engine, str, Outcome], tuple[str, ...]]
    ) -> tuple[str, ...]:
        try:
            outcome = self._desk.execute(sql, limits=self._bench.limits)  # remembered
            return smells(self._desk, sql, outcome)
        except (ModularSqlError, MemoryError) as error:  # the file went bad, or no memory is left
            _bear(error)
            return ()

    def _record(self, one: Asked) -> Record:
        gold = self._gold
        pred, ran = self._run(one.sql, "no_sql")
        try:
            if pred is not None and ran.ok:
                ran = replace(ran, distinct=len(distinct_rows(pred.rows)))
            if gold is not None and pred is not None:
                return self._compared(one, gold, pred, ran)
            left, right = sides(gold, pred and self._beside_gold(pred))
        except MemoryError:
            return self._unscored(one, replace(ran, error="no memory left to compare the results"))
        except Exception as error:  # a mistake of ours: this pair is undecided, the others are not
            _bear(error)
            problem = f"the comparison failed: {type(error).__name__}: {error}"
            return self._unscored(one, replace(ran, error=problem))
        return replace(self._unscored(one, ran), gold_side=left, pred_side=right)

    def _compared(self, one: Asked, gold: Rows, pred: Rows, ran: Ran) -> Record:
        pair = self._pair(gold, pred, one.sql)
        if pair.truncated and pair.same_bag is None:
            pair = replace(pair, streamed=self._same_streams(one.sql))
        pair = with_ties(pair, self._further)
        why = cause(pair)
        left, right = (
            (None, None)
            if why is Cause.EQUAL
            else sides(gold, pair.pred, by_place=why is Cause.ORDER)
        )
        return Record(
            pair=one.pair,
            gold=self._gold_ran,
            pred=ran,
            scores=all_scores(pair, self._bench.metrics, self._further),
            cause=why.value,
            columns=pair.fact(column_map) if why in BY_COLUMNS else None,
            gold_side=left,
            pred_side=right,
        )

    def _pair(self, gold: Rows, pred: Rows, sql: str) -> Pair:
        return Pair(
            gold=gold,
            pred=self._beside_gold(pred),
            gold_sql=self._sql or "",
            pred_sql=sql,
            dialect=self._desk.dialect,
            standard=self._standard,
        )

    def _beside_gold(self, rows: Rows) -> Rows:
        """The rows as gold's are: from a file, where gold is one."""
        return rows if self._standard is None else as_csv(rows)

    def _same_streams(self, sql: str) -> bool | None:
        """Whether both whole results are the same multiset; None where that cannot be said."""
        if self._sql is None:
            return None
        limits = self._bench.limits
        both = replace(limits, seconds=2 * limits.seconds)
        found = self._desk.fold(same_bag, self._sql, sql, limits=both)
        return None if isinstance(found, Failure) else found

    def _further(self, sql: str) -> Rows | None:
        """The rows of a query that a score needs besides; several predictions may need it."""
        if sql not in self._besides:
            self._besides[sql] = self._run(sql, "no_sql")[0]
        return self._besides[sql]

    def _unscored(self, one: Asked, pred: Ran) -> Record:
        """A pair that was not compared: wrong where gold has an answer and the prediction fails."""
        gold = self._gold_ran
        wrong = gold.status in ("ok", "truncated") and pred.status not in UNDECIDED
        value = 0.0 if wrong and pred.status != "ok" else None
        return Record(
            pair=one.pair,
            gold=gold,
            pred=pred,
            scores={metric.name: value for metric in self._bench.metrics},
            cause=pred.status if self._gold is not None else f"gold_{gold.status}",
        )

    def _guarded(self, one: Asked, policies: Sequence[str]) -> tuple[Guarded, ...]:
        if self._bench.guard is None or not one.sql or not one.guarded:
            return ()
        found: list[Guarded] = []
        for policy in policies:
            found.append(self._guarded_by(policy, one, found))
        return tuple(found)

    def _guarded_by(self, policy: str, one: Asked, before: Sequence[Guarded]) -> Guarded:
        assert self._bench.guard is not None
        pairing = None if self._gold is None else partial(self._pair, self._gold)
        try:
            return self._bench.guard(self._desk, one, pairing, policy, before)
        except (ModularSqlError, MemoryError) as error:  # the file went bad, or no memory is left
            _bear(error)
            return Guarded(policy=policy, status="died")


def _ran(outcome: Outcome) -> tuple[Rows | None, Ran]:
    if isinstance(outcome, Failure):
        return None, Ran(status=outcome.kind.value, error=outcome.message)
    if outcome.truncated:
        return outcome, Ran(status="truncated", ms=outcome.ms)
    return outcome, Ran(status="ok", rows=len(outcome.rows), ms=outcome.ms)


def _bear(error: Exception) -> None:
    """Raises what says nothing of the query: that a server is away."""
    if is_away(error):
        raise error


def _unreadable(error: ModularSqlError) -> Ran:
    _bear(error)
    status = FailureKind.LOCKED.value if error.kind == "locked" else "no_database"
    return Ran(status=status, error=error.message)
