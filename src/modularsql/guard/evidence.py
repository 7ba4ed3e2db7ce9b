"""The evidence of findings: rows after each join, the value at the grain, example rows.

Comes after the finding was made, out of a purse: it may take a set time, or as long as the query
itself did, and never more than is left of the budget. What the purse does not pay for is left
out, and the finding says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from modularsql.guard.grain import Measured, not_measured
from modularsql.guard.session import Purse
from modularsql.guard.state import State
from modularsql.multiplicity.evidence import examples_of, step_counts, values_of
from modularsql.multiplicity.model import Query
from modularsql.multiplicity.steps import Step, steps_of
from modularsql.multiplicity.words import text
from modularsql.records import Finding

Facts = dict[str, Any]


def explain(state: State) -> State:
    """The stage: add to each finding the numbers that it can be checked by."""
    query = state.seen.query if state.seen is not None else None
    seconds = state.settings.evidence_seconds
    if query is None or state.seen is None or not seconds:
        return state
    if state.rows is None:
        return _unmeasured(state) if state.failure is not None else state
    purse = state.session.purse(seconds, state.rows.ms / 1000)
    gatherer = _Gatherer(query=query, purse=purse)
    told = {id(one.finding): one for one in state.seen.issues}
    findings = tuple(
        gatherer.with_evidence(finding, told[id(finding)]) if id(finding) in told else finding
        for finding in state.findings
    )
    return replace(state, findings=findings)


def _unmeasured(state: State) -> State:
    """Nothing could be measured, since the query itself took all the time there was."""
    issues = state.seen.issues if state.seen is not None else ()
    about_copies = {id(one.finding) for one in issues if one.issue.multipliers}
    findings = tuple(
        not_measured(finding) if id(finding) in about_copies else finding
        for finding in state.findings
    )
    return replace(state, findings=findings)


@dataclass(slots=True, kw_only=True)
class _Gatherer:
    """Findings of one query; steps of one block and entity are counted once."""

    query: Query
    purse: Purse
    counted: dict[tuple[int, ...], Facts] = field(default_factory=dict)

    def with_evidence(self, finding: Finding, one: Measured) -> Finding:
        """The finding with what was measured for it; as it is where it is not about copies."""
        if not one.issue.multipliers or "not_measured" in finding.measured:
            return finding
        facts = self._joins(one)
        if one.borne_out:
            facts |= self._values(one) | self._examples(one)
        cause = finding.cause or facts.get("join")
        found = replace(finding, cause=cause, measured={**finding.measured, **facts})
        return not_measured(found, "Not measured further") if self.purse.empty else found

    def _joins(self, one: Measured) -> Facts:
        """Rows before and after each join, and which join repeats the entity most."""
        issue = one.issue
        key = (id(issue.block), *(id(source) for source in issue.entity))
        if key not in self.counted:
            steps = steps_of(issue.block)
            counts = []
            for number, step in enumerate(steps if len(steps) > 1 else ()):
                select = step_counts(issue.block, self.query, number, step, issue.entity)
                outcome = self.purse.run(select)
                if outcome is None:
                    break
                counts.append(outcome.rows[0])
            self.counted[key] = _as_joins(steps, counts)
        return dict(self.counted[key])

    def _values(self, one: Measured) -> Facts:
        values = values_of(one.issue, self.query)
        outcome = self.purse.run(values.select) if values is not None else None
        if values is None or outcome is None or not outcome.rows:
            return {}
        *group, now, once = outcome.rows[0]
        facts = {"value_now": now, "value_at_grain": once}
        if group:
            facts["group"] = dict(zip(values.groups, group, strict=True))
        return facts

    def _examples(self, one: Measured) -> Facts:
        examples = examples_of(one.issue, self.query)
        outcome = self.purse.run(examples.select) if examples is not None else None
        if examples is None or outcome is None or not outcome.rows:
            return {}
        at = len(examples.keys)
        found = []
        for *cells, times in outcome.rows:
            example: Facts = {"key": dict(zip(examples.keys, cells[:at], strict=True))}
            if examples.groups:
                example["group"] = dict(zip(examples.groups, cells[at:], strict=True))
            found.append({**example, "rows": times})
        return {"examples": found}


def _as_joins(steps: Sequence[Step], counts: Sequence[Sequence[int | None]]) -> Facts:
    """`joins`, one for each join that was counted, and `join`, the one that repeats most."""
    joins: list[Mapping[str, Any]] = []
    worst, most = None, 1.0
    repeated = 1.0
    for number in range(1, len(counts)):
        rows, there, different = counts[number]
        joins.append(
            {
                "join": steps[number].text,
                "conditions": [text(part) for part in steps[number].conditions],
                "rows_before": counts[number - 1][0],
                "rows_after": rows,
                "entity_rows": different,
            }
        )
        now = there / different if there and different else repeated
        if now / repeated > most:
            worst, most = steps[number].text, now / repeated
        repeated = now
    if not joins:
        return {}
    return {"joins": joins} | ({"join": worst} if worst is not None else {})
