"""The evidence of findings: rows after each join, the value at the grain, example rows.

Comes after the finding was made, out of a purse: it may take a set time, or as long as the query
itself did, and never more than is left of the budget. What the purse does not pay for is left
out, and the finding says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from modularsql.guard import findings as say
from modularsql.guard.emptiness import why_empty
from modularsql.guard.factor import Measured, not_measured
from modularsql.guard.null_first import null_first
from modularsql.guard.session import OUT_OF_TIME, Purse
from modularsql.guard.state import State
from modularsql.multiplicity.evidence import examples_of, step_counts, values_of
from modularsql.multiplicity.model import Query
from modularsql.multiplicity.row_loss import lookups, lost_rows
from modularsql.multiplicity.steps import Step, steps_of
from modularsql.multiplicity.words import names, text
from modularsql.records import Finding
from modularsql.sql.outermost import select_place
from modularsql.sql.statement import Statement

Facts = dict[str, Any]


def explain(state: State) -> State:
    """The stage: add to each finding the numbers that it can be checked by."""
    query = state.seen.query if state.seen is not None else None
    seconds = state.settings.evidence_seconds
    if query is None or state.seen is None or not seconds:
        return state
    if state.rows is None:
        return _unmeasured(state) if state.failure is not None else state
    gatherer = _Gatherer(
        query=query,
        purse=state.session.purse(seconds),
        told={id(one.finding): one for one in state.seen.issues},
    )
    state = state._replace(findings=tuple(map(gatherer.with_evidence, state.findings)))
    return state.note(
        *_losses(query, state, gatherer.purse), *_null_first(query, state, gatherer.purse)
    )


def _null_first(query: Query, state: State, purse: Purse) -> list[Finding]:
    """NULL on top of what LIMIT keeps."""
    if state.rows is None or not isinstance(state.statement, Statement):
        return []
    finding = null_first(state.statement, query, state.rows, purse)
    return [] if finding is None else [finding]


def _losses(query: Query, state: State, purse: Purse) -> list[Finding]:
    """What the joins of the outermost block leave out that only look something up."""
    found = lookups(query.block) if query.block is not None and state.rows else ()
    if not found or query.block is None or not isinstance(state.statement, Statement):
        return []
    outcome = purse.run(lost_rows(query.block, query, found))
    if outcome is None:
        return []
    place = state.statement.place(select_place(state.statement))
    rows, *kept = outcome.rows[0]
    looked_up = [one.source for one in found]
    of = names([s for s in query.block.sources if s not in looked_up], query.block)
    return [
        say.row_loss(one.join, (one.source.name, of), rows - count, rows, place)
        for one, count in zip(found, kept, strict=True)
        if count < rows
    ]


def _unmeasured(state: State) -> State:
    """Nothing could be measured, since the query itself took all the time there was."""
    issues = state.seen.issues if state.seen is not None else ()
    about_copies = {id(one.finding) for one in issues if one.issue.multipliers}
    findings = tuple(
        not_measured(finding, OUT_OF_TIME) if id(finding) in about_copies else finding
        for finding in state.findings
    )
    return state._replace(findings=findings)


@dataclass(slots=True, kw_only=True)
class _Gatherer:
    """Findings of one query; steps of one block and entity are counted once."""

    query: Query
    purse: Purse
    told: Mapping[int, Measured]
    counted: dict[tuple[int, ...], Facts] = field(default_factory=dict)

    def with_evidence(self, finding: Finding) -> Finding:
        """The finding with what was measured for it; as it is where there is nothing more."""
        if finding.rule == say.EMPTY:
            return why_empty(finding, self.query, self.purse)
        one = self.told.get(id(finding))
        if one is None or not one.issue.multipliers or _is_closed(finding):
            return finding
        facts = self._joins(one)
        if one.borne_out:
            facts |= self._values(one) | self._examples(one)
        cause = finding.cause or facts.get("join")
        found = replace(finding, cause=cause, measured={**finding.measured, **facts})
        return not_measured(found, self.purse.why, "further") if self.purse.why else found

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
                # A SUM of whole numbers is a Decimal on servers.
                counts.append([None if n is None else int(n) for n in outcome.rows[0]])
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


def _is_closed(finding: Finding) -> bool:
    """Whether there is no more to measure: what a sample had to do for is too dear to count."""
    return not finding.measured.keys().isdisjoint(("not_measured", "sample"))


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
