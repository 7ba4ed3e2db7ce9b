"""Keys of grade `observed`: candidates put to the data, and remembered while it stays the same.

A session asks about a table once for each version of its data; the answers are kept for the
whole process, and the oldest are forgotten.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence

from modularsql.catalog import Catalog
from modularsql.declared.checks import Check, apply_results, checks
from modularsql.guard.session import Purse, Session
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.wanted import candidates, is_open, references, with_observed
from modularsql.records import Evidence, Failure

_SECONDS = 1.0
"""What looking for keys may take, or as long as the query itself took."""

_SHARE = 0.25
"""Of what is left for probes: what is found without keys is to be measured as well."""

_MOST = 4_096


class Memory:
    """Answers by question, a bounded number of them; threads may share it."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, int | None] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, question: Hashable) -> tuple[int | None] | None:
        """The answer in a tuple; None where it was not asked yet, or is forgotten."""
        with self._lock:
            if question not in self._known:
                return None
            self._known.move_to_end(question)
            return (self._known[question],)

    def put(self, question: Hashable, answer: int | None) -> None:
        """Remember an answer; None: the database gave none."""
        with self._lock:
            self._known[question] = answer
            self._known.move_to_end(question)
            while len(self._known) > self._most:
                self._known.popitem(last=False)


MEMORY = Memory()


def observe(issues: Sequence[Issue], session: Session, memory: Memory = MEMORY) -> Catalog | None:
    """The catalog with the keys that issues hang on and the data has; None where it has none."""
    if not any(map(is_open, issues)):
        return None
    catalog = session.catalog()
    purse, version = session.purse(_SECONDS, _SHARE), session.version()

    def upheld(asked: Catalog, grade: Evidence) -> Catalog:
        answers = {c: _answer(c, version, purse, memory) for c in checks(asked, grade)}
        # What was not answered is not observed.
        counts = {check: 1 if count is None else count for check, count in answers.items()}
        return apply_results(asked, counts).catalog

    richer = with_observed(catalog, upheld(candidates(issues, catalog), Evidence.OBSERVED))
    richer = with_observed(richer, upheld(references(issues, richer), Evidence.ASSUMED))
    return None if richer is catalog else richer


def _answer(check: Check, version: Hashable, purse: Purse, memory: Memory) -> int | None:
    """The rows against a claim; None where the database does not say within the purse."""
    known = memory.get((version, check.sql)) if version is not None else None
    if known is not None:
        return known[0]
    seconds = purse.left()
    if seconds <= 0:
        return None
    outcome = purse.session.probe(check.sql, at_most=seconds)
    answer = None if isinstance(outcome, Failure) else int(outcome.rows[0][0])
    if version is not None:
        memory.put((version, check.sql), answer)
    return answer
