"""Signs that speak for copies: what the guard would do if it did not heed one of them.

A run has what policy `grain` does without an ear for any sign, and which it then passed over. Where
that was one sign alone, the answer is what it would be with this sign unheeded; what several hold
back at once stays as it is. So each sign is fitted by itself: heeded, or not.

The other designs were a weighted vote of the signs, or sets of signs chosen together. Few answers
are held back by more than one (the table's note says how many; of 9,195 by 19 systems on Spider dev
and BIRD's superhero, none is), so there is nothing to fit them on, and nobody could read from
weights in a policy file why a query was left alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from modularsql.evaluation.run import Verdict
from modularsql.evaluation.studies.outcomes import GRAIN_HEEDED, GRAIN_UNHEEDED, outcome
from modularsql.evaluation.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An answer that one sign alone keeps from being repaired, and what the repair would do to
    Multiset-EX (1 fixed, -1 broken, 0 neither)."""

    db: str
    sign: str
    change: int


Halves = tuple[Sequence[Verdict], Sequence[Verdict]]


def held_back(verdicts: Iterable[Verdict]) -> list[Held]:
    """The answers that a single sign holds back."""
    found = []
    for verdict in verdicts:
        heeded, unheeded = outcome(verdict, GRAIN_HEEDED), outcome(verdict, GRAIN_UNHEEDED)
        if heeded is None or unheeded is None or len(unheeded.signs) != 1:
            continue
        change = (unheeded.multiset_ex == 1.0) - (heeded.multiset_ex == 1.0)
        found.append(Held(db=verdict.question.db, sign=unheeded.signs[0], change=change))
    return found


def net(found: Iterable[Held], sign: str) -> int:
    """Fixes less breaks, were this sign not heeded."""
    return sum(one.change for one in found if one.sign == sign)


def judged(here: Sequence[Held], there: Sequence[Held], sign: str) -> int:
    """What a choice made on one part is worth on another: nothing where the sign stays heeded."""
    return net(there, sign) if net(here, sign) > 0 else 0


def not_to_heed(verdicts: Sequence[Verdict], halves: Halves) -> tuple[str, ...]:
    """The signs that cost more than they save, on all answers and on halves that a choice had not
    seen, in the order in which they occur."""
    found = held_back(verdicts)
    one, other = map(held_back, halves)
    return tuple(
        sign
        for sign in dict.fromkeys(held.sign for held in found)
        if net(found, sign) > 0 and judged(one, other, sign) + judged(other, one, sign) > 0
    )


def table(verdicts: Sequence[Verdict], halves: Halves) -> Table:
    """Each sign: what it holds back, and whether a choice holds on what it was not made on."""
    found = held_back(verdicts)
    one, other = map(held_back, halves)
    passed = not_to_heed(verdicts, halves)
    rows = []
    for sign in sorted({held.sign for held in found}):
        changes = [held.change for held in found if held.sign == sign]
        rows.append(
            (
                *(sign, len(changes), changes.count(1), changes.count(-1)),
                *(judged(one, other, sign), judged(other, one, sign)),
                *(_left_out(found, sign), "not heeded" if sign in passed else "heeded"),
            )
        )
    several = sum(
        len(after.signs) > 1 for v in verdicts if (after := outcome(v, GRAIN_UNHEEDED)) is not None
    )
    return Table(
        name="signs",
        title="Signs that speak for copies: what happens where one is not heeded",
        columns=(
            *("sign", "answers held back", "would be fixed", "would be broken"),
            *("chosen on A, net on B", "chosen on B, net on A", "leave one database out, net"),
            "written",
        ),
        rows=rows,
        note=(
            f"Parts as above. {several:,} more answers are held back by several signs, and stay. "
            "Not heeded is written where that pays on all answers and on both parts together."
        ),
    )


def _left_out(found: Sequence[Held], sign: str) -> int:
    total = 0
    for db in dict.fromkeys(held.db for held in found):
        inside = [held for held in found if held.db == db]
        total += judged([held for held in found if held.db != db], inside, sign)
    return total
