"""A run as its files hold it: which system answered which question, and how that was scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from modularsql.evaluation.cause import Cause
from modularsql.evaluation.datasets import Question
from modularsql.evaluation.log import TOO_SLOW, Ran, Record
from modularsql.evaluation.plan import Plan
from modularsql.evaluation.several import NEVER_RAN, combined

_FAILS = frozenset(NEVER_RAN) - {"no_database"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One system's answer to one question."""

    system: str
    question: Question
    pred_sql: str | None
    record: Record

    @property
    def scores(self) -> Mapping[str, float | None]:
        """Each metric's score; None for undecided."""
        return self.record.scores

    @property
    def mbs(self) -> bool:
        """Right as a set, wrong as a multiset: the multiplicity blind spot (paper, 2.2)."""
        return self.scores.get("set_ex") == 1.0 and self.scores.get("multiset_ex") == 0.0

    @property
    def out_of_order(self) -> bool:
        """Right as a multiset, in an order that gold's ORDER BY does not allow."""
        return self.record.cause == Cause.ORDER


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All verdicts by system, in the order of the questions; `about` is the run record."""

    about: Mapping[str, Any]
    verdicts: Mapping[str, Sequence[Verdict]] = field(default_factory=dict)

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics that were asked for."""
        return list(self.about["inputs"]["metrics"])

    @property
    def smelled(self) -> bool:
        """Whether the smells of gold were looked for."""
        return bool(self.about["inputs"]["smells"])

    def smells(self) -> dict[str, list[str]]:
        """The ids of the questions whose gold has each smell, the most frequent smell first."""
        found: dict[str, dict[str, None]] = {}
        for verdict in self.all_verdicts() if self.smelled else ():
            for smell in verdict.record.smells:
                found.setdefault(smell, {})[verdict.question.id] = None
        ranked = sorted(found.items(), key=lambda one: -len(one[1]))
        return {smell: list(ids) for smell, ids in ranked}

    @property
    def leaves_slow_gold_out(self) -> bool:
        """Whether gold beyond the time limit is out of the denominator (preset paper)."""
        return bool(self.about["inputs"]["slow_gold_out"])

    def all_verdicts(self) -> list[Verdict]:
        """The verdicts of all systems."""
        return [verdict for verdicts in self.verdicts.values() for verdict in verdicts]

    def counted_by_system(self) -> dict[str, list[Verdict]]:
        """The verdicts in the denominator."""
        return {
            name: [verdict for verdict in verdicts if self.counted(verdict)]
            for name, verdicts in self.verdicts.items()
        }

    def notes(self) -> tuple[str, ...]:
        """What a reader must know beside the scores."""
        inputs = self.about["inputs"]
        notes = [inputs["note"]] if inputs.get("note") else []
        if missing := inputs["missing_databases"]:
            notes.append(f"databases not found: {_first(missing)}")
        if several := inputs["several_files"]:
            notes.append(f"right is what is right on every file of its database: {_first(several)}")
        golds = {v.question.id: v for v in self.all_verdicts()}.values()
        unread = dict.fromkeys(
            v.record.gold.error
            for v in golds
            if v.record.gold.status in ("no_database", "locked") and v.record.gold.error
        )
        notes += [f"{problem}: its questions are not scored" for problem in unread]
        if failing := [v.question.id for v in golds if v.record.gold.status in _FAILS]:
            notes.append(f"gold that is missing or does not run, left out: {_first(failing)}")
        if slow := [v.question.id for v in golds if v.record.gold.status == TOO_SLOW]:
            left_out = "left out" if self.leaves_slow_gold_out else "counted as wrong"
            notes.append(f"gold beyond the time limit, {left_out}: {_first(slow)}")
        return tuple(notes)

    def counted(self, verdict: Verdict) -> bool:
        """Whether a question is in the denominator: its gold can be run, quickly or not."""
        status = verdict.record.gold.status
        if status == TOO_SLOW:
            return not self.leaves_slow_gold_out
        return status not in NEVER_RAN


def fill(
    plan: Plan,
    questions: Sequence[Question],
    answers: Mapping[str, Sequence[str | None]],
    records: Mapping[int, Record],
) -> dict[str, list[Verdict]]:
    """The verdicts of a plan whose pairs have these records."""
    verdicts: dict[str, list[Verdict]] = {name: [] for name in answers}
    for place in plan.places:
        if place.pairs:
            record = combined([[records[pair] for pair in golds] for golds in place.pairs])
        else:
            nowhere = Ran(status="no_database")
            pred = Ran(status=place.status)
            record = Record(pair=-1, gold=nowhere, pred=pred, cause="gold_no_database")
        verdicts[place.system].append(
            Verdict(
                system=place.system,
                question=questions[place.question],
                pred_sql=answers[place.system][place.question],
                record=record,
            )
        )
    return verdicts


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10:,} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more
