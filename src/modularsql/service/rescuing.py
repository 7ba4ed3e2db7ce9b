"""What rescues did over a prediction set, and what they cost (paper, section 4.5)."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from modularsql.records import Cost
from modularsql.service.in_workers import Repaired
from modularsql.wording import counted

_NO_INDEX = frozenset({"no_valid_index", "no_reply"})


@dataclass(slots=True, kw_only=True)
class RescueSummary:
    """Counts of rescues: of the `flagged` queries, those `tried`, and how they ended.

    `pools` is the number of pools given, `notes` say why rescues were skipped or failed, `ms`
    are the milliseconds of each that was tried, previews included.
    """

    pools: int = 0
    model: str = ""
    questions: int = 0
    flagged: int = 0
    tried: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    without_healthy: int = 0
    cost: Cost = field(default_factory=Cost)
    ms: list[float] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)

    def add(self, one: Repaired, flagged: bool) -> None:
        """Count one question."""
        self.questions += 1
        self.flagged += flagged
        self.cost += one.cost
        self.notes.update(note for note in one.notes if note.startswith("the rescue"))
        if one.rescue is not None:
            self.tried += 1
            self.outcomes[one.rescue.outcome] += 1
            self.without_healthy += one.rescue.candidates > 0 and not one.rescue.healthy
            self.ms.append(one.rescue_ms)

    @property
    def valid(self) -> float | None:
        """The share of the rescues tried in which a usable reply came."""
        return 1 - sum(self.outcomes[o] for o in _NO_INDEX) / self.tried if self.tried else None

    def as_json(self) -> dict[str, Any]:
        """The part of `repair --format json` that is about rescues."""
        return {
            "model": self.model or None,
            "pools": self.pools,
            "flagged": self.flagged,
            "tried": self.tried,
            "outcomes": dict(self.outcomes),
            "valid": self.valid,
            "without_healthy": self.without_healthy,
            "cost": asdict(self.cost),
            "ms_median": median(self.ms) if self.ms else None,
            "ms_amortised": sum(self.ms) / self.questions if self.questions else None,
            "usd_per_flagged": self.cost.usd / self.flagged if self.flagged else None,
            "notes": dict(self.notes),
        }

    def lines(self) -> list[str]:
        """The same in words."""
        said = []
        if self.tried:
            ended = ", ".join(f"{name} {count:,}" for name, count in self.outcomes.most_common())
            said.append(f"rescues:    {self.tried:,} of {self.flagged:,} flagged ({ended})")
            spent = f"{self.cost.llm_calls:,} calls, {self.cost.usd:.4f} US dollars, "
            spent += f"{median(self.ms):,.0f} ms at the median, "
            spent += f"{sum(self.ms) / self.questions:,.0f} ms for each question of the set"
            said.append(f"spent:      {spent}")
        for note, count in self.notes.most_common(3):
            said.append(f"{counted(count, 'query', 'queries')}: {note}")
        return said
