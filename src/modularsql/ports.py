"""What the core needs from outside, as protocols; adapters live in `engines/`, `llm/`,
`retrieval/`."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

from modularsql.catalog import Catalog
from modularsql.records import Cost, Failure, Limits, Params
from modularsql.rows import Rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

Outcome = Rows | Failure
"""Rows, or why there are none. Bad SQL is a value here, never an exception."""


class Engine(Protocol):
    """A read-only, bounded door to one database.

    An engine may be shared between threads: it runs one query at a time. It may not be shared
    between processes.
    """

    @property
    def name(self) -> str:
        """The database as people know it: a path or URL without secrets."""

    @property
    def dialect(self) -> str:
        """The name sqlglot knows the SQL dialect by."""

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        """Run one statement that only reads, within `limits`, and return its first rows.

        Raises `SetupError` when the database can no longer be read, `InputError` when closed.
        """

    def catalog(self) -> Catalog:
        """Tables, columns, keys and foreign keys as the engine declares them.

        Raises `SetupError` when they cannot be read, `InputError` when closed.
        """

    def compares_bytes(self) -> bool:
        """Whether equal text means equal bytes in every column (no NOCASE and the like).

        Raises `SetupError` when that cannot be read, `InputError` when closed.
        """

    def close(self) -> None:
        """Give the connection back; a closed engine runs nothing more. Raises nothing."""


@runtime_checkable
class Versioned(Protocol):
    """An engine that can tell cheaply whether its data is still the same."""

    def version(self) -> Hashable:
        """What changes when the data may have changed, across processes; None where unknown."""


@runtime_checkable
class Spanning(Protocol):
    """An engine whose queries may read databases beside its own, which `catalog` does not list."""

    def catalog_with(self, schemas: frozenset[str]) -> Catalog:
        """`catalog` with the tables of these databases, as far as they may be read.

        Raises as `Engine.catalog` does.
        """


def catalog_of(engine: Engine, schemas: frozenset[str]) -> Catalog:
    """The catalog of an engine, with the tables of further databases where it can list them."""
    if schemas and isinstance(engine, Spanning):
        return engine.catalog_with(schemas)
    return engine.catalog()


@runtime_checkable
class Remote(Protocol):
    """An engine on a server, which may end its connection: `lost` counts how often."""

    lost: int


def losses(engine: Engine) -> int:
    """How often the connection of an engine was lost in the middle of something."""
    return engine.lost if isinstance(engine, Remote) else 0


@runtime_checkable
class Streaming(Protocol):
    """An engine that can hand over whole results without keeping them."""

    def fold(self, function: Callable[..., T], *sqls: str, limits: Limits) -> T | Failure:
        """What `function` makes of all rows of reading statements, bounded in time only.

        It is given an iterable for each statement, to read them side by side; NaN is one object. It
        is called anew where reading has to start again, and may be called in another process: it
        has a name in its module, and what it returns can be pickled. Raises as `Engine.execute`.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a model is asked. `stage` says for what, and is not sent.

    `schema` is a JSON schema that the reply should keep to; where a server offers no such thing
    it is left out, so the messages must say the form as well, and the reply be read with care.
    """

    messages: tuple[Message, ...]
    stage: str = ""
    n: int = 1
    temperature: float = 0.0
    seed: int | None = None
    max_tokens: int = 1024
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The `n` replies of a model, and what they cost."""

    texts: tuple[str, ...]
    cost: Cost = field(default_factory=Cost)


class Model(Protocol):
    """A chat model. It may be shared between threads."""

    @property
    def name(self) -> str:
        """The model as its server and its price table know it."""

    def chat(self, request: ChatRequest) -> ChatReply:
        """Ask, and wait for all `n` replies.

        Raises `ModelError` when there is no usable reply (`BudgetError` when there may be none),
        `SetupError` for what an operator has to mend: no key, no such model, a bad request.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A value of the database that resembles a keyword: similarity from 0 to 1, 1 = the same.

    `how` says by which look-up it was found.
    """

    table: str
    column: str
    value: str
    keyword: str
    score: float
    how: Literal["exact", "folded", "fuzzy", "semantic"]


class ValueIndex(Protocol):
    """The text values of a database, looked up by likeness."""

    def search(self, keywords: Sequence[str], per_column: int) -> list[Match]:
        """For each column its best different values over all keywords, at most `per_column`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question with SQL that is known to be right."""

    question: str
    sql: str


class ExampleIndex(Protocol):
    """Solved questions, looked up by how a question is built."""

    def chosen(self, masked: str, count: int) -> list[Example]:
        """The examples to show beside a question, by how alike their masked questions are."""


class Embedder(Protocol):
    """Texts as vectors of unit length, so that their product is the cosine."""

    @property
    def name(self) -> str:
        """The model, as an index remembers by which it was built."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row for each text, all of the same width.

        Raises `ModelError` or `SetupError` where there is no vector to be had.
        """


@runtime_checkable
class Cautious(Protocol):
    """What an engine may have besides: a word on what nobody but its transactions prevents."""

    def warnings(self) -> tuple[str, ...]:
        """One sentence for each thing that whoever set the database up should know."""
