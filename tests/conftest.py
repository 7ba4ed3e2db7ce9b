"""Small databases to test on, made once for each script and kind, and engines for them."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import settings
from tests.served import Served
from tests.servers import NEEDED, SERVERS

from modularsql import Settings, connect
from modularsql.llm import reach
from modularsql.ports import Engine

# Examples are fixed, so that a run that passed passes again; time is pytest's to limit.
settings.register_profile("tests", derandomize=True, deadline=None, database=None)
settings.load_profile("tests")

# No test calls a model beyond this machine, here or in a process that it starts.
reach.ceiling = "local"
os.environ["MODULARSQL_CALLS"] = "local"
os.environ.pop("OPENAI_API_KEY", None)


def pytest_sessionstart(session: pytest.Session) -> None:
    """In CI no test of a server may be skipped: without one nothing runs."""
    if NEEDED and not hasattr(session.config, "workerinput"):
        for server in SERVERS.values():
            if server.absent:
                pytest.exit(f"{server.absent} (TEST_SERVERS=needed)", returncode=2)


OpenDatabase = Callable[..., Engine]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """Databases on the servers for the schemas of pages."""
    with closing(Served()) as opened:
        yield opened


@pytest.fixture(scope="session")
def made_database(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """`made_database("sqlite", script)`: the file."""
    folder = tmp_path_factory.mktemp("databases")
    files: dict[tuple[str, str], Path] = {}

    def made(kind: str, script: str) -> Path:
        path = files.setdefault((kind, script), folder / f"{len(files)}.{kind}")
        if not path.exists():
            write_database(kind, path, script)
        return path

    return made


@pytest.fixture(scope="module")
def open_database(made_database: Callable[[str, str], Path]) -> Iterator[OpenDatabase]:
    """`open_database("sqlite", script, settings=None)`: an engine; closed after the module."""
    engines: dict[tuple[Path, Settings], Engine] = {}

    def open_(kind: str, script: str, settings: Settings | None = None) -> Engine:
        path = made_database(kind, script)
        # DuckDB opens a file once in a process, and with one set of settings.
        if kind == "duckdb":
            settings = None
        key = (path, settings or Settings())
        if key not in engines:
            engines[key] = connect(path, key[1])
        return engines[key]

    yield open_
    for engine in engines.values():
        engine.close()


def write_database(kind: str, path: Path, script: str) -> None:
    """A new database file with what the script puts into it."""
    if kind == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.execute(script)
        return
    with sqlite3.connect(path) as writer:
        writer.executescript(script)
    writer.close()


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Any:
    """OpenTelemetry spans that are over, kept in memory."""
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry import trace
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return kept
