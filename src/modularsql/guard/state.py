"""What is known of one query while it goes through the stages of `run.py`."""

from functools import partial
from typing import NamedTuple

from modularsql.config import Settings
from modularsql.guard.counting import Counts
from modularsql.guard.grain import Seen
from modularsql.guard.policy import Policy
from modularsql.guard.session import Session
from modularsql.multiplicity.question import Question
from modularsql.ports import Model
from modularsql.records import Failure, Finding, Probe, Rescue
from modularsql.rows import Rows
from modularsql.sql.allow import Allowance, is_allowed
from modularsql.sql.statement import Many, NoSql, Statement


class State(NamedTuple):
    """Grows by `_replace`, many times a query: no other frozen kind copies as quickly.

    `allowed` and `notes_in_sql` say which rules are to be silent.
    `probe` is about the query as given; `now` about the one that stands in its place, `raw` is the
    state before patches. `asked` and `hint` are words for a model,
    `candidates_from` one for the user: what gives candidates.
    """

    sql: str
    session: Session
    policy: Policy
    settings: Settings
    fix: bool
    execute: bool
    allowed: tuple[str, ...]
    notes_in_sql: tuple[Allowance, ...] = ()
    statement: Statement | NoSql | Many | None = None
    rows: Rows | None = None
    failure: Failure | None = None
    counts: Counts | None = None
    probe: Probe | None = None
    findings: tuple[Finding, ...] = ()
    applied: tuple[str, ...] = ()
    final_sql: str = ""
    question: Question | None = None
    asked: str = ""
    hint: str = ""
    candidates: tuple[str, ...] = ()
    candidates_from: str = ""
    model: Model | None = None
    raw: "State | None" = None
    now: Probe | None = None
    rescue: Rescue | None = None
    seen: Seen | None = None
    notes: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    unheeded: tuple[str, ...] = ()

    def note(self, *found: Finding) -> "State":
        """With more findings, those left out that the user allowed there."""
        silent = partial(is_allowed, names=self.allowed, notes=self.notes_in_sql)
        if not found:
            return self
        heard = tuple(finding for finding in found if not silent(finding))
        return self._replace(findings=self.findings + heard)

    def found(self, rule: str) -> bool:
        """Whether there is a finding of that rule (none where it was allowed)."""
        return any(finding.rule == rule for finding in self.findings)
