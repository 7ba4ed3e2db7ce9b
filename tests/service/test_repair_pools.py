"""`repair --pools`: candidates by question, what rescues did, and why they did not."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from modularsql import Settings
from modularsql.errors import InputError
from modularsql.llm.script import ScriptedModel
from modularsql.service.repairing import RepairRequest, RepairSummary, repair

COPIES = "SELECT a FROM t"
BROKEN = "SELECT c FROM t"
GOOD = "SELECT b FROM t"

Repair = Callable[..., RepairSummary]


@pytest.fixture
def rescued(
    tmp_path: Path, root: Path, dataset: Callable[..., str], in_this_process: None
) -> Repair:
    """Repair three queries on `shop`, of which the pool holds candidates for the last two."""

    def call(policy: str, **more: object) -> RepairSummary:
        (tmp_path / "pred.json").write_text(json.dumps([GOOD, BROKEN, COPIES]))
        pools = [{"id": f"q{at}", "candidates": [BROKEN, GOOD]} for at in (1, 2)]
        (tmp_path / "pools.jsonl").write_text("\n".join(map(json.dumps, pools)))
        request = RepairRequest(
            dataset=dataset("shop", "shop", "shop"),
            predictions=tmp_path / "pred.json",
            db_root=root,
            out=tmp_path / "out.json",
            settings=Settings(policy=policy, jobs=1),
            **{"pools": tmp_path / "pools.jsonl", **more},  # type: ignore[arg-type]
        )
        return repair(request)

    return call


def written(tmp_path: Path) -> list[str]:
    found: list[str] = json.loads((tmp_path / "out.json").read_text())
    return found


def test_a_rule_needs_no_model(rescued: Repair, tmp_path: Path) -> None:
    summary = rescued("selector")
    assert written(tmp_path) == [GOOD, GOOD, GOOD]
    told = summary.as_json()["rescue"]
    assert (told["pools"], told["flagged"], told["tried"]) == (2, 2, 2)
    assert told["outcomes"] == {"chosen": 2}
    assert told["cost"]["llm_calls"] == 0
    assert told["ms_median"] > 0


def test_a_judge_is_asked_for_flagged_queries_alone(
    rescued: Repair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = ScriptedModel(["NONE", "1"])
    monkeypatch.setattr("modularsql.service.repairing.connect_model", lambda settings: script)
    summary = rescued("paper")
    assert len(script.requests) == 2
    assert written(tmp_path) == [GOOD, BROKEN, GOOD]
    assert summary.rescue.outcomes == {"declined": 1, "chosen": 1}
    assert summary.rescue.cost.llm_calls == 2
    assert any("2 of 2 flagged" in line for line in summary.rescue.lines())


def test_without_a_model_or_pools_the_output_says_so(rescued: Repair, tmp_path: Path) -> None:
    summary = rescued("paper")
    assert written(tmp_path)[2] == COPIES.replace("SELECT", "SELECT DISTINCT")
    assert any("no model to ask" in line for line in summary.rescue.lines())
    summary = rescued("selector", pools=None)
    assert any("no candidates" in line for line in summary.rescue.lines())
    assert summary.as_json()["rescue"]["valid"] is None


def test_a_pool_for_no_question_is_refused(rescued: Repair, tmp_path: Path) -> None:
    strange = tmp_path / "strange.jsonl"
    strange.write_text(json.dumps({"id": "q9", "candidates": []}))
    with pytest.raises(InputError, match="for no question"):
        rescued("selector", pools=strange)
