"""One guarded query's way to the database: every execution draws on the same time budget."""

import re
import time
from collections.abc import Callable, Hashable
from copy import copy
from dataclasses import dataclass, field
from math import inf

from sqlglot import exp

from modularsql.catalog import Catalog
from modularsql.guard.counting import Counts, counting, counts_in, near_counting
from modularsql.multiplicity.bound import written_out
from modularsql.multiplicity.views import schemas_read
from modularsql.ports import Engine, Outcome, Spanning, Versioned, catalog_of
from modularsql.records import Failure, FailureKind, Limits, Params
from modularsql.rows import Rows, distinct_rows
from modularsql.sql.dialects import dialect_of
from modularsql.sql.parse import Unparsed
from modularsql.sql.plans import Plan, explaining, read_plan

# DuckDB tells values of these types apart that are equal in Python.
_FINER_THAN_PYTHON = ("TIMESTAMP_NS", "TIMESTAMPTZ_NS", "TIME_NS", "TIME WITH", "UNION", "VARIANT")
COUNTING = 3.0
"""What counting by identity takes, in times of the query (`python -m benchmarks.at_size`)."""

OUT_OF_TIME = "out of time"
LONGER = "it would take longer than probes may (probe_seconds, probe_times)"
_COLLATE = re.compile(r"\bcollate\b", re.IGNORECASE)

_SHARE = 0.75
"""Of what is left for probes, counting a result may take so much: joins are to be measured too."""

_ERRS = 10.0
"""What is expected to be dearer than so many times the bound is not tried."""

_ROUGH = 3.0
"""What an estimate of a changed query may be off by: DuckDB's is of rows, not of hash tables."""

_NEAR = 0.25
"""What an estimate takes in times of the query, at least: it hands no rows over."""

_ROW = 5e-7
"""Seconds that a row takes which is read, and not handed over: what the first rows of a query took
is mostly its start."""

_CHEAP = 8
"""A probe is not asked the price of where the query could be run so often within what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TooDear(Failure):
    """A probe that was not begun: it was expected to take longer than it may."""


@dataclass(slots=True)
class Session:
    """The engine, the bound values and what is left of the limits of one guarded query.

    `own` are the seconds that the query itself took: the first execution. All that is only asked
    to look closer is a probe: all of them together may take `limits.probe_seconds`, or
    `limits.probe_times` of that. `fix`: repairs are no probes, their rows may be the answer.
    """

    engine: Engine
    params: Params
    limits: Limits
    clock: Callable[[], float] = time.monotonic
    fix: bool = False
    own: float | None = field(default=None, init=False)
    _spent: float = field(default=0.0, init=False)
    _sql: str = field(default="", init=False)
    _cut_at: int | None = field(default=None, init=False)
    _schemas: frozenset[str] = field(default=frozenset(), init=False)
    _plans: list[Plan | None] = field(default_factory=list, init=False)
    _start: float = field(init=False)

    def __post_init__(self) -> None:
        self._start = self.clock()

    def catalog(self, tree: exp.Expr | Unparsed | None = None) -> Catalog:
        """The engine's catalog, with what was read so far of other databases on its server.

        That is: of those that a query names, or a view that it reads. Raises as the engine does.
        """
        catalog = catalog_of(self.engine, self._schemas)
        if isinstance(tree, exp.Expr) and isinstance(self.engine, Spanning):
            while more := schemas_read(tree, catalog) - self._schemas:
                self._schemas |= more
                catalog = catalog_of(self.engine, self._schemas)
        return catalog

    def left(self) -> float:
        """Seconds left for all executions together."""
        return self.limits.seconds - (self.clock() - self._start)

    def left_for_probes(self) -> float:
        """Seconds left for looking closer."""
        limits = self.limits
        allowed = max(limits.probe_seconds, limits.probe_times * (self.own or 0.0))
        return min(self.left(), allowed - self._spent)

    def run(self, sql: str, params: Params = None, at_most: float = inf) -> Outcome:
        """Execute within what is left of the budget, and within so many seconds."""
        left = min(self.left(), at_most)
        if left <= 0:
            return Failure(kind=FailureKind.TIMEOUT, message="the time limit had run out before it")
        if self.own is not None:
            return self.engine.execute(sql, params, limits=self._within(left))
        start = self.clock()
        outcome = self.engine.execute(sql, params, limits=self._within(left))
        self.own = self.clock() - start
        self._sql = sql
        if isinstance(outcome, Rows) and outcome.truncated:
            self._cut_at = len(outcome.rows)
        return outcome

    def probe(
        self,
        sql: str,
        params: Params = None,
        *,
        at_most: float = inf,
        times: float = 1.0,
        estimate: bool = True,
        errs: float = 1.0,
    ) -> Outcome:
        """Execute what only looks closer; not where it is expected to take more than is left.

        `times` is what it takes against the query, where the engine does not `estimate`; `errs` is
        what the estimate may be off by.
        """
        left = min(self.left_for_probes(), at_most)
        if left <= 0:
            return Failure(kind=FailureKind.TIMEOUT, message=OUT_OF_TIME)
        expected = (
            self.expected(sql, params, left=left, times=times) if estimate else times * self.whole()
        )
        if expected * errs > left:
            return _too_dear(expected, left)
        return self._charged(sql, params, left)

    def attempt(self, sql: str) -> Outcome:
        """Execute a changed query: as a probe, where the query itself would fit, or far less."""
        if self.fix:
            return self.run(sql, self.params)
        errs = 1.0 if self.whole() <= self.left_for_probes() else _ROUGH
        return self.probe(sql, self.params, errs=errs)

    def expected(self, sql: str, params: Params, *, left: float, times: float = 1.0) -> float:
        """Seconds that a query is expected to take, 0 where that is well below `left`.

        The engine's own estimate, against its estimate of the query whose time is known; one that
        does not estimate is taken at `times` the query.
        """
        whole = self.whole()
        if whole * _CHEAP <= left:
            return 0.0
        known = self.own_plan()
        plan = self.plan(sql, params) if known is not None and known.work else None
        if known is None or plan is None:
            return whole * times
        return whole * plan.work / known.work

    def whole(self) -> float:
        """Seconds of the query itself, were it run to its end: at a row cap no more is taken of it.

        By the rows that the engine expects of it, each as quick as those that came, and as a row is
        counted; what it took, where the engine expects nothing.
        """
        own = self.own or 0.0
        known = self.own_plan() if self._cut_at else None
        if known is None or not self._cut_at:
            return own
        return own + max(0.0, known.rows - self._cut_at) * min(_ROW, own / self._cut_at)

    def own_plan(self) -> Plan | None:
        """What the engine expects of the query itself, asked once."""
        if not self._plans:
            self._plans.append(self.plan(self._sql, self.params))
        return self._plans[0]

    def plan(self, sql: str, params: Params = None) -> Plan | None:
        """What the engine expects of a query; None where it does not say."""
        asking = explaining(sql, self.engine.dialect)
        if asking is None or self.own is None:
            return None
        return self._read(self._charged(asking, params, self.left_for_probes()))

    def foreseen(self, sql: str, end: float, params: Params = None) -> Plan | None:
        """The plan of a query that gave no rows, by a time of the clock."""
        asking, left = explaining(sql, self.engine.dialect), end - self.clock()
        if asking is None or left <= 0:
            return None
        return self._read(self.engine.execute(asking, params, limits=self._within(left)))

    def _read(self, outcome: Outcome) -> Plan | None:
        if not isinstance(outcome, Rows) or not outcome.rows:
            return None
        return read_plan(outcome.rows[0], self.engine.dialect)

    def resumed(self) -> "Session":
        """The same after a pause that is nobody's time: what was spent and learnt stays."""
        session = copy(self)
        session._start = session.clock()
        return session

    def _charged(self, sql: str, params: Params, at_most: float) -> Outcome:
        """Execute at the cost of what probes may take."""
        start = self.clock()
        outcome = self.run(sql, params, at_most)
        self._spent += self.clock() - start
        return outcome

    def version(self) -> Hashable:
        """What changes when the data may have changed; None where the engine cannot tell."""
        return self.engine.version() if isinstance(self.engine, Versioned) else None

    def purse(self, seconds: float, share: float = 1.0) -> "Purse":
        """A part of what probes may take: so many seconds, or what the query took.

        Never more than a share of what is left for all of them.
        """
        wanted = max(seconds, self.own or 0.0)
        return Purse(session=self, end=self.clock() + min(wanted, share * self.left_for_probes()))

    def _within(self, seconds: float) -> Limits:
        """The limits with so much time; `dataclasses.replace` is slow for what runs so often."""
        limits = self.limits
        return Limits(seconds=seconds, max_rows=limits.max_rows, max_bytes=limits.max_bytes)

    def compares_bytes(self, sql: str, rows: Rows) -> bool:
        """Whether rows of `sql` that Python calls equal are those that the database does.

        Not where a column or the query names a collation (NOCASE and the like). The word in a
        comment or literal costs one query more, no more.
        """
        if any((name or "").startswith(_FINER_THAN_PYTHON) for name in rows.types):
            return False
        plain = self.engine.compares_bytes() if rows.plain is None else rows.plain
        return plain and _COLLATE.search(sql) is None

    def counts(self, sql: str, rows: Rows) -> "Counts | Failure":
        """How many rows `sql` has and how many distinct ones, as the database counts them.

        From the rows at hand where they are all there and compare as in the database; else by one
        query that the engine answers. It is a probe, unless repairs are asked for, which need it;
        where it would take too long, engines that can estimate the distinct ones.
        """
        # One row is no copy of another, however they compare.
        if not rows.truncated and (len(rows.rows) <= 1 or self.compares_bytes(sql, rows)):
            return Counts(
                rows=len(rows.rows), distinct=len(distinct_rows(rows.rows)), pushed_down=False
            )
        asking = counting(sql, len(rows.columns), self.engine.dialect)
        if self.fix:
            outcome = self.run(asking, self.params)
            return outcome if isinstance(outcome, Failure) else counts_in(outcome)
        most, own = self.left_for_probes() * _SHARE, self.own or 0.0
        cost = max(own, self.expected(asking, self.params, left=most, times=COUNTING))
        if cost > most and (near := self._near_counts(sql, rows, most)) is not None:
            return near
        # It runs the query once more, whose time is known. How much of one that was cut is still to
        # come is estimated, and estimates err: near the bound it is tried, within the bound.
        if own > most or cost > most * _ERRS:
            return _too_dear(cost, most)
        outcome = self._charged(asking, self.params, most)
        return outcome if isinstance(outcome, Failure) else counts_in(outcome)

    def _near_counts(self, sql: str, rows: Rows, most: float) -> "Counts | None":
        """Counts with an estimate of the distinct rows; None where the engine has none in time."""
        error = dialect_of(self.engine.dialect).near_distinct_error
        dear = max(self.own or 0.0, _NEAR * self.whole()) > most
        if not error or dear or self._folds(sql, rows):
            return None
        near = near_counting(sql, len(rows.columns), self.engine.dialect)
        outcome = self._charged(near, self.params, most)
        return counts_in(outcome, error) if isinstance(outcome, Rows) else None

    def _folds(self, sql: str, rows: Rows) -> bool:
        """Whether texts may be equal to others, as far as can be known: hashes are of bytes.

        A collation that nobody lists (a column's in BigQuery or Snowflake) lets an estimate see
        fewer copies than there are, which no repair rests on. Where texts are folded unless told
        otherwise (SQL Server), results without texts are estimated.
        """
        reads = dialect_of(self.engine.dialect)
        if _COLLATE.search(sql) is not None:
            return True
        if reads.collations_listed:
            return not self.engine.compares_bytes()
        texts = (isinstance(cell, str) for row in rows.rows for cell in row)
        return not reads.text_by_bytes and any(texts)


@dataclass(slots=True, kw_only=True)
class Purse:
    """What one kind of looking closer may cost. `why`: it did not suffice, and for what reason."""

    session: Session
    end: float
    why: str = ""

    def left(self) -> float:
        """Seconds left of it."""
        return self.end - self.session.clock()

    def run(self, query: exp.Expr) -> Rows | None:
        """The rows of a probe; None where the database gives none, or it would take too long."""
        if self.why:
            return None
        sql = written_out(query, self.session.engine.dialect)
        outcome = self.session.probe(sql, at_most=self.left(), times=COUNTING)
        if isinstance(outcome, Failure):
            self.why = why_not(outcome) or ""
            return None
        return outcome


def why_not(outcome: "Outcome | Counts | None") -> str | None:
    """Why a probe gave nothing, where time is the reason; None where it is not."""
    if not isinstance(outcome, Failure) or outcome.kind != FailureKind.TIMEOUT:
        return None
    return outcome.message if isinstance(outcome, TooDear) else OUT_OF_TIME


def _too_dear(expected: float, left: float) -> TooDear:
    may = f"{seconds(left)} s left for probes (probe_seconds, probe_times)"
    message = f"estimated {seconds(expected)} s, {may}"
    return TooDear(kind=FailureKind.TIMEOUT, message=message)


def seconds(value: float) -> str:
    """Seconds for reading."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
