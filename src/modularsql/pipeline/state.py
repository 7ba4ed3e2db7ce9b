"""What travels through the pipeline: frozen values that grow by `replace`, stage by stage."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from modularsql.ports import Match, Outcome
from modularsql.records import Answer

Place = tuple[str, str | None]
"""A table, or a column of it (table, column); names as the catalog spells them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """The part of the schema a question is about; every element says why it is there.

    `columns` are those kept of each table, in the catalog's order; a table may have none.
    `whole` is set where linking found nothing and the whole schema stands in.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reasons: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One revision of a candidate: the checker that fired, what it said of which query, what the
    model made of it, and what became of that."""

    checker: str
    directive: str
    before: str
    sql: str
    kept: bool
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One distinct SQL text of the pool; `votes` counts the samples that came to it.

    `outcome` is None until it was run; `findings` counts the warnings and errors of the grain
    analysis, None until it was looked at.
    """

    sql: str
    generators: tuple[str, ...]
    votes: int = 1
    outcome: Outcome | None = None
    findings: int | None = None
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Candidates with equal results; `confidence` is their share of all samples (0 to 1)."""

    members: tuple[int, ...]
    confidence: float
    win_rate: float | None = None

    @property
    def score(self) -> float:
        """Confidence times win rate; the confidence alone where nobody judged."""
        return self.confidence * (1.0 if self.win_rate is None else self.win_rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A question on its way to an answer.

    `unanswerable` is why the database cannot answer it, in the model's words, `instead`
    what it wrote where it held neither a query nor such a reason. `decisions` are
    sentences of the stage at work; the runner moves them into the trace.
    """

    question: str
    hint: str = ""
    keywords: tuple[str, ...] = ()
    matches: tuple[Match, ...] = ()
    linked: Linked = Linked()
    schema: str = ""
    candidates: tuple[Candidate, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    chosen: int | None = None
    confidence: float | None = None
    unanswerable: str | None = None
    instead: str = ""
    answer: Answer | None = None
    decisions: tuple[str, ...] = ()
