"""Small runs made by hand, for tests of what is computed from them."""

from collections.abc import Sequence
from typing import Any

from modularsql.evaluation.datasets import Question
from modularsql.evaluation.log import Guarded, Ran, Record
from modularsql.evaluation.run import Run, Verdict

ABOUT: dict[str, Any] = {
    "seconds": 1.0,
    "inputs": {
        "metrics": ["set_ex", "multiset_ex"],
        "guard": ["grain"],
        "slow_gold_out": False,
        "smells": False,
        "systems": {"one": {"sha256": "1"}},
        "gold": {},
        "databases": {},
        "dataset": {"sha256": "1", "path": "dev.json"},
        "missing_databases": [],
        "several_files": [],
        "settings": {"timeout": 5.0, "tau_inject": 0.8, "tau_remove": 0.1, "tau_repeat": 1.5},
    },
}


def verdict(at: int, *, set_ex: float = 0.0, bag: float = 0.0, **more: Any) -> Verdict:
    """One answer. `rows` and `distinct` of the prediction, `status`, `db`, `gold`, `guarded`."""
    status = more.get("status", "ok")
    ran = (
        {"rows": more.get("rows", 10), "distinct": more.get("distinct", 10)}
        if status == "ok"
        else {}
    )
    return Verdict(
        system="one",
        question=Question(
            id=f"q{at}",
            db=more.get("db", "shop"),
            question="How many?",
            hint="",
            gold="SELECT 1",
            difficulty=more.get("difficulty"),
        ),
        pred_sql="SELECT 2",
        record=Record(
            pair=at,
            gold=Ran(status=more.get("gold", "ok"), rows=1, ms=1.0),
            pred=Ran(status=status, ms=1.0, **ran),
            scores={"set_ex": set_ex, "multiset_ex": bag},
            cause="equal" if bag else "different",
            guarded=tuple(more.get("guarded", ())),
        ),
    )


def outcome(policy: str, *repairs: str, bag: float = 0.0, **more: Any) -> Guarded:
    """What the guard made of an answer."""
    fields = {"set_ex": bag, "probe_ms": 0.1, "repair_ms": 1.0, **more}
    return Guarded(policy=policy, status="ok", applied=repairs, multiset_ex=bag, **fields)


def run_of(verdicts: Sequence[Verdict]) -> Run:
    """A run of one system."""
    return Run(about=ABOUT, verdicts={"one": list(verdicts)})
