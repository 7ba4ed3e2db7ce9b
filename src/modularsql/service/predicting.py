"""The use case `predict`: `ask` over a data set, resumable after kill -9.

log.jsonl          one line for each question that came to an end, appended as they come; one
                   that failed (a model out of reach, a database that does not open) has none, and
                   is asked again when the run goes on
run.json           settings, prompts, inputs: what results may be continued under
predictions.json   {"id": "sql"}, "" where nothing was written
pools.jsonl        {"id", "db", "candidates"} after revision
traces/ID.json     what happened to each question
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from modularsql import __version__
from modularsql.config import Settings
from modularsql.errors import SetupError
from modularsql.evaluation.datasets import Dataset, Question, read_dataset
from modularsql.evaluation.files import write_text
from modularsql.json_values import plain
from modularsql.llm.connect import connect_model
from modularsql.pipeline.parts import parts_left_out
from modularsql.ports import Model
from modularsql.records import Cost
from modularsql.service.answering import (
    Predicted,
    Setup,
    answering,
    failed,
    files_of,
    policy_file,
)
from modularsql.service.indexing import index_path
from modularsql.service.jsonable import SCHEMA_VERSION
from modularsql.service.run_folder import GO_ON, Log, begin, broken, locked, read_lines, write_json
from modularsql.service.sources import find_databases, marks

# What makes no difference to a prediction.
_FREE = frozenset(
    "jobs cluster fail_on record reply_cache model_timeout model_attempts prices telemetry".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictRequest:
    """What `predict` needs; `model` stands for the one that the settings name. `progress` hears of
    questions done, of how many, and in words."""

    dataset: str
    db_root: str | Path
    out: Path
    settings: Settings
    examples: Path | None = None
    definitions: Path | None = None
    model: Model | None = None
    progress: Callable[[int, int, str], None] = lambda done, total, words: None


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictSummary:
    """How a run went; `problems` counts questions without a query by reason, `failed` those of them
    that the next run asks again, `not_indexed` databases whose values were not looked up."""

    out: Path
    questions: int
    answered: int
    resumed: int
    failed: int
    not_indexed: int
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
                "failed": self.failed,
                "not_indexed": self.not_indexed,
                "problems": dict(self.problems),
                "cost": asdict(self.cost),
            }
        )
        return found


def predict(request: PredictRequest) -> PredictSummary:
    """Answer every question of a data set; those that a log already holds are not asked again.

    A question that fails, or whose database does not open, does not keep the others from theirs.

    Raises `InputError` for a folder that holds a run under other settings, or where no database is
    there, and `SetupError` where it cannot start or the disk is full.
    """
    dataset = read_dataset(request.dataset)
    model = request.model or connect_model(request.settings)
    if model is None:
        raise SetupError("predict needs a model", "give --model NAME", "model")
    found = find_databases(request.db_root, dataset, request.settings)
    databases = {name: files[0] if files else None for name, files in found.items()}
    with locked(request.out):
        about = {"version": __version__, "inputs": inputs(request, dataset, databases)}
        begin(request.out, about, growing="databases")
        done = _read_log(request.out, dataset)
        resumed = len(done)
        open_ = [question for question in dataset.questions if question.id not in done]
        _answer(open_, request, model, databases, done)
        _write(dataset, done, request.out)
    return _summary(request, dataset, databases, done, resumed)


def inputs(
    request: PredictRequest, dataset: Dataset, databases: Mapping[str, str | None]
) -> dict[str, Any]:
    """What predictions depend on: settings, prompts, and a hash of every file that is read."""
    rooms = [files(f"modularsql.{room}") / "prompts" for room in ("pipeline", "guard")]
    prompts = {p.name: hashlib.sha256(p.read_bytes()) for room in rooms for p in room.iterdir()}
    given = {
        "dataset": dataset.path,
        "examples": request.examples,
        "definitions": request.definitions,
        "policy": policy_file(request.settings),
    }
    return {
        "settings": {k: v for k, v in asdict(request.settings).items() if k not in _FREE},
        "prompts": {name: prompts[name].hexdigest() for name in sorted(prompts)},
        **{name: marks(path) for name, path in given.items() if path is not None},
        "databases": {
            name: {f.name: marks(f) for f in files_of(path, request.settings) if f.exists()}
            for name, path in databases.items()
            if path is not None
        },
    }


def _read_log(folder: Path, dataset: Dataset) -> dict[str, Predicted]:
    """The questions that are answered, by id. Raises `InputError`."""
    known = {question.id for question in dataset.questions}
    done = {}
    try:
        for line in read_lines(folder):
            found = json.loads(line)
            one = Predicted(**{**found, "candidates": tuple(found["candidates"])})
            if one.id in known:
                done[one.id] = one
    except (ValueError, TypeError, KeyError) as error:
        raise broken(folder, error) from None
    return done


def _answer(
    questions: list[Question],
    request: PredictRequest,
    model: Model,
    databases: Mapping[str, str | None],
    done: dict[str, Predicted],
) -> None:
    total = len(done) + len(questions)
    traces = request.out / "traces"
    traces.mkdir(exist_ok=True)
    setup = Setup(
        settings=request.settings,
        model=model,
        examples=request.examples,
        definitions=request.definitions,
    )
    # Questions about one database stand together, so that few engines are opened.
    ordered = sorted(questions, key=lambda q: q.db)
    with (
        closing(Log(request.out)) as log,
        answering(setup, filter(None, databases.values())) as (answer, at_once),
        ThreadPoolExecutor(at_once) as pool,
    ):

        def one(question: Question) -> Predicted:
            if (path := databases[question.db]) is None:
                return failed(question, "no database")
            answered = answer(question, path)
            if answered.trace is not None:
                _write_trace(traces / f"{_file_name(question.id)}.json", answered.trace)
            return answered.predicted

        futures = [pool.submit(one, question) for question in ordered]
        try:
            for future in as_completed(futures):
                found = future.result()
                if found.failure is None:
                    log.add([json.dumps(plain(asdict(found)), ensure_ascii=False)])
                done[found.id] = found
                request.progress(len(done), total, "")
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _write_trace(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:  # no fault of the question
        message = f"cannot write the trace to {path}: {error.strerror}"
        raise SetupError(message, GO_ON, "output") from error


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
    write_text(out / "pools.jsonl", text)


def _summary(
    request: PredictRequest,
    dataset: Dataset,
    databases: Mapping[str, str | None],
    done: Mapping[str, Predicted],
    resumed: int,
) -> PredictSummary:
    problems: dict[str, int] = {}
    for one in done.values():
        if why := one.problem or one.failure:
            problems[why] = problems.get(why, 0) + 1
    return PredictSummary(
        out=request.out,
        questions=len(dataset.questions),
        answered=sum(bool(one.sql) for one in done.values()),
        resumed=resumed,
        failed=sum(one.failure is not None for one in done.values()),
        not_indexed=_not_indexed(filter(None, databases.values()), request.settings),
        problems=problems,
        cost=sum((Cost(**one.cost) for one in done.values() if one.cost), Cost()),
    )


def _not_indexed(databases: Iterable[str], settings: Settings) -> int:
    """Databases without the index that the values stage would have looked into."""
    if settings.show_values != "yes" or "values" in parts_left_out(settings):
        return 0
    return sum(not index_path(path, settings).exists() for path in databases)
