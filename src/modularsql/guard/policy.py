"""What the guard may change, as data. `grain` is ours; `paper` is the paper's own configuration.

The rescue over candidates, first in the paper's order, needs a pool and joins in `run.STAGES`.
"""

from dataclasses import dataclass
from typing import Literal

from modularsql.config import Settings
from modularsql.errors import InputError

PatchName = Literal["inject_distinct", "remove_distinct"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Patches in their order, and the dup ratios at which they act (0 to 1).

    `tau_inject` also decides what the probe calls duplicates (paper, section 3.1). With `grain`
    the query is analysed, and its findings are repaired instead; `tau_repeat` is how often a
    listed row must come back on average, 1 or more, for that to happen unasked.
    """

    name: str
    patches: tuple[PatchName, ...]
    tau_inject: float
    tau_remove: float
    tau_repeat: float = 1.0
    grain: bool = False


GRAIN = "grain"
POLICIES: dict[str, tuple[PatchName, ...]] = {
    "paper": ("inject_distinct", "remove_distinct"),
    "p1": ("inject_distinct",),
    "p1-p2": ("inject_distinct", "remove_distinct"),
    "off": (),
}


def find_policy(name: str, settings: Settings) -> Policy:
    """The policy of that name with the thresholds of the settings; `InputError` if unknown."""
    if name != GRAIN and name not in POLICIES:
        known = ", ".join((GRAIN, *POLICIES))
        raise InputError(f"unknown policy {name!r}", f"known: {known}", "policy")
    return Policy(
        name=name,
        patches=POLICIES.get(name, ()),
        tau_inject=settings.tau_inject,
        tau_remove=settings.tau_remove,
        tau_repeat=settings.tau_repeat,
        grain=name == GRAIN,
    )
