"""What the guard may change, and in which order, as data.

`grain` is ours; `paper` (= `paper-v2`) is the paper's own configuration. The other orders are
the rows of its tables 3, 7 and 8, and the comparisons that it leaves open.
"""

from dataclasses import dataclass
from typing import Literal

from modularsql.config import Settings
from modularsql.errors import InputError

PatchName = Literal["inject_distinct", "remove_distinct"]
StepName = Literal["rescue", "rescue_raw", "rescue_patched", "patch", "probe_again", "outvote"]
ChooserName = Literal[
    "judge", "grain_judge", "lowest_dup_ratio", "fewest_findings", "regenerate", "majority"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What follows the probe.

    `steps`: `rescue` acts on the query as it stands; `rescue_raw` on the query as it was probed,
    so that its pick replaces what was patched; `rescue_patched` shows the patched query where the
    raw one was flagged; `probe_again` looks at what the patches made; `outvote` lets a majority
    of the candidates answer a finding that nothing repaired. `choose` decides in a rescue. With
    `grain` the query is analysed and its findings are repaired; a candidate then has findings too.
    """

    steps: tuple[StepName, ...] = ("patch",)
    patches: tuple[PatchName, ...] = ()
    choose: ChooserName | None = None
    grain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """An order with the dup ratios (0 to 1) at which its patches act.

    `tau_inject` also decides what the probe calls duplicates (paper, section 3.1); `tau_repeat`
    is how often a listed row must come back on average, 1 or more, to be repaired unasked. Signs in
    `unheeded` (`multiplicity.intent.SIGNS`) speak against no repair.
    """

    name: str
    order: Order
    tau_inject: float
    tau_remove: float
    tau_repeat: float = 1.0
    unheeded: frozenset[str] = frozenset()

    @property
    def grain(self) -> bool:
        """Whether queries are analysed."""
        return self.order.grain


_BOTH: tuple[PatchName, ...] = ("inject_distinct", "remove_distinct")
_PAPER = Order(steps=("rescue", "patch"), patches=_BOTH, choose="judge")

ORDERS: dict[str, Order] = {
    "grain": Order(steps=("rescue", "patch", "outvote"), choose="grain_judge", grain=True),
    "paper": _PAPER,
    "paper-v2": _PAPER,
    "paper-v1": Order(steps=("patch", "rescue_raw"), patches=_BOTH, choose="judge"),
    "paper-v1-text": Order(steps=("patch", "rescue_patched"), patches=_BOTH, choose="judge"),
    "reprobe": Order(steps=("patch", "probe_again", "rescue"), patches=_BOTH, choose="judge"),
    "selector": Order(steps=("rescue",), choose="lowest_dup_ratio"),
    "selector-patches": Order(steps=("rescue", "patch"), patches=_BOTH, choose="lowest_dup_ratio"),
    "findings": Order(steps=("rescue",), choose="fewest_findings", grain=True),
    "findings-repairs": Order(
        steps=("rescue", "patch", "outvote"), choose="fewest_findings", grain=True
    ),
    "regenerate": Order(steps=("rescue", "patch"), patches=_BOTH, choose="regenerate"),
    "p1": Order(patches=("inject_distinct",)),
    "p1-p2": Order(patches=_BOTH),
    "off": Order(),
}
"""By name, as `--policy` takes them (docs/interfaces.md)."""


def find_policy(name: str, settings: Settings) -> Policy:
    """The policy of that name with the thresholds of the settings; `InputError` if unknown."""
    if name not in ORDERS:
        known = ", ".join(ORDERS)
        raise InputError(f"unknown policy {name!r}", f"known: {known}", "policy")
    return Policy(
        name=name,
        order=ORDERS[name],
        tau_inject=settings.tau_inject,
        tau_remove=settings.tau_remove,
        tau_repeat=settings.tau_repeat,
    )
