"""The engines under test. A new engine is one entry in `KINDS` (and, if need be, in `gaps.toml`).

Every shared test runs for each kind. What a kind cannot do stands in `gaps.toml` as data; a gap
that starts to pass fails the build.
"""

import contextlib
import hashlib
import os
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.servers import SERVERS, Server

from modularsql.config import Settings
from modularsql.engines.connect import connect
from modularsql.engines.isolated import IsolatedEngine
from modularsql.ports import Engine
from modularsql.records import Limits

HERE = Path(__file__).parent
SECONDS = 10.0
"""What a query that ends by itself may take on a machine that has other things to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How the suite makes a database of one kind, opens it, and has another process lock it.

    `build` gets a path and statements that any SQL database takes. `lock` is Python that takes
    an exclusive lock on `path` (and its table `t`) and leaves it in `held`. On a `server` a path
    stands for a database there.
    """

    dialect: str
    build: Callable[[Path, Sequence[str]], None]
    lock: str
    connect: Callable[[str | Path, Settings | None], Engine] = connect
    schema: str = "main"
    server: Server | None = None

    @property
    def isolated(self) -> bool:
        return self.connect is IsolatedEngine

    def target(self, path: str | Path) -> str | Path:
        return path if self.server is None else self.server.target(path)

    def open(self, path: str | Path, settings: Settings | None) -> Engine:
        return self.connect(self.target(path), settings)

    def state(self, folder: Path, path: Path) -> Any:
        """All that a query could have changed: files near the database, the database itself."""
        server = STATE.get(self.dialect)
        inside = self.server.run(str(self.target(path)), server) if self.server and server else []
        return listing(folder), inside


def build_sqlite(path: Path, statements: Sequence[str]) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # nobody pulls the plug on a test
        connection.execute("CREATE TABLE made_by_the_suite(x)")  # an empty file is no database
        connection.execute("DROP TABLE made_by_the_suite")
        for statement in statements:
            connection.execute(statement)


def build_duckdb(path: Path, statements: Sequence[str]) -> None:
    with duckdb.connect(str(path)) as connection:
        with contextlib.suppress(duckdb.Error):  # which older versions do not know
            connection.execute("SET fsync_mode = 'NONE'")
        for statement in statements:
            connection.execute(statement)


LOCK_SQLITE = (
    "import sqlite3; held = sqlite3.connect(path, isolation_level=None); "
    "held.execute('BEGIN EXCLUSIVE')"
)
LOCK_DUCKDB = "import duckdb; held = duckdb.connect(path)"
LOCK_POSTGRES = (
    "import psycopg; held = psycopg.connect(path); "
    "held.execute('LOCK TABLE t IN ACCESS EXCLUSIVE MODE')"
)
LOCK_MYSQL = (
    "import pymysql; from urllib.parse import urlsplit; at = urlsplit(path); "
    "held = pymysql.connect(host=at.hostname, port=at.port or 3306, user=at.username, "
    "password=at.password or '', database=at.path[1:]); "
    "held.cursor().execute('LOCK TABLE t WRITE')"
)

STATE = {
    "mysql": [
        "SELECT (SELECT GROUP_CONCAT(table_name, table_rows) FROM information_schema.tables "
        "WHERE table_schema = DATABASE() AND table_name <> 'numbers'), "
        "(SELECT GROUP_CONCAT(v) FROM k), (SELECT next_not_cached_value FROM numbers), "
        "(SELECT COUNT(*) FROM mysql.user), (SELECT COUNT(*) FROM mysql.proc), "
        "(SELECT @@GLOBAL.max_connections)"
    ],
    "postgres": [
        "SELECT (SELECT string_agg(c::text, ',') FROM (SELECT relname, relkind, reltuples "
        "FROM pg_class WHERE relkind <> 't' ORDER BY oid) AS c), (SELECT count(*) FROM pg_proc), "
        "(SELECT string_agg(k::text, ',') FROM k), (SELECT count(*) FROM pg_largeobject_metadata), "
        "(SELECT count(*) FROM pg_roles WHERE rolname !~ '^modularsql_'), "
        "(SELECT count(*) FROM pg_db_role_setting), "
        "(SELECT last_value FROM numbers), (SELECT is_called FROM numbers), "
        "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())), "
        "(SELECT count(*) FROM pg_prepared_xacts), (SELECT count(*) FROM pg_namespace), "
        "(SELECT count(*) FROM pg_extension)"
    ],
}
"""What a server's database holds, in one query."""

KINDS = {
    "sqlite": Kind(dialect="sqlite", build=build_sqlite, lock=LOCK_SQLITE),
    "duckdb": Kind(dialect="duckdb", build=build_duckdb, lock=LOCK_DUCKDB),
    "sqlite-isolated": Kind(
        dialect="sqlite", build=build_sqlite, lock=LOCK_SQLITE, connect=IsolatedEngine
    ),
    "duckdb-isolated": Kind(
        dialect="duckdb", build=build_duckdb, lock=LOCK_DUCKDB, connect=IsolatedEngine
    ),
    "postgres": Kind(
        dialect="postgres",
        build=SERVERS["postgres"].build,
        lock=LOCK_POSTGRES,
        schema="public",
        server=SERVERS["postgres"],
    ),
    "mysql": Kind(
        dialect="mysql",
        build=SERVERS["mysql"].build,
        lock=LOCK_MYSQL,
        schema="",
        server=SERVERS["mysql"],
    ),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out attacks on other dialects, and expect what stands in `gaps.toml` to fail."""
    gaps = tomllib.loads((HERE / "gaps.toml").read_text(encoding="utf-8"))
    ours = [i for i in items if isinstance(i, pytest.Function) and HERE in i.path.parents]
    left_out = {item for item in ours if not _applies(item)}
    items[:] = [item for item in items if item not in left_out]
    for item in ours:
        known = gaps.get(_kind(item), {})
        case = getattr(item, "name", "").partition("[")[2].removesuffix("]")
        for gap in (known.get(item.originalname), known.get(f"{item.originalname}: {case}")):
            if gap is not None:
                reason = f"{gap['how']}: {gap['why']}"
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
        server = KINDS[_kind(item)].server if _kind(item) in KINDS else None
        if server is not None and server.absent:
            item.add_marker(pytest.mark.skip(reason=server.absent))


def _params(item: pytest.Function) -> dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def _kind(item: pytest.Function) -> str:
    params = _params(item)
    return str(params.get("kind", params.get("near")))


def _applies(item: pytest.Function) -> bool:
    """Whether a test is about this kind: files are none of a server's, nor foreign attacks."""
    params = _params(item)
    if item.get_closest_marker("files") and _kind(item) in KINDS and KINDS[_kind(item)].server:
        return False
    if "attack" not in params:
        return True
    kind = KINDS[params["kind"]]
    needs_worker = params["attack"].isolated and not kind.isolated
    return params["dialect"] in ("all", kind.dialect) and not needs_worker


@pytest.fixture(scope="session", autouse=True)
def _servers() -> Iterator[None]:
    """What was made on servers is dropped at the end."""
    yield
    for server in SERVERS.values():
        server.close()


@pytest.fixture(scope="session")
def kinds() -> dict[str, Kind]:
    """All kinds by name, for tests of one of them."""
    return KINDS


@pytest.fixture(scope="session", params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """One kind of engine after the other."""
    return KINDS[request.param]


@pytest.fixture(scope="session", params=[name for name in KINDS if not KINDS[name].isolated])
def near(request: pytest.FixtureRequest) -> Kind:
    """One kind of engine after the other, without those in worker processes of their own."""
    return KINDS[request.param]


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> Server:
    """One server after the other, of those that are there."""
    found = SERVERS[request.param]
    if found.absent:
        pytest.skip(found.absent)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for databases; working, home and temporary folder lie beside it."""
    for name in ("data", "work", "home", "temp"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    yield tmp_path / "data"
    for server in SERVERS.values():
        server.release(tmp_path)


@pytest.fixture
def close_later() -> Iterator[Callable[[Engine], Engine]]:
    """Closes at the end what it was given."""
    with contextlib.ExitStack() as stack:

        def later(engine: Engine) -> Engine:
            stack.callback(engine.close)
            return engine

        yield later


@pytest.fixture
def make(
    kind: Kind, folder: Path, close_later: Callable[[Engine], Engine]
) -> Callable[..., Engine]:
    """A new database from statements, opened; settings by name."""

    def new(*statements: str, name: str = "made.db", **settings: Any) -> Engine:
        kind.build(folder / name, statements)
        return close_later(kind.open(folder / name, Settings(**settings)))

    return new


@pytest.fixture
def make_near(
    near: Kind, folder: Path, close_later: Callable[[Engine], Engine]
) -> Callable[..., Engine]:
    """As `make`, in this process only."""

    def new(*statements: str, name: str = "made.db", **settings: Any) -> Engine:
        near.build(folder / name, statements)
        return close_later(near.open(folder / name, Settings(**settings)))

    return new


SHOP = (
    "CREATE TABLE customer(id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)",
    "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer(id))",
    "INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Ann')",
    "INSERT INTO orders VALUES (1, 1), (2, 1), (3, NULL)",
    "CREATE TABLE a(x INTEGER)",
    "INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
    "SELECT i FROM n",
)


@pytest.fixture(scope="module")
def shop(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A small database that the tests of one file share: `customer`, `orders`, `a` (1,000 rows)."""
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    kind.build(path, SHOP)
    engine = kind.open(path, None)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def limits() -> Limits:
    """Bounds that no query here reaches by itself."""
    return Limits(seconds=SECONDS)


def listing(folder: Path) -> dict[str, str]:
    """All that lies in a folder, with a digest of each file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture(scope="session")
def listed() -> Callable[[Path], dict[str, str]]:
    """`listing` for tests that keep what it gave."""
    return listing


@pytest.fixture
def untouched(folder: Path) -> Callable[[], AbstractContextManager[None]]:
    """What happens inside leaves every file near the database as it was, and makes none."""

    @contextmanager
    def watch() -> Iterator[None]:
        before = listing(folder.parent)
        yield
        assert listing(folder.parent) == before

    return watch


@pytest.fixture
def other_process() -> Iterator[Callable[[str, str | Path], Callable[[], None]]]:
    """Runs Python with `path` in another process, which then waits; what it returns ends that.

    It ends without any clean-up, as a process does that is killed.
    """
    with contextlib.ExitStack() as stack:

        def run(code: str, path: str | Path) -> Callable[[], None]:
            script = (
                f"import os, sys\npath = {str(path)!r}\n{code}\n"
                "print('ready', flush=True)\nsys.stdin.readline()\nos._exit(0)"
            )
            process = subprocess.Popen(
                [sys.executable, "-c", script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )

            def end() -> None:
                process.kill()
                process.wait()

            stack.enter_context(process)
            stack.callback(end)
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            return end

        yield run


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Permissions of files hold, also where the tests run as root."""
    if os.geteuid() == 0:
        os.seteuid(65534)
        yield
        os.seteuid(0)
    else:
        yield
