"""What happened to one question: every stage with its calls, decisions, cost and output."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from modularsql.pipeline.state import Candidate, State
from modularsql.ports import ChatReply, ChatRequest, Model
from modularsql.records import Answer, Cost, Failure
from modularsql.rows import Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the model: what it was for, what was sent and said, its cost and time."""

    stage: str
    messages: tuple[str, ...]
    replies: tuple[str, ...]
    cost: Cost
    ms: float
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
        return sum((call.cost for stage in self.stages for call in stage.calls), Cost())


class Listening:
    """A model that remembers its calls; one for each stage of each question."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._calls: list[Call] = []
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
        call = Call(
            stage=request.stage,
            messages=tuple(message.text for message in request.messages),
            replies=reply.texts,
            cost=reply.cost,
            ms=round((time.perf_counter() - start) * 1000, 3),
            error=error,
        )
        with self._lock:
            self._calls.append(call)

    def calls(self) -> tuple[Call, ...]:
        """The calls so far, in the order they ended."""
        with self._lock:
            return tuple(self._calls)


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
                "sql": c.sql,
                "kept": c.kept,
                "why": c.why,
            }
            for c in candidate.changes
        ],
    }
