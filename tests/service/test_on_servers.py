"""`eval` and `repair` on a server: as on files, also where it goes away in the middle."""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from math import inf
from pathlib import Path
from typing import Any

import pytest
from tests.engines.proxy import proxied
from tests.servers import SERVERS, Server

from modularsql.config import Settings
from modularsql.engines.connect import database_at
from modularsql.errors import InputError, SetupError
from modularsql.llm.script import ScriptedModel
from modularsql.service.evaluating import EvalRequest, Evaluated, evaluate
from modularsql.service.predicting import PredictRequest, predict
from modularsql.service.repairing import RepairRequest, RepairSummary, repair

SHOP = (
    "CREATE TABLE ord(id INTEGER PRIMARY KEY, total INTEGER NOT NULL)",
    "CREATE TABLE line(id INTEGER PRIMARY KEY, ord INTEGER NOT NULL REFERENCES ord(id))",
    "INSERT INTO ord VALUES (1, 100), (2, 50), (3, 5)",
    "INSERT INTO line VALUES (1, 1), (2, 1), (3, 2), (4, 3)",
)
PAIRS = (
    ("SELECT SUM(total) FROM ord", "SELECT SUM(o.total) FROM ord o JOIN line l ON l.ord = o.id"),
    ("SELECT id FROM ord", "SELECT o.id FROM ord o JOIN line l ON l.ord = o.id"),
    ("SELECT MAX(total) FROM ord", "SELECT total FROM ord WHERE total = 100"),
    ("SELECT COUNT(*) FROM line", "SELECT COUNT(*) FROM no_such_table"),
)
OPTIONS = {"postgres": "?sslmode=disable", "mysql": ""}
"""So that the proxy can read the line."""


@pytest.fixture(params=SERVERS)
def kind(request: pytest.FixtureRequest) -> str:
    if SERVERS[request.param].absent:
        pytest.skip(str(SERVERS[request.param].absent))
    return str(request.param)


@pytest.fixture
def server(kind: str) -> Server:
    return SERVERS[kind]


@pytest.fixture
def shop(server: Server) -> Iterator[str]:
    """The name of a database on the server."""
    name = f"modularsql_run_{threading.get_native_id()}"
    server.run(server.url, [f"CREATE DATABASE {name}"])
    server.run(server.of(name), SHOP)
    yield name
    server.run(server.url, [server.drop.format(name)])


@pytest.fixture
def root(server: Server, kind: str) -> str:
    """The URL of the server."""
    return server.of("").rstrip("/") + OPTIONS[kind]


class Asked:
    """A data set about one database, and a prediction set."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        lines = [{"id": f"q{i}", "db": name, "gold": gold} for i, (gold, _) in enumerate(PAIRS)]
        (folder / "set.jsonl").write_text("\n".join(map(json.dumps, lines)))
        (folder / "pred.json").write_text(json.dumps([pred for _, pred in PAIRS]))

    def evaluated(self, root: str | Path, out: str = "run") -> Evaluated:
        return evaluate(
            EvalRequest(
                dataset=str(self.folder / "set.jsonl"),
                predictions=[self.folder / "pred.json"],
                db_root=root,
                out=self.folder / out,
                settings=Settings(jobs=1),
                guard=("grain",),
            )
        )

    def repaired(self, root: str | Path, out: str = "out.json") -> RepairSummary:
        request = RepairRequest(
            dataset=str(self.folder / "set.jsonl"),
            predictions=self.folder / "pred.json",
            db_root=root,
            out=self.folder / out,
            settings=Settings(jobs=1),
        )
        return repair(request)

    def written(self, out: str = "out.json") -> Any:
        return json.loads((self.folder / out).read_text())


@pytest.fixture
def asked(tmp_path: Path, shop: str) -> Asked:
    return Asked(tmp_path, shop)


@pytest.fixture
def files(tmp_path: Path, shop: str) -> Path:
    """A folder with the same database as a SQLite file."""
    (tmp_path / "files").mkdir()
    with closing(sqlite3.connect(tmp_path / "files" / f"{shop}.sqlite")) as writer:
        for statement in SHOP:
            writer.execute(statement)
        writer.commit()
    return tmp_path / "files"


def outcome(found: Evaluated) -> Any:
    """What a run says of each question, without times and messages."""
    records = [verdict.record for verdict in found.run.verdicts["pred"]]
    return [
        (
            r.gold.status,
            r.pred.status,
            r.cause,
            r.scores,
            [(g.status, g.applied) for g in r.guarded],
        )
        for r in records
    ]


def repairs(summary: RepairSummary) -> Any:
    return summary.changes, summary.by_status, summary.by_rule


def test_a_set_is_scored_and_repaired_as_on_files(asked: Asked, root: str, files: Path) -> None:
    assert outcome(asked.evaluated(root)) == outcome(asked.evaluated(files, "there"))
    assert repairs(asked.repaired(root)) == repairs(asked.repaired(files, "there.json"))
    assert asked.written() == asked.written("there.json")
    about = json.loads((asked.folder / "run" / "run.json").read_text())
    ((_, database),) = about["inputs"]["databases"].items()
    assert "?" not in database["path"]


@pytest.mark.parametrize("away", [0.0, 2.0])
@pytest.mark.parametrize("at", [b"SELECT total FROM ord WHERE", b"WHERE EXISTS"])
def test_a_server_that_is_started_anew_is_waited_for(
    asked: Asked, root: str, files: Path, at: bytes, away: float
) -> None:
    """In the middle of a query, or of a repair that is tried."""
    with proxied(root) as proxy:
        proxy.away, proxy.cut_at = away, at
        assert outcome(asked.evaluated(proxy.address)) == outcome(asked.evaluated(files, "there"))
        assert proxy.cuts == 1
        proxy.cut_at = at
        found = asked.repaired(proxy.address)
        assert proxy.cuts == 2
    assert repairs(found) == repairs(asked.repaired(files, "there.json"))


def test_a_run_stops_where_the_server_stays_away_and_goes_on_later(
    asked: Asked, root: str, files: Path
) -> None:
    with proxied(root) as proxy:
        proxy.away, proxy.cut_at = inf, b"SELECT MAX(total)"
        with pytest.raises(SetupError, match="the same command goes on where it stopped") as caught:
            asked.evaluated(proxy.address)
        assert "\n" not in str(caught.value)
        known = len((asked.folder / "run" / "log.jsonl").read_text().splitlines())
        assert 0 < known < len(PAIRS)
        proxy.away = 0.0
        found = asked.evaluated(proxy.address)
        assert found.resumed == known
    assert outcome(found) == outcome(asked.evaluated(files, "there"))


def test_no_half_of_a_set_is_written_where_the_server_stays_away(asked: Asked, root: str) -> None:
    with proxied(root) as proxy:
        proxy.away, proxy.cut_at = inf, b"SELECT total FROM ord WHERE"
        with pytest.raises(SetupError, match="nothing was written"):
            asked.repaired(proxy.address)
    assert not (asked.folder / "out.json").exists()


def test_what_is_wrong_with_the_server_is_told_before_anything_runs(
    asked: Asked, root: str, shop: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=f"leave {shop} out of the URL"):
        asked.evaluated(database_at(root, shop))
    with pytest.raises(SetupError, match="check"):
        asked.repaired(root.replace("//root@", "//no_such_user@"))
    elsewhere = Asked(tmp_path, "no_such_database")
    with pytest.raises(InputError, match="holds none of the 1 databases"):
        elsewhere.repaired(root)


def test_a_database_that_is_missing_costs_its_questions_alone(
    asked: Asked, root: str, shop: str
) -> None:
    path = asked.folder / "set.jsonl"
    lines = path.read_text().splitlines()
    odd = ("no_such_database", "a/b?c")
    path.write_text("\n".join(map(str.replace, lines, [shop] * 4, (*odd, shop, shop))))
    found = asked.repaired(root)
    assert found.missing_databases == set(odd)
    assert (found.by_status["no_database"], found.questions) == (2, len(PAIRS))


@pytest.fixture
def questions(asked: Asked) -> Callable[[str], PredictRequest]:
    """A request to answer the set, whose model has one query for all of it."""
    path = asked.folder / "set.jsonl"
    lines = [json.loads(line) | {"question": "How much?"} for line in path.open()]
    path.write_text("\n".join(map(json.dumps, lines)))
    return lambda root: PredictRequest(
        dataset=str(path),
        db_root=root,
        out=asked.folder / "answers",
        settings=Settings(jobs=1, samples=1, linking_samples=1),
        model=ScriptedModel(lambda _: "SELECT SUM(total) FROM ord"),
    )


def test_questions_are_answered_on_a_server_and_no_secret_is_written(
    asked: Asked, questions: Callable[[str], PredictRequest], root: str, kind: str
) -> None:
    if kind == "postgres":  # which lets root in whatever he says
        root = root.replace("//root@", "//root:s3cret@")
    assert predict(questions(root)).answered == len(PAIRS)
    assert set(asked.written("answers/predictions.json").values()) == {"SELECT SUM(total) FROM ord"}
    asked.evaluated(root)
    for written in asked.folder.rglob("*"):
        assert written.is_dir() or b"s3cret" not in written.read_bytes()


@pytest.mark.parametrize("away", [0.0, inf])
def test_questions_from_which_the_server_went_away_are_asked_again(
    questions: Callable[[str], PredictRequest], root: str, away: float
) -> None:
    with proxied(root) as proxy:
        proxy.away, proxy.cut_at = away, b"SELECT SUM(total)"
        summary = predict(questions(proxy.address))
        assert proxy.cuts == 1
        assert summary.failed == (1 if away == 0 else len(PAIRS))
        proxy.away = 0.0
        summary = predict(questions(proxy.address))
        assert (summary.failed, summary.answered) == (0, len(PAIRS))
