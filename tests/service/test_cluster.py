"""`eval`, `repair` and `predict` on a cluster of two machines: as here, whatever happens there."""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.errors import SetupError
from modularsql.llm.script import ScriptedModel
from modularsql.ports import ChatRequest
from modularsql.service import cluster as clusters
from modularsql.service import on_worker
from modularsql.service.cluster import Cluster
from modularsql.service.evaluating import EvalRequest, Evaluated, evaluate
from modularsql.service.in_workers import Task, guard_all
from modularsql.service.predicting import PredictRequest, predict
from modularsql.service.repairing import RepairSummary

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="two machines are two loopback addresses"
)

HERE, OTHER = "127.0.0.1", "127.0.0.2"
SHOP, CLUB = "SELECT a FROM t", "SELECT name FROM m"
HANGS = "SELECT instr(hex(zeroblob(2000000)), hex(zeroblob(999999)) || 'x')"
SLOW = (
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 60000) "
    "SELECT count(*) + {} FROM n"
)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of two workers, of one thread each, at two addresses."""
    workers = {
        at: {"cls": distributed.Nanny, "options": {"host": host, "nthreads": 1}}
        for at, host in enumerate((HERE, OTHER))
    }
    scheduler = {"cls": distributed.Scheduler, "options": {"port": 0, "dashboard": False}}
    with (
        distributed.SpecCluster(workers, scheduler=scheduler, silence_logs="critical") as cluster,
        distributed.Client(cluster.scheduler_address, set_as_default=False) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture
def address(client: Any) -> str:
    client.wait_for_workers(2, timeout=60)
    found: str = client.scheduler.address
    return found


Score = Callable[..., Evaluated]


@pytest.fixture
def scored(eval_request: Callable[..., EvalRequest], tmp_path: Path) -> Score:
    """Score answers to pairs of database and gold query, here or on a cluster."""

    def call(gold: list[tuple[str, str]], answers: list[str], **settings: Any) -> Evaluated:
        lines = [{"id": f"q{at}", "db": db, "gold": sql} for at, (db, sql) in enumerate(gold)]
        fields = {
            "out": tmp_path / ("cluster" if settings.get("cluster") else "here"),
            "metrics": ("set_ex",),
            "settings": Settings(**{"jobs": 1, **settings}),
        }
        return evaluate(eval_request(lines, {"one": answers}, **fields))

    return call


def verdicts(done: Evaluated) -> list[Any]:
    """What came out, but for the times."""
    return [
        (v.question.id, r.scores, r.cause, *((s.status, s.rows) for s in (r.gold, r.pred)))
        for v in done.run.verdicts["one"]
        for r in [v.record]
    ]


def test_repair_comes_to_the_same_file(
    repaired: Callable[..., RepairSummary], tmp_path: Path, address: str
) -> None:
    sqls = [SHOP, "SELECT b FROM t", "DROP TABLE t", CLUB]
    databases = ["shop"] * 3 + ["club"]
    here = repaired(sqls, databases).as_json()
    written = (tmp_path / "out").read_bytes()
    there = repaired(sqls, databases, cluster=address).as_json()
    assert there == here
    assert (tmp_path / "out").read_bytes() == written
    assert here["changed"] == 1


def said(request: ChatRequest) -> str:
    return SHOP if "shop" in request.messages[-1].text else "NOT ANSWERABLE: nobody knows"


def test_predict_comes_to_the_same_files_and_its_model_stays_here(
    tmp_path: Path, root: Path, address: str
) -> None:
    lines = [{"id": str(at), "db": "shop", "question": f"Of shop {at}?"} for at in range(2)]
    lines += [{"id": "2", "db": "club", "question": "Why?"}]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found: list[Any] = []
    calls = []
    for cluster in ("", address):
        model = ScriptedModel(said)
        request = PredictRequest(
            dataset=str(tmp_path / "set.jsonl"),
            db_root=root,
            out=tmp_path / f"run{len(found)}",
            settings=Settings(samples=1, linking_samples=1, cluster=cluster),
            model=model,
        )
        summary = predict(request)
        assert (summary.answered, summary.problems) == (2, {"nobody knows": 1})
        files = sorted(p for p in request.out.rglob("*.json*") if p.name not in ("run.json",))
        found.append([(p.name, without_times(p)) for p in files if p.name != "log.jsonl"])
        calls.append(len(model.requests))
    assert found[0] == found[1]
    assert calls[0] == calls[1] > 0


def without_times(path: Path) -> Any:
    """The content of a JSON file, but for numbers of milliseconds and the order of calls."""

    def cleaned(value: Any) -> Any:
        if isinstance(value, dict):
            kept = {k: cleaned(v) for k, v in value.items() if not k.endswith("ms")}
            # Calls of one stage are made at the same time.
            return {k: sorted(v, key=str) if k == "calls" else v for k, v in kept.items()}
        return [cleaned(one) for one in value] if isinstance(value, list) else value

    return [cleaned(json.loads(text)) for text in _documents(path)]


def _documents(path: Path) -> list[str]:
    text = path.read_text()
    return text.splitlines() if path.suffix == ".jsonl" else [text]


def blind(to: str) -> None:
    """At a worker: a file is not there any more."""
    seen = on_worker.mark
    on_worker.mark = lambda file: None if to in str(file) else seen(file)
    on_worker.blinded = seen  # type: ignore[attr-defined]


def sighted() -> None:
    """At a worker: as it was."""
    on_worker.mark = on_worker.blinded  # type: ignore[attr-defined]


@pytest.fixture
def only_here(client: Any, address: str) -> Iterator[None]:
    """The database `club` is not at the other address."""
    other = [worker for worker in client.nthreads() if OTHER in worker]
    client.run(blind, "club.sqlite", workers=other)
    yield
    client.run(sighted, workers=other)


@pytest.mark.usefixtures("only_here")
def test_a_database_is_read_where_it_lies(address: str, root: Path) -> None:
    files = {name: (root / name / f"{name}.sqlite",) for name in ("shop", "club")}
    with closing(Cluster(address, files)) as cluster:
        assert cluster.home("shop") == (HERE, OTHER)
        assert cluster.home("club") == (HERE,)
        futures = [cluster.submit("club", where) for _ in range(6)]
        assert {cluster.result(one, "club") for one in futures} == {HERE}


def test_what_answers_and_scores_are_made_from_must_be_at_the_workers_too(
    client: Any, address: str, root: Path, tmp_path: Path
) -> None:
    for file, text in (
        (root / "shop" / "database_description" / "t.csv", "original_column_name\na\n"),
        (tmp_path / "gold" / "exec_result" / "one.csv", "a\n0\n"),
    ):
        file.parent.mkdir(parents=True)
        file.write_text(text)
    question = {"instance_id": "one", "db": "shop", "question": "Which?"}
    (tmp_path / "set.jsonl").write_text(json.dumps(question))
    (tmp_path / "one.json").write_text(json.dumps([SHOP]))
    given: dict[str, Any] = {"dataset": str(tmp_path / "set.jsonl"), "db_root": root}
    given |= {"out": tmp_path / "run", "settings": Settings(cluster=address)}
    client.run(blind, ".csv")
    try:
        with pytest.raises(SetupError, match=r"has .*one\.csv as it is here"):
            evaluate(EvalRequest(predictions=[tmp_path / "one.json"], **given))
        given["out"] = tmp_path / "other"
        with pytest.raises(SetupError, match=r"has .*t\.csv as it is here"):
            predict(PredictRequest(model=ScriptedModel(said), **given))
    finally:
        client.run(sighted)


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "find_spec", lambda _name: None)
    settings = Settings(cluster="tcp://127.0.0.1:1")
    with pytest.raises(SetupError, match=r"modularsql\[dask\]"):
        Cluster(settings.cluster, {})
    with pytest.raises(SetupError, match=r"modularsql\[dask\]"):
        next(guard_all([Task(database="shop", sql=SHOP)], settings, ScriptedModel(said)))


def outdated() -> None:
    """At a worker: another SQLite."""
    seen = on_worker.made_of
    on_worker.made_of = lambda: {**seen(), "sqlite": "3.1"}
    on_worker.renewed = seen  # type: ignore[attr-defined]


def renewed() -> None:
    """At a worker: as it was."""
    on_worker.made_of = on_worker.renewed  # type: ignore[attr-defined]


def test_what_decides_results_must_be_the_same_everywhere(client: Any, address: str) -> None:
    other = [worker for worker in client.nthreads() if OTHER in worker]
    client.run(outdated, workers=other)
    try:
        with pytest.raises(SetupError, match=r"has another sqlite: 3\.1, not"):
            Cluster(address, {})
    finally:
        client.run(renewed, workers=other)


def test_work_that_nobody_is_left_to_do_is_told(
    address: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "_LOOK", 0.1)
    monkeypatch.setattr(clusters, "PATIENCE", 0.3)
    with closing(Cluster(address, {"shop": (root / "shop" / "shop.sqlite",)})) as cluster:
        cluster._homes["shop"] = ("127.0.0.9",)  # a machine that has gone meanwhile
        with pytest.raises(SetupError, match="no worker left that has shop") as error:
            cluster.result(cluster.submit("shop", where), "shop")
    assert "dask worker" in error.value.hint


def where() -> str:
    """The address of the worker that does this."""
    return str(distributed.get_worker().address).split("//")[1].split(":")[0]


def test_a_database_that_no_worker_has_is_told_before_anything_runs(
    scored: Score, address: str, client: Any, root: Path
) -> None:
    client.run(blind, "shop.sqlite")
    try:
        with pytest.raises(
            SetupError, match=r"no worker of the cluster has .*shop\.sqlite"
        ) as error:
            scored([("shop", SHOP)], [SHOP], cluster=address)
    finally:
        client.run(sighted)
    assert "same paths" in error.value.hint


def test_no_cluster_is_one_line(scored: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_CONNECT", 0.3)
    with pytest.raises(SetupError, match=r"no cluster answers at tcp://127.0.0.1:1\b") as error:
        scored([("shop", SHOP)], [SHOP], cluster="tcp://127.0.0.1:1")
    assert "dask scheduler" in error.value.hint


def test_settings_travel_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from modularsql.service.answering import Setup, _with_whole_paths

    monkeypatch.chdir(tmp_path)
    settings = Settings(policy="mine.toml", index_dir="i", embedder="local:e")
    setup = Setup(settings=settings, model=ScriptedModel(said), examples=Path("x"))
    whole = _with_whole_paths(setup)
    assert whole.examples == tmp_path / "x"
    assert whole.settings == replace(
        settings,
        policy=str(tmp_path / "mine.toml"),
        index_dir=str(tmp_path / "i"),
        embedder=f"local:{tmp_path / 'e'}",
    )


def kept_runs() -> int:
    """At a worker: for how many runs it keeps anything."""
    return len(on_worker._kept)


def kill_one_at_work(client: Any, killed: list[int]) -> None:
    """Kill a worker that has begun."""
    while not any(client.processing().values()):
        time.sleep(0.05)
    busy = [worker for worker, keys in client.processing().items() if keys]
    killed.extend(client.run(os.getpid, workers=busy[:1]).values())
    time.sleep(0.5)
    os.kill(killed[0], signal.SIGKILL)


def test_eval_comes_to_the_same_verdicts_though_a_worker_is_killed(
    scored: Score, address: str, client: Any
) -> None:
    slow = [SLOW.format(at) for at in range(4)]
    gold = [("shop", SHOP), ("club", CLUB), ("shop", SHOP), ("club", "SELECT joined FROM m")]
    gold += [("shop", sql) for sql in slow]
    answers = [f"SELECT DISTINCT{SHOP[6:]}", CLUB, "SELECT nothing", HANGS, *slow]
    here = scored(gold, answers, timeout=1)
    killed: list[int] = []
    killer = threading.Thread(target=kill_one_at_work, args=(client, killed))
    killer.start()
    there = scored(gold, answers, timeout=1, cluster=address)
    killer.join()
    assert killed
    assert verdicts(there) == verdicts(here)
    statuses = [v.record.pred.status for v in there.run.verdicts["one"]]
    assert statuses == ["ok", "ok", "error", "timeout", *["ok"] * 4]
    assert set(client.run(kept_runs).values()) == {0}


def keep_spans() -> None:
    """At a worker: what `opentelemetry-instrument` does, with a list in place of an exporter."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider, export
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    provider, kept = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(export.SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    on_worker.spans = kept  # type: ignore[attr-defined]


def kept_spans() -> list[str]:
    """At a worker: the names of the spans that are over."""
    return [one.name for one in on_worker.spans.get_finished_spans()]  # type: ignore[attr-defined]


def test_spans_of_predict_are_made_and_exported_by_the_workers(
    tmp_path: Path, root: Path, address: str, client: Any
) -> None:
    pytest.importorskip("opentelemetry.sdk.trace")
    client.run(keep_spans)
    (tmp_path / "set.jsonl").write_text('{"id": "0", "db": "shop", "question": "Of shop?"}')
    request = PredictRequest(
        dataset=str(tmp_path / "set.jsonl"),
        db_root=root,
        out=tmp_path / "run",
        settings=Settings(samples=1, linking_samples=1, cluster=address, telemetry="on"),
        model=ScriptedModel(said),
    )
    predict(request)
    names = {name for some in client.run(kept_spans).values() for name in some}
    assert {"ask", "query sqlite"} <= names
    assert any(name.startswith("chat ") for name in names)
