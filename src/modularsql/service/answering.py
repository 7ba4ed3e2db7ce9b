"""What `predict` does for each question: in threads of this process, or at workers of a cluster."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from modularsql.config import Settings
from modularsql.declared.descriptions import FOLDER
from modularsql.errors import InputError, ModelError, SetupError, is_away
from modularsql.evaluation.datasets import Question
from modularsql.guard.policy_file import ENDING
from modularsql.llm.desk import ModelDesk
from modularsql.pipeline.trace import Trace
from modularsql.ports import Model, losses
from modularsql.service.asking import (
    AskRequest,
    Conversation,
    Reply,
    conversation,
    open_database,
    trace_json,
)
from modularsql.service.indexing import index_path, vectors_path
from modularsql.service.on_worker import kept, may_have_children
from modularsql.service.pool import Loss
from modularsql.service.sources import file_of

_THREADS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """One question, as the log keeps it. `sql` is "" where none was written: `problem` says why
    there is none, `failure` what kept us from asking to the end."""

    id: str
    db: str
    sql: str
    candidates: tuple[str, ...] = ()
    confidence: float | None = None
    problem: str | None = None
    cost: Mapping[str, Any] | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A prediction, and what happened to the question as a JSON document (`traces/ID.json`)."""

    predicted: Predicted
    trace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What all questions of a run are answered with."""

    settings: Settings
    model: Model
    examples: Path | None = None
    definitions: Path | None = None


AnswerOne = Callable[[Question, str], Answered]


class Answerer:
    """Answers questions; each thread has a conversation with the database it is at."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._mine = threading.local()
        self._stacks: list[ExitStack] = []

    def answer(self, question: Question, database: str) -> Answered:
        """The prediction for one question about a database; raises `SetupError`."""
        talk = self._talk(database)
        if isinstance(talk, str):
            return Answered(predicted=failed(question, talk))
        talk.turns.clear()
        traces: list[Trace] = []
        before = losses(self._mine.engine)
        try:
            reply = talk.ask(question.question, hint=question.hint, keep=traces.append)
            predicted = _predicted(question, reply)
            if losses(self._mine.engine) != before:  # a candidate may have lost by it
                predicted = failed(question, "the server ended its connection meanwhile")
        except (ModelError, InputError) as error:
            predicted = failed(question, error.message)
        except SetupError as error:
            if not is_away(error):
                raise
            predicted = failed(question, error.message)
        trace = json.dumps(trace_json(traces[0]), ensure_ascii=False, indent=1) if traces else None
        return Answered(predicted=predicted, trace=trace)

    def close(self) -> None:
        """End all conversations."""
        for stack in self._stacks:
            stack.close()

    def _talk(self, database: str) -> Conversation | str:
        """The conversation, or why the database cannot be opened."""
        if getattr(self._mine, "database", None) != database:
            if hasattr(self._mine, "stack"):
                self._mine.stack.close()
            self._mine.database, self._mine.stack = None, ExitStack()
            self._stacks.append(self._mine.stack)
            asked = AskRequest(
                target=database,
                settings=self._setup.settings,
                examples=self._setup.examples,
                definitions=self._setup.definitions,
                model=self._setup.model,
            )
            try:
                opened = closing(open_database(asked.target, asked.settings))
                engine = self._mine.engine = self._mine.stack.enter_context(opened)
            except (InputError, SetupError) as error:
                return error.message
            self._mine.talk = self._mine.stack.enter_context(conversation(asked, engine))
            self._mine.database = database
        talk: Conversation = self._mine.talk
        return talk


def failed(question: Question, failure: str) -> Predicted:
    """A question that was not asked to the end, and why."""
    return Predicted(id=question.id, db=question.db, sql="", failure=failure)


@contextmanager
def answering(setup: Setup, databases: Iterable[str]) -> Iterator[tuple[AnswerOne, int]]:
    """What answers questions about these databases, and how many at once.

    Raises `SetupError` where a cluster is asked for that cannot be used.
    """
    if not setup.settings.cluster:
        with closing(Answerer(setup)) as here:
            yield here.answer, setup.settings.jobs or _THREADS
        return
    from modularsql.service.cluster import Cluster, own_host

    address = setup.settings.cluster
    needs = {_absolute(database): _needs(setup, database) for database in databases}
    with (
        closing(Cluster(address, needs)) as cluster,
        ModelDesk(setup.model, own_host(address)) as desk,
    ):
        there = replace(_with_whole_paths(setup), model=desk.door())

        def answer(question: Question, database: str) -> Answered:
            database = _absolute(database)
            future = cluster.submit(database, answer_there, cluster.run, there, question, database)
            done = cluster.result(future, database)
            if isinstance(done, Loss):
                return Answered(predicted=failed(question, done.problem or done.status))
            answered: Answered = done
            return answered

        yield answer, cluster.size


def answer_there(run: str, setup: Setup, question: Question, database: str) -> Answered:
    """At a worker of a cluster, in one of its threads: the prediction for one question."""
    may_have_children()
    with kept(run, partial(Answerer, setup)) as answerer:
        return answerer.answer(question, database)


def _absolute(database: str) -> str:
    """The same for a process that works in another folder."""
    file = file_of(database)
    return database if file is None else str(file.absolute())


def files_of(database: str, settings: Settings) -> tuple[Path, ...]:
    """A database's file, and those that belong to it: indexes, there or not, and descriptions."""
    index, file = index_path(database, settings), file_of(database)
    indexes = (index, vectors_path(index))
    return indexes if file is None else (file, *indexes, *(file.parent / FOLDER).glob("*.csv"))


def policy_file(settings: Settings) -> Path | None:
    """The file of the policy, where that is one."""
    return Path(settings.policy) if settings.policy.endswith(ENDING) else None


def _needs(setup: Setup, database: str) -> tuple[Path, ...]:
    """The files that answers about a database are made from."""
    rest = (setup.examples, setup.definitions, policy_file(setup.settings))
    found = (*files_of(database, setup.settings), *filter(None, rest))
    return tuple(file.absolute() for file in found)


def _with_whole_paths(setup: Setup) -> Setup:
    """The same for a process that works in another folder, for another user."""
    settings = setup.settings
    kind, _, folder = settings.embedder.partition(":")
    if kind == "local":
        settings = replace(settings, embedder=f"local:{Path(folder).absolute()}")
    if (policy := policy_file(setup.settings)) is not None:
        settings = replace(settings, policy=str(policy.absolute()))
    indexes = index_path("", settings).parent.absolute()
    return replace(
        setup,
        settings=replace(settings, index_dir=str(indexes)),
        examples=setup.examples and setup.examples.absolute(),
        definitions=setup.definitions and setup.definitions.absolute(),
    )


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
