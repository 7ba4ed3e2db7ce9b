"""The use case `predict`: `ask` over a data set, resumable after kill -9.

log.jsonl          one line for each answered question, appended as they come
run.json           settings, prompts, inputs: what results may be continued under
predictions.json   {"id": "sql"}, "" where nothing was written
pools.jsonl        {"id", "db", "candidates"} after revision
traces/ID.json     what happened to each question
"""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from modularsql import __version__
from modularsql.config import Settings
from modularsql.errors import InputError, ModelError, SetupError
from modularsql.evaluation.datasets import Dataset, Question, database_file, read_dataset
from modularsql.json_values import plain
from modularsql.llm.connect import connect_model
from modularsql.ports import Model
from modularsql.records import Cost
from modularsql.service.asking import AskRequest, Conversation, Reply, conversation
from modularsql.service.jsonable import SCHEMA_VERSION
from modularsql.service.run_files import locked, read_json, write_json

_RECORD, _LOG = "run.json", "log.jsonl"
# What makes no difference to a prediction.
_FREE = frozenset(
    "jobs fail_on record reply_cache model_timeout model_attempts prices telemetry".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictRequest:
    """What `predict` needs; `model` stands for the one that the settings name. `progress` hears of
    questions done, of how many, and in words."""

    dataset: str
    db_root: Path
    out: Path
    settings: Settings
    examples: Path | None = None
    definitions: Path | None = None
    model: Model | None = None
    progress: Callable[[int, int, str], None] = lambda done, total, words: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """One answered question, as the log keeps it. `sql` is "" where none was written."""

    id: str
    db: str
    sql: str
    candidates: tuple[str, ...] = ()
    confidence: float | None = None
    problem: str | None = None
    cost: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictSummary:
    """How a run went; `problems` counts questions without a query by reason."""

    out: Path
    questions: int
    answered: int
    resumed: int
    problems: Mapping[str, int]
    cost: Cost

    def as_json(self) -> dict[str, Any]:
        """The object that `predict --format json` prints."""
        found: dict[str, Any] = plain(
            {
                "schema_version": SCHEMA_VERSION,
                "out": str(self.out),
                "questions": self.questions,
                "answered": self.answered,
                "resumed": self.resumed,
                "problems": dict(self.problems),
                "cost": asdict(self.cost),
            }
        )
        return found


def predict(request: PredictRequest) -> PredictSummary:
    """Answer every question of a data set; those that a log already holds are not asked again.

    Raises `InputError` for a folder that holds a run under other settings, and `SetupError` where
    it cannot start or the disk is full.
    """
    dataset = read_dataset(request.dataset)
    model = request.model or connect_model(request.settings)
    if model is None:
        raise SetupError("predict needs a model", "give --model NAME", "model")
    with locked(request.out):
        done = _begin(request, dataset)
        resumed = len(done)
        open_ = [question for question in dataset.questions if question.id not in done]
        _answer(open_, request, model, done)
        _write(dataset, done, request.out)
    return _summary(dataset, done, resumed, request.out)


def fingerprint(request: PredictRequest) -> dict[str, Any]:
    """What predictions depend on: settings, prompts, and a hash of every file given."""
    prompts = files("modularsql.pipeline") / "prompts"
    texts = {p.name: p.read_bytes() for p in sorted(prompts.iterdir(), key=lambda p: p.name)}
    settings = {k: v for k, v in asdict(request.settings).items() if k not in _FREE}
    given = {"examples": request.examples, "definitions": request.definitions}
    return {
        "settings": settings,
        "prompts": {name: _hash(text) for name, text in texts.items()},
        "dataset": _hash(read_dataset(request.dataset).path.read_bytes()),
        **{name: _hash(path.read_bytes()) for name, path in given.items() if path is not None},
    }


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _begin(request: PredictRequest, dataset: Dataset) -> dict[str, Predicted]:
    path, log = request.out / _RECORD, request.out / _LOG
    about = {"version": __version__, "fingerprint": fingerprint(request)}
    if not path.exists():
        if log.exists():
            raise InputError(f"{request.out} holds a log without {_RECORD}", "name another --out")
        write_json(path, about)
        return {}
    before = read_json(path).get("fingerprint", {})
    changed = sorted(_changed(before, about["fingerprint"]))
    if changed:
        raise InputError(
            f"{request.out} holds a run with other {', '.join(changed)}", "name another --out"
        )
    known = {question.id for question in dataset.questions}
    return {one.id: one for one in _read_log(log) if one.id in known}


def _changed(before: Any, now: Any, name: str = "inputs") -> Iterable[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in {*before, *now}:
            yield from _changed(before.get(key), now.get(key), str(key))
    elif before != now:
        yield name


def _read_log(log: Path) -> Iterable[Predicted]:
    """The whole lines of a log; one that a crash has cut is removed."""
    content = log.read_bytes() if log.exists() else b""
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(log, whole)
    for line in content[:whole].splitlines():
        with suppress(ValueError, TypeError):
            found = json.loads(line)
            yield Predicted(**{**found, "candidates": tuple(found["candidates"])})


class _Talks(threading.local):
    """Each thread's conversation with the database it is at; one process of an engine each."""

    def __init__(self) -> None:
        self.db: str | None = None
        self.talk: Conversation | None = None
        self.stack = ExitStack()


def _answer(
    questions: list[Question], request: PredictRequest, model: Model, done: dict[str, Predicted]
) -> None:
    talks, total = _Talks(), len(done) + len(questions)
    stacks: list[ExitStack] = []
    (request.out / "traces").mkdir(exist_ok=True)
    jobs = request.settings.jobs or 4
    # Questions about one database stand together, so that few engines are opened.
    ordered = sorted(questions, key=lambda q: q.db)
    try:
        with (
            (request.out / _LOG).open("a", encoding="utf-8") as log,
            ThreadPoolExecutor(jobs) as pool,
        ):
            futures = [
                pool.submit(_one, question, request, model, talks, stacks) for question in ordered
            ]
            try:
                for future in as_completed(futures):
                    found = future.result()
                    log.write(json.dumps(plain(asdict(found)), ensure_ascii=False) + "\n")
                    log.flush()
                    done[found.id] = found
                    request.progress(len(done), total, "")
            except OSError as error:
                raise SetupError(
                    f"cannot write {request.out / _LOG}: {error.strerror}",
                    "make room and run the same command: it goes on where it stopped",
                    "output",
                ) from error
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
    finally:
        for stack in stacks:
            stack.close()


def _one(
    question: Question,
    request: PredictRequest,
    model: Model,
    talks: _Talks,
    stacks: list[ExitStack],
) -> Predicted:
    path = database_file(request.db_root, question.db)
    if path is None:
        return Predicted(id=question.id, db=question.db, sql="", problem="no database")
    if talks.db != question.db:
        talks.stack.close()
        talks.stack = ExitStack()
        stacks.append(talks.stack)
        asked = AskRequest(
            target=str(path),
            settings=request.settings,
            examples=request.examples,
            definitions=request.definitions,
            model=model,
        )
        talks.talk = talks.stack.enter_context(conversation(asked))
        talks.db = question.db
    assert talks.talk is not None
    talks.talk.turns.clear()
    trace = request.out / "traces" / f"{_file_name(question.id)}.json"
    try:
        reply = talks.talk.ask(question.question, hint=question.hint, trace=trace)
    except (ModelError, InputError) as error:
        return Predicted(id=question.id, db=question.db, sql="", problem=error.message)
    return _predicted(question, reply)


def _predicted(question: Question, reply: Reply) -> Predicted:
    return Predicted(
        id=question.id,
        db=question.db,
        sql=reply.answer.final_sql,
        candidates=reply.pool,
        confidence=reply.confidence,
        problem=reply.unanswerable,
        cost=asdict(reply.answer.cost),
    )


def _file_name(id_: str) -> str:
    """An id as a file name; what is no letter or digit is spelt out."""
    return "".join(c if c.isalnum() or c in "-_." else f"%{ord(c):x}" for c in id_)[:200]


def _write(dataset: Dataset, done: Mapping[str, Predicted], out: Path) -> None:
    sqls = {q.id: done[q.id].sql for q in dataset.questions if q.id in done}
    write_json(out / "predictions.json", sqls)
    pools = (
        {"id": q.id, "db": q.db, "candidates": list(done[q.id].candidates)}
        for q in dataset.questions
        if q.id in done
    )
    text = "".join(json.dumps(plain(pool), ensure_ascii=False) + "\n" for pool in pools)
    (out / "pools.jsonl").write_text(text, encoding="utf-8")


def _summary(
    dataset: Dataset, done: Mapping[str, Predicted], resumed: int, out: Path
) -> PredictSummary:
    problems: dict[str, int] = {}
    for one in done.values():
        if one.problem:
            problems[one.problem] = problems.get(one.problem, 0) + 1
    return PredictSummary(
        out=out,
        questions=len(dataset.questions),
        answered=sum(bool(one.sql) for one in done.values()),
        resumed=resumed,
        problems=problems,
        cost=sum((Cost(**one.cost) for one in done.values() if one.cost), Cost()),
    )
