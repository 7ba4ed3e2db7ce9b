"""What goes wrong with a server, on all of them: told in one line, and nothing is half-repaired."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.engines.outcomes import LIMITS, failure, rows
from tests.engines.proxy import proxied
from tests.servers import POSTGRES_SERVER, SERVERS, Server

from modularsql import Guard
from modularsql.config import Settings
from modularsql.engines.connect import connect
from modularsql.errors import SetupError
from modularsql.records import FailureKind, Verdict

COPIES = "SELECT city FROM customer"
MANY = "SELECT a.x, b.x, c.x FROM n AS a, n AS b, n AS c"
PLAIN = {"postgres": "?sslmode=disable", "mysql": ""}
"""Options that keep the line readable for the proxy."""

needs_postgres = pytest.mark.skipif(
    POSTGRES_SERVER.absent is not None, reason=str(POSTGRES_SERVER.absent)
)


@pytest.fixture
def url(server: Server, folder: Path) -> str:
    """A database with copies in `customer` and a hundred rows in `n`."""
    path = folder / "bad.db"
    server.build(
        path,
        [
            "CREATE TABLE customer(id INTEGER PRIMARY KEY, city VARCHAR(20))",
            "INSERT INTO customer VALUES " + ", ".join(f"({at}, 'Ulm')" for at in range(5)),
            "CREATE TABLE n(x INTEGER)",
            "INSERT INTO n VALUES " + ", ".join(f"({at})" for at in range(100)),
        ],
    )
    return server.target(path) + PLAIN["postgres" if "postgres" in server.url else "mysql"]


@contextmanager
def login(server: Server, url: str, limit: str = "") -> Iterator[str]:
    """The URL for a new user who may read `customer`; `limit` is a clause of CREATE."""
    name = f"modularsql_bad_{threading.get_native_id()}"
    database = url.rpartition("/")[2].partition("?")[0]
    if "postgres" in server.url:
        make = [f"CREATE ROLE {name} LOGIN PASSWORD 's3cret' {limit}"]
        make += [f"GRANT SELECT ON customer TO {name}"]
        drop, who = [f"DROP OWNED BY {name}", f"DROP ROLE {name}"], name
    else:
        who = f"'{name}'@'%'"
        make = [f"CREATE USER {who} IDENTIFIED BY 's3cret' {limit}"]
        make += [f"GRANT SELECT ON {database}.customer TO {who}"]
        drop = [f"DROP USER {who}"]
    server.run(url.partition("?")[0], make)
    try:
        yield url.replace("://root@", f"://{name}:s3cret@")
    finally:
        server.run(url.partition("?")[0], drop)


def one_line(error: SetupError) -> str:
    """What a user reads: one line, with something to do, without the password."""
    said = str(error)
    assert "\n" not in said
    assert error.hint
    assert "s3cret" not in said
    return said


def test_a_line_that_is_cut_in_the_middle_of_a_fetch(url: str) -> None:
    with proxied(url) as proxy, closing(connect(proxy.address)) as engine:
        assert rows(engine, COPIES) == [("Ulm",)] * 5
        proxy.cut_after = 200_000
        start = time.monotonic()
        lost = failure(engine, MANY)
        assert proxy.cuts == 1
        assert time.monotonic() - start < LIMITS.seconds
        assert lost.kind == FailureKind.DIED
        assert "connects again" in lost.message
        assert "\n" not in lost.message
        assert "probably means" not in lost.message
        assert rows(engine, COPIES) == [("Ulm",)] * 5


def test_a_query_whose_line_is_cut_is_no_empty_result_and_gets_no_repair(url: str) -> None:
    with proxied(url) as proxy, Guard(connect(proxy.address), "p1-p2") as guard:
        proxy.cut_at = b"SELECT city"
        answer = guard.run(COPIES, fix=True)
        assert proxy.cuts == 1
        assert (answer.verdict, answer.final_sql, answer.rows) == (Verdict.ANNOTATE, COPIES, ())
        assert answer.applied == ()
        assert [f.rule for f in answer.findings] == ["exec_error"]
        assert guard.run(COPIES, fix=True).applied == ("inject_distinct",)


def test_a_repair_whose_line_is_cut_is_not_applied(url: str) -> None:
    with proxied(url) as proxy, Guard(connect(proxy.address), "p1-p2") as guard:
        proxy.cut_at = b"SELECT DISTINCT city"
        answer = guard.run(COPIES, fix=True)
        assert proxy.cuts == 1
        assert (answer.final_sql, answer.applied) == (COPIES, ())
        assert answer.rows == [("Ulm",)] * 5
        assert any("connection" in note for note in answer.notes)
        assert guard.run(COPIES, fix=True).applied == ("inject_distinct",)


def test_too_many_connections(server: Server, url: str) -> None:
    # MySQL ends a query from a second connection.
    limit = "CONNECTION LIMIT 1" if "postgres" in server.url else "WITH MAX_USER_CONNECTIONS 2"
    with login(server, url, limit) as target, closing(connect(target)) as engine:
        assert rows(engine, COPIES) == [("Ulm",)] * 5
        with pytest.raises(SetupError) as caught:
            connect(target, Settings(timeout=2))
        assert caught.value.kind == "busy"
        assert "close other connections" in one_line(caught.value)


def test_a_user_with_one_connection_hears_that_mysql_needs_two(server: Server, url: str) -> None:
    if "postgres" in server.url:
        pytest.skip("it needs one")
    with login(server, url, "WITH MAX_USER_CONNECTIONS 1") as target:
        for _ in range(2):  # the one that was made is given back
            with pytest.raises(SetupError) as caught:
                connect(target, Settings(timeout=2))
            assert caught.value.kind == "busy"
            assert "one database takes two" in one_line(caught.value)


def test_a_user_who_may_not_read_a_table(server: Server, url: str) -> None:
    with login(server, url) as target, Guard(connect(target)) as guard:
        answer = guard.run("SELECT x FROM n", fix=True)
        [finding] = answer.findings
        assert finding.rule == "exec_error"
        assert "GRANT SELECT" in finding.message
        assert "\n" not in finding.message
        assert answer.final_sql == "SELECT x FROM n"
        assert guard.run(COPIES).probe is not None


def test_a_user_who_must_come_by_tls(server: Server, url: str) -> None:
    """PostgreSQL says so by its pg_hba.conf: test_postgres_reach.py."""
    if "postgres" in server.url:
        pytest.skip("its configuration says so, and not the user")
    with login(server, url, "REQUIRE SSL") as target, pytest.raises(SetupError) as caught:
        connect(target, Settings(timeout=3))
    assert caught.value.kind == "login"
    assert "ssl_ca" in one_line(caught.value)


STARTING = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"


@needs_postgres
def test_a_server_that_starts_is_waited_for(folder: Path) -> None:
    url = POSTGRES_SERVER.target(folder / "starts.db") + PLAIN["postgres"]
    refusal = b"E" + (len(STARTING) + 4).to_bytes(4, "big") + STARTING
    with proxied(url) as proxy:
        proxy.refusals = [refusal] * 2
        with closing(connect(proxy.address)) as engine:
            assert rows(engine, "SELECT 1") == [(1,)]
        proxy.refusals = [refusal] * 100
        with pytest.raises(SetupError) as caught:
            connect(proxy.address, Settings(timeout=0.5))
    assert "starting up" in one_line(caught.value)
    assert "try again" in caught.value.hint


@needs_postgres
def test_a_deadlock_is_told_as_a_lock(folder: Path) -> None:
    path = folder / "locks.db"
    POSTGRES_SERVER.build(path, ["CREATE TABLE a(x int)", "CREATE TABLE b(x int)"])
    url = POSTGRES_SERVER.target(path)
    with closing(connect(url)) as engine, psycopg.connect(url) as other:
        rows(engine, "SELECT 1")
        other.execute("SET deadlock_timeout = '20s'")  # so that ours is the one that is ended
        other.execute("LOCK TABLE b IN ACCESS EXCLUSIVE MODE")

        def cross() -> None:
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            while not POSTGRES_SERVER.run(url, [waiting])[0][0]:
                time.sleep(0.02)
            other.execute("LOCK TABLE a IN ACCESS EXCLUSIVE MODE")

        crossing = threading.Thread(target=cross)
        crossing.start()
        locked = failure(engine, "SELECT a.x FROM a, b")
        crossing.join()
        assert locked.kind == FailureKind.LOCKED
        assert "deadlock detected" in locked.message
        other.rollback()
        assert rows(engine, "SELECT a.x FROM a, b") == []


@needs_postgres
def test_a_view_over_a_function_that_breaks(folder: Path) -> None:
    path = folder / "views.db"
    POSTGRES_SERVER.build(
        path,
        [
            "CREATE TABLE t(x int)",
            "INSERT INTO t VALUES (1), (1), (1), (1), (1)",
            "CREATE FUNCTION half(x int) RETURNS int STABLE LANGUAGE plpgsql AS "
            "$$ BEGIN RETURN x / (SELECT count(*) FROM gone); END $$",
            "CREATE VIEW halves AS SELECT half(x) AS h FROM t",
        ],
    )
    with Guard(connect(POSTGRES_SERVER.target(path)), "p1-p2") as guard:
        answer = guard.run("SELECT h FROM halves", fix=True)
        [finding] = answer.findings
        assert finding.rule == "exec_error"
        assert 'relation "gone" does not exist' in finding.message
        assert "\n" not in finding.message
        assert answer.final_sql == "SELECT h FROM halves"
        assert guard.run("SELECT x FROM t", fix=True).applied == ("inject_distinct",)


@pytest.mark.skipif(SERVERS["mysql"].absent is not None, reason=str(SERVERS["mysql"].absent))
def test_a_view_over_a_function_that_breaks_on_mysql(folder: Path) -> None:
    server, path = SERVERS["mysql"], folder / "views.db"
    server.build(
        path,
        [
            "CREATE TABLE t(x INT)",
            "INSERT INTO t VALUES (1), (1), (1), (1), (1)",
            "CREATE FUNCTION half(x INT) RETURNS INT READS SQL DATA "
            "RETURN x / (SELECT COUNT(*) FROM gone)",
            "CREATE VIEW halves AS SELECT half(x) AS h FROM t",
        ],
    )
    with Guard(connect(server.target(path))) as guard:
        [finding] = guard.run("SELECT h FROM halves", fix=True).findings
        assert finding.rule == "exec_error"
        assert "references invalid table(s)" in finding.message
        assert "\n" not in finding.message
        assert guard.run("SELECT x FROM t").failure is None


@needs_postgres
def test_a_foreign_server_that_is_gone_is_no_end_of_our_connection(folder: Path) -> None:
    path = folder / "far.db"
    POSTGRES_SERVER.build(path, ["CREATE TABLE t AS SELECT pg_backend_pid() AS pid"])
    url = POSTGRES_SERVER.target(path)
    try:
        POSTGRES_SERVER.run(url, ["CREATE EXTENSION postgres_fdw"])
    except psycopg.Error as error:
        pytest.skip(f"there is no postgres_fdw: {error}")
    POSTGRES_SERVER.run(
        url,
        [
            "CREATE SERVER gone FOREIGN DATA WRAPPER postgres_fdw "
            "OPTIONS (host '127.0.0.1', port '1')",
            "CREATE USER MAPPING FOR PUBLIC SERVER gone OPTIONS (password_required 'false')",
            "CREATE FOREIGN TABLE far(id int) SERVER gone",
        ],
    )
    with closing(connect(url)) as engine:
        before = rows(engine, "SELECT pg_backend_pid()")
        lost = failure(engine, "SELECT id FROM far")
        assert lost.kind == FailureKind.ERROR
        assert 'could not connect to server "gone"' in lost.message
        assert "connects again" not in lost.message
        assert rows(engine, "SELECT pg_backend_pid()") == before


@pytest.fixture
def latin1() -> Iterator[Callable[[str], str]]:
    """Makes a database of a server whose text is in LATIN1; gives its URL."""
    made: list[tuple[Server, str]] = []

    def new(kind: str) -> str:
        server, name = SERVERS[kind], f"modularsql_latin1_{threading.get_native_id()}"
        how = {
            "postgres": "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
            "mysql": "CHARACTER SET latin1",
        }
        server.run(server.url, [f"CREATE DATABASE {name} {how[kind]}"])
        made.append((server, name))
        return server.of(name)

    yield new
    for server, name in made:
        server.run(server.url, [server.drop.format(name)])


@pytest.mark.parametrize("kind", SERVERS)
def test_text_that_is_not_utf_8_there_is_text_here(kind: str, latin1: Any) -> None:
    server = SERVERS[kind]
    if server.absent:
        pytest.skip(server.absent)
    url = latin1(kind)
    server.run(
        url,
        [
            *(["SET client_encoding = 'UTF8'"] if kind == "postgres" else []),
            "CREATE TABLE town(name VARCHAR(20), n INTEGER)",
            "INSERT INTO town VALUES ('Köln', 1), ('Köln', 1), ('Orléans', 2)",
        ],
    )
    with Guard(connect(url), "grain") as guard:
        assert rows(guard.engine, "SELECT name FROM town WHERE name = 'Köln'") == [("Köln",)] * 2
        answer = guard.run("SELECT name FROM town WHERE name = '東京'", fix=True)
        assert answer.final_sql == "SELECT name FROM town WHERE name = '東京'"
        assert all("\n" not in finding.message for finding in answer.findings)
        assert rows(guard.engine, "SELECT n FROM town WHERE name = 'Orléans'") == [(2,)]
        [finding] = answer.findings
        assert finding.rule in ("empty_result", "exec_error")
        is_told = "say by which they compare: … COLLATE" in finding.message
        assert is_told == ("Illegal mix of collations" in finding.message)
