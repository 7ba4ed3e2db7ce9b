"""Frozen values that travel between the rooms. No logic beyond what their own fields say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Params = Mapping[str, Any] | Sequence[Any] | None
"""Values for bound parameters: by name (`:id`, `$id`) or by position (`?`)."""


class Severity(StrEnum):
    """How loud a finding is; `error` and `warning` move the exit status."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Evidence(StrEnum):
    """What a conclusion rests on, strongest first (docs/design/multiplicity.md, section 1)."""

    ENFORCED = "enforced"
    ASSERTED = "asserted"
    OBSERVED = "observed"
    ASSUMED = "assumed"


class Safety(StrEnum):
    """What a repair promises; only the first two are applied without a person."""

    PROVEN = "proven"
    MEASURED = "measured"
    SUGGESTED = "suggested"


class FailureKind(StrEnum):
    """Why an engine returned no rows."""

    ERROR = "error"  # the database says the SQL is wrong
    TIMEOUT = "timeout"  # the time limit ran out; the query was stopped
    LOCKED = "locked"  # another connection held a lock for the whole limit
    REFUSED = "refused"  # a write, two statements, a forbidden function
    UNBOUND = "unbound"  # parameters without values
    TOO_LARGE = "too_large"  # one cell, or the engine's memory, passed its cap
    DIED = "died"  # the process that ran the query ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A query that gave no rows, as a value."""

    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on one execution. `seconds` is one budget for a query and all its probes.

    The probes together may take `probe_seconds` of it, or `probe_times` what the query took.
    """

    seconds: float = 30.0
    max_rows: int = 100_000
    max_bytes: int = 64 * 2**20
    probe_seconds: float = 1.0
    probe_times: float = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A rewrite that was tried: `sql` is the whole rewritten query."""

    name: str
    safety: Safety
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One observation about a query, with its place (1-based) and its evidence."""

    rule: str
    severity: Severity
    message: str
    evidence: Evidence = Evidence.OBSERVED
    line: int = 1
    column: int = 1
    tables: tuple[str, ...] = ()
    cause: str | None = None
    measured: Mapping[str, Any] = field(default_factory=dict)
    repairs: tuple[Repair, ...] = ()


ProbeStatus = Literal["ok", "error", "timeout", "empty", "duplicates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What one execution showed (paper, section 3.1).

    `rows` counts the whole result when it is known (also beyond the row cap), and `pushed_down`
    says that the engine counted. `distinct_rows` and `dup_ratio` are null where unknown;
    `distinct_error` is half the 95 % interval of an estimate, as a share of it, 0 where counted.
    """

    status: ProbeStatus
    states: tuple[str, ...] = ()
    rows: int | None = None
    distinct_rows: int | None = None
    dup_ratio: float | None = None
    distinct_error: float = 0.0
    pushed_down: bool = False
    error: str | None = None


class Verdict(StrEnum):
    """The guard's word on a query; exit statuses follow from it (docs/interfaces.md)."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    ANNOTATE = "annotate"
    REPAIR = "repair"
    REFUSE = "refuse"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What models charged for one answer. `cached_tokens` of the prompt came at a lower price."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            llm_calls=self.llm_calls + other.llm_calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            usd=self.usd + other.usd,
        )


RescueOutcome = Literal[
    "chosen",
    "kept",
    "declined",
    "no_valid_index",
    "votes_differ",
    "unusable_pick",
    "no_healthy_candidate",
    "no_other_candidate",
    "no_majority",
    "no_reply",
]
"""`kept`: the pick is the query itself, or the candidates speak for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescue:
    """What became of a flagged query's rescue (paper, section 3.3).

    `trigger` is the paper's name of what was seen, or `outvoted`: a healthy query with findings
    that nothing repaired. `by` says what chose among `candidates`, of which `healthy` were not
    anomalous themselves. `chosen` is an index into them (null: the query was kept, or newly
    written).
    """

    trigger: str
    by: str
    candidates: int
    healthy: int
    chosen: int | None
    outcome: RescueOutcome
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the guard returns: rows of `final_sql`, and everything it saw on the way.

    `final_sql` is `sql` to the byte when nothing changed. `failure` is set when no rows came
    back, `probe` is None when the query was not run. Times are milliseconds. `signs` are those
    that spoke for the copies that a repair would drop, `unheeded` those among them that the
    policy passed over in what it applied (its file says which).
    """

    sql: str
    question: str | None = None
    final_sql: str
    verdict: Verdict
    dialect: str
    findings: tuple[Finding, ...] = ()
    applied: tuple[str, ...] = ()
    probe: Probe | None = None
    columns: tuple[str, ...] = ()
    rows: Sequence[tuple[Any, ...]] = ()
    truncated: bool = False
    timing_ms: Mapping[str, float] = field(default_factory=dict)
    cost: Cost = Cost()
    rescue: Rescue | None = None
    failure: Failure | None = None
    notes: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    unheeded: tuple[str, ...] = ()
