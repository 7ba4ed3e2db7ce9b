"""The use case `ask`: a question in words to a guarded answer, on one database."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from modularsql.catalog import Catalog
from modularsql.config import Settings
from modularsql.declared.descriptions import FOLDER, read_descriptions, with_descriptions
from modularsql.engines.isolated import IsolatedEngine
from modularsql.errors import InputError, ModularSqlError, SetupError
from modularsql.guard.run import Guard
from modularsql.json_values import plain
from modularsql.llm.connect import connect_model
from modularsql.pipeline.context import cut_short, masked
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.parts import check_parts, parts_left_out
from modularsql.pipeline.run import Asked
from modularsql.pipeline.run import ask as run_pipeline
from modularsql.pipeline.trace import Trace
from modularsql.pipeline.trace_page import page
from modularsql.ports import Embedder, Engine, Model, ValueIndex
from modularsql.records import Answer, Finding, Severity, Verdict
from modularsql.retrieval.examples import Examples, read_examples
from modularsql.retrieval.lexical import LexicalIndex
from modularsql.retrieval.merged import Merged
from modularsql.service.embedding import connect_embedder
from modularsql.service.indexing import index_path, vector_index, vectors_path
from modularsql.service.jsonable import SCHEMA_VERSION, answer_json
from modularsql.service.telemetry import traced_engine, traced_model, whole

_LONGEST_TEXT = 1_000_000
_NOTHING = "no candidate was written"
_MOST_TURNS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """What `ask` needs. `examples` is a file of solved questions, `definitions` one of sentences
    about the business; `model` is used instead of the one that the settings name."""

    target: str
    settings: Settings
    hint: str = ""
    definitions: Path | None = None
    examples: Path | None = None
    trace: Path | None = None
    model: Model | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A guarded answer with what the pipeline knows of it; `trace` is where that was written."""

    answer: Answer
    confidence: float | None
    pool: tuple[str, ...]
    unanswerable: str | None
    trace: Trace
    trace_path: Path | None = None


@dataclass(slots=True)
class Conversation:
    """Questions to one database, each with those before it in mind; `advice` goes with the first
    answer."""

    request: AskRequest
    deps: Deps
    advice: tuple[str, ...] = ()
    turns: list[tuple[str, str]] = field(default_factory=list)
    asked: int = 0

    def ask(
        self, question: str, hint: str = "", keep: Callable[[Trace], None] = lambda trace: None
    ) -> Reply:
        """Answer one question; `hint` stands for that of the request, `keep` gets the trace.

        Raises `InputError` for an empty one, `ModelError` when the model was of no use, and
        `SetupError` where it cannot be asked at all.
        """
        if not question.strip():
            raise InputError("the question is empty", "write what you want to know")
        with whole("ask", self.request.settings):
            asked = run_pipeline(question, self.deps, self._hint(hint or self.request.hint))
        keep(asked.trace)
        self.asked += 1
        path = self._trace_path()
        if path is not None:
            write_trace(asked.trace, path)
        if asked.failure is not None:
            raise _with_trace(asked.failure, path)
        state = asked.state
        cut = cut_short(state.question, state.hint, self.deps.definitions)
        notes = (*filter(None, (state.instead,)), *cut, *self.advice)
        reply = _reply(asked, path, self.deps.engine.dialect, notes)
        self.advice = ()
        if reply.unanswerable is None:
            self.turns.append((question, reply.answer.final_sql))
        return reply

    def _trace_path(self) -> Path | None:
        """FILE.html for the first question, FILE-2.html for the next: none is written over."""
        path = self.request.trace
        if path is None or self.asked == 1:
            return path
        return path.with_stem(f"{path.stem}-{self.asked}")

    def _hint(self, hint: str) -> str:
        """The user's hint and the last turns, so that a question may lean on them."""
        said = [f"earlier question: {q}\nits SQL: {sql}" for q, sql in self.turns[-_MOST_TURNS:]]
        return "\n".join(filter(None, (hint, *said)))


def _with_trace(failure: ModularSqlError, path: Path | None) -> ModularSqlError:
    """The same, naming the trace that shows what led to it."""
    hints = (failure.hint, "" if path is None else f"the trace is in {path}")
    return type(failure)(failure.message, "; ".join(filter(None, hints)), failure.kind)


def open_database(target: str, settings: Settings) -> Engine:
    """The database of a conversation, in a process of its own.

    Raises `InputError` or `SetupError` where it cannot be read, or holds no tables.
    """
    engine = IsolatedEngine(target, settings)
    try:
        if not engine.catalog().tables:
            raise InputError(f"{engine.name} has no tables", "give a database that holds data")
    except ModularSqlError:
        engine.close()
        raise
    return engine


@contextmanager
def conversation(request: AskRequest, engine: Engine | None = None) -> Iterator[Conversation]:
    """A database and a model to ask; `engine` is the database where it is open already.

    Raises `InputError` or `SetupError` when it cannot start.
    """
    check_parts(parts_left_out(request.settings))
    model = request.model or connect_model(request.settings)
    if model is None:
        raise SetupError("ask needs a model", "give --model NAME, or set MODULARSQL_MODEL", "model")
    definitions = _text(request.definitions) if request.definitions else ""
    model = traced_model(model, request.settings)
    engine = engine or open_database(request.target, request.settings)
    engine = traced_engine(engine, request.settings)
    with Guard(engine, settings=request.settings) as guard:
        deps = _deps(request, model, guard, definitions)
        yield Conversation(request=request, deps=deps, advice=_advice(request))


def _deps(request: AskRequest, model: Model, guard: Guard, definitions: str) -> Deps:
    described = read_descriptions(Path(request.target).parent / FOLDER)
    catalog = with_descriptions(guard.engine.catalog(), described)
    embedder = connect_embedder(request.settings)
    return Deps(
        model=model,
        engine=guard.engine,
        guard=guard,
        catalog=catalog,
        settings=request.settings,
        values=_values(request, embedder),
        examples=_examples(request, catalog, embedder),
        definitions=definitions,
        without=frozenset(parts_left_out(request.settings)),
    )


def _values(request: AskRequest, embedder: Embedder | None) -> ValueIndex | None:
    """The index that `modularsql index` made, where it did."""
    path = index_path(request.target, request.settings)
    if not path.exists():
        return None
    lexical = LexicalIndex(path)
    if embedder is None or not vectors_path(path).exists():
        return lexical
    return Merged(lexical, vector_index(path, embedder))


def _examples(request: AskRequest, catalog: Catalog, embedder: Embedder | None) -> Examples | None:
    if request.examples is None:
        return None
    return Examples(
        read_examples(request.examples),
        lambda question: masked(question, catalog),
        embedder,
        request.settings.example_choice,
    )


def _advice(request: AskRequest) -> tuple[str, ...]:
    """What would let questions find the values they name."""
    path = index_path(request.target, request.settings)
    if request.settings.show_values != "yes":
        return ()
    if not path.exists():
        return ("values that a question names were not looked up: run `modularsql index DB` once",)
    if request.settings.embedder and not vectors_path(path).exists():
        return ("values were looked up by letters only: run `modularsql index` with this embedder",)
    return ()


def _reply(asked: Asked, path: Path | None, dialect: str, notes: tuple[str, ...]) -> Reply:
    state = asked.state
    answer = state.answer or Answer(
        sql="",
        final_sql="",
        verdict=Verdict.ANNOTATE,
        dialect=dialect,
        findings=(not_answerable(state.unanswerable or _NOTHING),),
    )
    return Reply(
        answer=replace(
            answer,
            question=state.question,
            cost=asked.trace.cost(),
            notes=(*answer.notes, *notes),
        ),
        confidence=state.confidence,
        pool=tuple(candidate.sql for candidate in state.candidates),
        unanswerable=None if state.answer else state.unanswerable or _NOTHING,
        trace=asked.trace,
        trace_path=path,
    )


def not_answerable(why: str) -> Finding:
    """The database cannot answer the question."""
    return Finding(
        rule="not_answerable",
        severity=Severity.WARNING,
        message=f"No query was run: {why.rstrip('.')}.",
    )


def reply_json(reply: Reply) -> dict[str, Any]:
    """The object that `ask --format json` prints."""
    return {
        **answer_json(reply.answer),
        "confidence": reply.confidence,
        "candidates": len(reply.pool),
        "unanswerable": plain(reply.unanswerable),
        "trace": None if reply.trace_path is None else str(reply.trace_path),
    }


def trace_json(trace: Trace) -> dict[str, Any]:
    """One document for a question: every stage with its calls, decisions and output."""
    found: dict[str, Any] = plain(asdict(trace))
    return {"schema_version": SCHEMA_VERSION, **found, "cost": asdict(trace.cost())}


def write_trace(trace: Trace, path: Path) -> None:
    """Write the document, as a page where the file is named so; `InputError` where it cannot be."""
    document = trace_json(trace)
    as_page = path.suffix.lower() in (".html", ".htm")
    text = page(document) if as_page else json.dumps(document, ensure_ascii=False, indent=1)
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(
            f"cannot write the trace to {path}: {error.strerror}", "name another file"
        ) from error


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {path}: {reason}", "give a UTF-8 text file") from error
    if len(text) > _LONGEST_TEXT:
        raise InputError(f"{path} has more than {_LONGEST_TEXT:,} characters", "shorten it")
    return text
