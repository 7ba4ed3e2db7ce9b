"""Candidates of a rescue: each is run under the limits of the query it may replace, and probed.

All together get the time of one query once more, the same SQL is run once, and as many run at a
time as the engine lets.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace

from modularsql.guard.counting import Counts, exact
from modularsql.guard.grain import Seen, look
from modularsql.guard.policy import Policy
from modularsql.guard.probe import of_failure, of_rows
from modularsql.guard.session import Session
from modularsql.multiplicity.model import Query
from modularsql.ports import Engine
from modularsql.records import Failure, FailureKind, Limits, Params, Probe, Severity
from modularsql.rows import Rows
from modularsql.sql.parse import Unparsed
from modularsql.sql.statement import Many, NoSql, Statement, read_statement

AT_ONCE = 4
"""Previews at a time; an engine that runs one query at a time makes them wait for each other."""

LOUD = (Severity.WARNING, Severity.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A query and what one execution of it showed; `seen` holds its findings where asked for."""

    sql: str
    statement: Statement | None = None
    rows: Rows | None = None
    failure: Failure | None = None
    counts: Counts | None = None
    probe: Probe
    seen: Seen = field(default_factory=Seen)

    @property
    def healthy(self) -> bool:
        """Not anomalous (paper, section 3.1): it ran, rows came back, few of them copies."""
        return self.probe.status == "ok"

    @property
    def dup_ratio(self) -> float:
        """The share of copies; 1 where it is not known."""
        return 1.0 if self.probe.dup_ratio is None else self.probe.dup_ratio

    @property
    def query(self) -> Query | None:
        """What is known of the query, where it was analysed."""
        return self.seen.query

    def loud(self, allowed: Sequence[str] = ()) -> int:
        """How many of its findings are warnings or errors, and not silenced."""
        findings = (one.finding for one in self.seen.issues)
        return sum(f.severity in LOUD and f.rule not in allowed for f in findings)

    def same(self) -> str:
        """Equal for queries with the same tree."""
        if self.statement is None or isinstance(self.statement.tree, Unparsed):
            return self.sql.strip()
        return self.statement.tree.sql(comments=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How candidates are tried."""

    engine: Engine
    params: Params
    limits: Limits
    policy: Policy
    max_parse_chars: int

    def all(self, sqls: Sequence[str]) -> tuple[Tried, ...]:
        """Every candidate tried, in their order."""
        different = list(dict.fromkeys(sqls))
        shares = _Shares(self.limits.seconds, len(different))
        if not different:
            return ()

        def one(sql: str) -> Tried:
            with shares.next() as seconds:
                return self.one(sql, replace(self.limits, seconds=seconds))

        with ThreadPoolExecutor(min(AT_ONCE, len(different))) as threads:
            # In the caller's context, so that spans of telemetry stand where they belong.
            futures = [threads.submit(copy_context().run, one, sql) for sql in different]
        tried = {sql: future.result() for sql, future in zip(different, futures, strict=True)}
        return tuple(tried[sql] for sql in sqls)

    def one(self, sql: str, limits: Limits) -> Tried:
        """One candidate, run and probed; what cannot be run is a failure like any other."""
        session = Session(engine=self.engine, params=self.params, limits=limits)
        statement = read_statement(sql, self.engine.dialect, self.max_parse_chars)
        if not isinstance(statement, Statement):
            return _failed(sql, None, _unfit(statement))
        outcome = session.run(statement.text, self.params)
        if isinstance(outcome, Failure):
            return _failed(sql, statement, outcome)
        counts = session.counts(statement.text, outcome)
        return Tried(
            sql=sql,
            statement=statement,
            rows=outcome,
            counts=exact(counts),
            probe=of_rows(outcome, counts, self.policy.tau_inject),
            seen=look(statement, session) if self.policy.grain else Seen(),
        )


def _unfit(statement: NoSql | Many) -> Failure:
    if isinstance(statement, Many):
        return Failure(kind=FailureKind.REFUSED, message="it holds several statements")
    return Failure(kind=FailureKind.ERROR, message=statement.reason)


def _failed(sql: str, statement: Statement | None, failure: Failure) -> Tried:
    return Tried(sql=sql, statement=statement, failure=failure, probe=of_failure(failure))


class _Shares:
    """Divides a time among candidates: what one leaves over goes to those that follow.

    It suffices also where the engine runs them one after the other.
    """

    def __init__(self, seconds: float, candidates: int) -> None:
        self._end = time.monotonic() + seconds
        self._open = candidates
        self._lock = threading.Lock()

    @contextmanager
    def next(self) -> Iterator[float]:
        """Seconds for the next candidate."""
        try:
            yield max(0.001, (self._end - time.monotonic()) / self._open)
        finally:
            with self._lock:
                self._open -= 1
