"""`repair` and `guard` from candidates, end to end, against a server on this machine."""

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from modularsql import Settings
from modularsql.service.guarding import GuardRequest, guard
from modularsql.service.repairing import RepairRequest, RepairSummary, repair

from .conftest import Answer, FakeServer, completion, failure

BROKEN = "SELECT nam FROM customer"
GOOD = "SELECT name FROM customer"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "db" / "shop" / "shop.sqlite"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);"
            "INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob');"
        )
    connection.close()
    return tmp_path


def repaired(root: Path, server: FakeServer, questions: int, **more: Any) -> RepairSummary:
    """Repair a set in which every query fails, and the second candidate does not."""
    ids = [str(i) for i in range(questions)]
    asked = [{"id": i, "db": "shop", "question": f"Who is there? ({i})"} for i in ids]
    pools = [{"id": i, "candidates": [BROKEN, GOOD]} for i in ids]
    (root / "set.jsonl").write_text("\n".join(map(json.dumps, asked)))
    (root / "pools.jsonl").write_text("\n".join(map(json.dumps, pools)))
    (root / "pred.json").write_text(json.dumps(dict.fromkeys(ids, BROKEN)))
    settings = {"model": "m", "base_url": server.url, "policy": "paper", "jobs": 2, **more}
    request = RepairRequest(
        dataset=str(root / "set.jsonl"),
        predictions=root / "pred.json",
        db_root=root / "db",
        out=root / "out.json",
        settings=Settings(**settings),
        pools=root / "pools.jsonl",
    )
    return repair(request)


def written(root: Path) -> set[str]:
    return set(json.loads((root / "out.json").read_text()).values())


def test_flagged_queries_give_way_and_the_cost_is_told(root: Path, server: FakeServer) -> None:
    server.answers = [completion("1")]
    prices = root / "prices.toml"
    prices.write_text("[models.m]\ninput = 100\noutput = 1000")
    summary = repaired(root, server, 6, prices=str(prices))
    assert written(root) == {GOOD}
    told = summary.as_json()["rescue"]
    assert (told["flagged"], told["tried"], told["outcomes"]) == (6, 6, {"chosen": 6})
    assert told["cost"]["llm_calls"] == len(server.bodies) == 6
    assert told["cost"]["usd"] == pytest.approx(6 * 0.02)
    assert told["usd_per_flagged"] == pytest.approx(0.02)
    assert told["valid"] == 1
    assert summary.by_rule["rescue"] == 6


def test_a_budget_holds_over_all_workers(root: Path, server: FakeServer) -> None:
    server.answers = [completion("1")]
    summary = repaired(root, server, 6, budget_calls=2)
    assert len(server.bodies) == 2
    assert summary.changed == 2
    assert summary.rescue.cost.llm_calls == 2
    assert summary.rescue.outcomes == {"chosen": 2, "no_reply": 4}
    assert any("budget of 2 calls" in note for note in summary.rescue.notes)


TROUBLE = {
    "429": failure(429, headers={"retry-after": "0.01"}),
    "500": failure(500),
    "garbage": Answer(body="<html>gateway</html>"),
    "half": Answer(body='{"choices": [{"message": {"cont'),
    "cut-off": Answer(body='{"choices"', declared=400),
    "nothing": Answer(body=""),
    "hangs": Answer(wait=20),
    "hangs-up": Answer(hang_up=True),
    "401": failure(401),
    "prose": completion("I would rather not say."),
}


@pytest.mark.parametrize("name", TROUBLE)
def test_a_server_in_trouble_leaves_the_query_as_it_was(
    root: Path, server: FakeServer, name: str
) -> None:
    server.answers = [TROUBLE[name]]
    (root / "pool.json").write_text(json.dumps([BROKEN, GOOD]))
    answer = guard(
        GuardRequest(
            target=str(root / "db" / "shop" / "shop.sqlite"),
            sql=BROKEN,
            fix=True,
            candidates=root / "pool.json",
            settings=Settings(
                model="m", base_url=server.url, policy="paper", model_timeout=0.7, model_attempts=2
            ),
        )
    )
    assert answer.final_sql == BROKEN
    assert answer.rescue is not None
    spoke = name == "prose"
    assert answer.rescue.outcome == ("no_valid_index" if spoke else "no_reply")
    assert bool(answer.notes) != spoke
    assert answer.cost.llm_calls == int(spoke)
    assert answer.cost.prompt_tokens == (100 if spoke else 0)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_sixty_four_flagged_queries_take_little_longer_than_they_must(
    root: Path, server: FakeServer
) -> None:
    times: list[float] = []

    def reply(body: Any) -> Answer:
        times.append(time.monotonic())
        return completion("1", wait=0.2)

    server.answers = reply
    summary = repaired(root, server, 64, model_concurrency=8)
    assert summary.rescue.outcomes == {"chosen": 64}
    assert 6 <= server.most_at_once <= 8
    # From the first request to the last reply: to start worker processes is not the model's time.
    ratio = (times[-1] + 0.2 - times[0]) / (64 / 8 * 0.2)
    assert ratio < 1.3, f"{ratio:.2f} times the ideal time"
