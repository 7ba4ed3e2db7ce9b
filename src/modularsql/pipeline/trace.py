"""What happened to one question: every stage with its calls, decisions, cost and output."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from modularsql.pipeline.state import Candidate, State
from modularsql.pipeline.waiting import follow, longest, waited
from modularsql.ports import ChatReply, ChatRequest, Model
from modularsql.records import Answer, Cost, Failure
from modularsql.rows import Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the model: what it was for, what was sent and said, its cost and time.

    `start_ms` is when it was made, counted from the question's beginning; `after` are the calls
    that had to be over before it, as places among all calls of the question.
    """

    stage: str
    messages: tuple[str, ...]
    replies: tuple[str, ...]
    cost: Cost
    ms: float
    start_ms: float = 0.0
    after: tuple[int, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTrace:
    """One stage: how long it took (ms), why it did what it did, its calls, what came out."""

    stage: str
    ms: float
    decisions: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    output: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One question from end to end."""

    question: str
    hint: str
    stages: tuple[StageTrace, ...]

    def cost(self) -> Cost:
        """What all calls cost together."""
        return sum((call.cost for call in self.calls()), Cost())

    def calls(self) -> tuple[Call, ...]:
        """The calls of all stages, in the order they ended."""
        return tuple(call for stage in self.stages for call in stage.calls)

    def critical_path(self, takes: Callable[[Call], float]) -> float:
        """The longest chain of calls that wait for each other, by what each of them takes."""
        calls = self.calls()
        return longest([call.after for call in calls], lambda place: takes(calls[place]))


class Listening:
    """A model that remembers its calls; one for each question."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._begin = time.perf_counter()
        self._lock = threading.Lock()
        self._calls: list[Call] = []
        self._told = 0
        self.name = model.name

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`."""
        start = time.perf_counter()
        try:
            reply = self._model.chat(request)
        except Exception as error:
            self._heard(request, ChatReply(texts=()), start, str(error))
            raise
        self._heard(request, reply, start, None)
        return reply

    def _heard(
        self, request: ChatRequest, reply: ChatReply, start: float, error: str | None
    ) -> None:
        over = time.perf_counter()
        call = Call(
            stage=request.stage,
            messages=tuple(message.text for message in request.messages),
            replies=reply.texts,
            cost=reply.cost,
            ms=round((over - start) * 1000, 3),
            start_ms=round((start - self._begin) * 1000, 3),
            after=waited(),
            error=error,
        )
        with self._lock:
            follow(len(self._calls))
            self._calls.append(call)

    def new(self) -> tuple[Call, ...]:
        """The calls since this was asked last, in the order they ended."""
        with self._lock:
            told, self._told = self._told, len(self._calls)
            return tuple(self._calls[told:])


def seen(stage: str, state: State) -> Mapping[str, Any]:
    """What a stage left behind, as plain data."""
    return _SEEN[stage](state)


_SEEN: Mapping[str, Callable[[State], Mapping[str, Any]]] = {
    "values": lambda s: {
        "keywords": s.keywords,
        "matches": [
            {
                "table": m.table,
                "column": m.column,
                "value": m.value,
                "keyword": m.keyword,
                "score": round(m.score, 4),
                "how": m.how,
            }
            for m in s.matches
        ],
    },
    "linking": lambda s: {
        "tables": {table: list(columns) for table, columns in s.linked.columns.items()},
        "reasons": {
            table if column is None else f"{table}.{column}": list(why)
            for (table, column), why in s.linked.reasons.items()
        },
        "schema": s.schema,
    },
    "generation": lambda s: {
        "candidates": [_candidate(c) for c in s.candidates],
        "unanswerable": s.unanswerable,
    },
    "revision": lambda s: {"candidates": [_candidate(c) for c in s.candidates]},
    "selection": lambda s: {
        "clusters": [
            {
                "members": list(c.members),
                "confidence": round(c.confidence, 4),
                "win_rate": c.win_rate,
                "score": round(c.score, 4),
            }
            for c in s.clusters
        ],
        "findings": [c.findings for c in s.candidates],
        "chosen": s.chosen,
        "confidence": s.confidence,
    },
    "guard": lambda s: _guarded(s.answer),
}


def _guarded(answer: Answer | None) -> dict[str, Any]:
    return {
        "verdict": answer.verdict.value if answer else None,
        "final_sql": answer.final_sql if answer else None,
        "applied": list(answer.applied) if answer else [],
        "rows": len(answer.rows or ()) if answer else None,
        "findings": [
            {"rule": f.rule, "severity": f.severity.value, "message": f.message}
            for f in (answer.findings if answer else ())
        ],
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    outcome = candidate.outcome
    return {
        "sql": candidate.sql,
        "generators": list(candidate.generators),
        "votes": candidate.votes,
        "rows": len(outcome.rows) if isinstance(outcome, Rows) else None,
        "error": outcome.message if isinstance(outcome, Failure) else None,
        "findings": candidate.findings,
        "changes": [
            {
                "checker": c.checker,
                "directive": c.directive,
                "before": c.before,
                "sql": c.sql,
                "kept": c.kept,
                "why": c.why,
            }
            for c in candidate.changes
        ],
    }
