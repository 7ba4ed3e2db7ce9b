"""What only MySQL and MariaDB have: their types, collations and users, and `KILL QUERY`."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.engines.outcomes import LIMITS, failure, rows
from tests.servers import MYSQL_SERVER as SERVER
from tests.servers import making

from modularsql.catalog import Key, Table
from modularsql.config import Settings
from modularsql.engines.connect import connect
from modularsql.engines.isolated import IsolatedEngine
from modularsql.engines.mysql import MySQLEngine
from modularsql.errors import InputError, SetupError
from modularsql.guard.run import Guard
from modularsql.ports import Engine
from modularsql.records import Evidence, FailureKind, Limits
from modularsql.rows import Rows

pytestmark = pytest.mark.skipif(SERVER.absent is not None, reason=str(SERVER.absent))
Make = Callable[..., MySQLEngine]


@pytest.fixture
def url(folder: Path) -> str:
    """A database of its own."""
    return SERVER.target(folder / "m.db")


@pytest.fixture
def make(url: str) -> Iterator[Make]:
    with making(SERVER, url) as new:
        yield new


@pytest.fixture
def user() -> Iterator[str]:
    """A user that may log in, and nothing else."""
    name = f"modularsql_{threading.get_native_id()}"
    SERVER.run(SERVER.url, [f"CREATE USER '{name}'@'%' IDENTIFIED BY 's3cret/w#rd'"])
    yield name
    SERVER.run(SERVER.url, [f"DROP USER '{name}'@'%'"])


TYPES: dict[str, Any] = {
    "CAST('1.50' AS DECIMAL(9, 2))": Decimal("1.50"),
    "CAST('2024-02-29' AS DATE)": date(2024, 2, 29),
    "CAST('2024-02-29 12:00:00.000001' AS DATETIME(6))": datetime(2024, 2, 29, 12, 0, 0, 1),
    "CAST('-100:30:01.5' AS TIME(1))": -timedelta(hours=100, minutes=30, seconds=1.5),
    "18446744073709551615": 2**64 - 1,
    "x'00ff'": b"\0\xff",
    "1 = 1": 1,
    "NULL": None,
    "JSON_OBJECT('a', 1)": '{"a": 1}',
}


def test_values_keep_their_types(make: Make) -> None:
    engine = make()
    for sql, expected in TYPES.items():
        [(value,)] = rows(engine, f"SELECT {sql}")
        assert (value, type(value)) == (expected, type(expected)), sql


def test_columns_keep_their_types(make: Make) -> None:
    engine = make(
        "CREATE TABLE t(e ENUM('x', 'y'), b BIT(3), y YEAR, z DATE, f FLOAT, c CHAR(3), u BLOB)",
        "SET sql_mode = ''",
    )
    values = "'y', b'101', 2024, '0000-00-00', 0.5, 'a', 'b'"
    SERVER.run(
        engine._address.shown,
        [
            "SET sql_mode = ''",
            f"INSERT INTO t VALUES ({values})",
        ],
    )
    outcome = engine.execute("SELECT * FROM t", limits=LIMITS)
    assert isinstance(outcome, Rows)
    assert outcome.rows == [("y", b"\5", 2024, "0000-00-00", 0.5, "a", b"b")]
    assert outcome.types == ("char", "bit", "year", "date", "float", "char", "blob")


def test_text_goes_by_its_collation_and_is_counted_by_the_server(make: Make) -> None:
    engine = make("CREATE TABLE t(x VARCHAR(9))", "INSERT INTO t VALUES ('a'), ('A'), ('a ')")
    outcome = engine.execute("SELECT x FROM t", limits=LIMITS)
    assert isinstance(outcome, Rows)
    assert (len(set(outcome.rows)), outcome.plain) == (3, False)
    assert rows(engine, "SELECT count(*) FROM (SELECT DISTINCT x FROM t) AS d") == [(1,)]
    assert not engine.compares_bytes()


def key(*columns: str, kind: Any = "unique", null_distinct: bool = False) -> Key:
    return Key(columns=columns, kind=kind, null_distinct=null_distinct)


def table(engine: Engine, name: str) -> Table:
    found = engine.catalog().table(name)
    assert found is not None
    return found


def test_keys_foreign_keys_and_no_row_identity(make: Make) -> None:
    engine = make(
        "CREATE TABLE p(id INT PRIMARY KEY)",
        "CREATE TABLE t(id INT PRIMARY KEY, a VARCHAR(99) NOT NULL, b INT, UNIQUE (a(5)), "
        "UNIQUE (b), FOREIGN KEY (b) REFERENCES p(id))",
    )
    found = table(engine, "t")
    assert set(found.keys) == {
        key("id", kind="primary"),
        key("a"),
        key("b", null_distinct=True),
    }
    assert found.row_id is None
    [foreign] = found.foreign_keys
    assert (foreign.target, foreign.evidence) == ("p", Evidence.ASSERTED)


def test_the_catalog_follows_the_schema(make: Make, url: str) -> None:
    engine = make("CREATE TABLE t(y INT)")
    assert table(engine, "t").keys == ()
    SERVER.run(url, ["ALTER TABLE t ADD PRIMARY KEY (y)"])
    assert table(engine, "t").keys == (key("y", kind="primary"),)


def test_a_recursion_is_not_cut_off_in_silence(make: Make) -> None:
    sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
    assert rows(make(), sql + "SELECT count(*) FROM n") == [(5000,)]


def test_a_lock_is_waited_for_and_told(make: Make, url: str, other_process: Any) -> None:
    engine = make("CREATE TABLE t(x INT)")
    lock = (
        "import pymysql; from urllib.parse import urlsplit; at = urlsplit(path); "
        "held = pymysql.connect(host=at.hostname, port=at.port or 3306, user=at.username, "
        "password=at.password or '', database=at.path[1:]); "
        "held.cursor().execute('LOCK TABLE t WRITE')"
    )
    release = other_process(lock, url)
    start = time.monotonic()
    assert failure(engine, "SELECT x FROM t", Limits(seconds=0.5)).kind == FailureKind.LOCKED
    assert 0.5 <= time.monotonic() - start < 2.5
    release()
    assert rows(engine, "SELECT x FROM t") == []


def test_rows_bytes_and_cells_are_cut_at_their_caps(make: Make) -> None:
    engine = make("CREATE TABLE t(x TEXT)", "INSERT INTO t VALUES (REPEAT('x', 60000))")
    sql = "SELECT a.x FROM t AS a, information_schema.columns AS b, information_schema.columns AS c"
    outcome = engine.execute(sql, limits=Limits(seconds=10, max_bytes=200_000))
    assert isinstance(outcome, Rows)
    assert (len(outcome.rows), outcome.truncated) == (3, True)
    assert rows(engine, "SELECT 1") == [(1,)]
    small = Limits(seconds=10, max_bytes=50_000)
    assert failure(engine, sql, small).kind == FailureKind.TOO_LARGE
    with closing(connect(engine.name, Settings(max_cell_bytes=50_000))) as careful:
        assert failure(careful, "SELECT x FROM t").kind == FailureKind.TOO_LARGE


def test_a_broken_view_has_a_problem(make: Make) -> None:
    engine = make(
        "CREATE TABLE gone(x INT)", "CREATE VIEW v AS SELECT x FROM gone", "DROP TABLE gone"
    )
    assert "invalid table" in (table(engine, "v").problem or "")


def test_aliases_with_columns_are_no_calls(make: Make) -> None:
    engine = make("CREATE TABLE t(x INT)", "INSERT INTO t VALUES (1)")
    sql = "WITH sum_of(a) AS (SELECT x FROM t), q (b) AS (SELECT a FROM sum_of) SELECT b FROM q"
    assert rows(engine, sql) == [(1,)]
    assert failure(engine, "SELECT no_such_function(1)").kind == FailureKind.REFUSED


# Nothing but counting can say how many combinations there are whose sum is so large.
ENDLESS = (
    "WITH d AS (SELECT ordinal_position AS x FROM information_schema.columns) "
    "SELECT count(*) FROM d a, d b, d c, d e WHERE a.x + b.x + c.x + e.x = {}"
)


def running(text: str) -> bool:
    """Whether the server is at a query, by its own list of processes."""
    listed = (
        "SELECT COUNT(*) FROM information_schema.processlist "
        f"WHERE command = 'Query' AND info LIKE '%{text}%' "
        "AND info NOT LIKE '%processlist%'"  # nor another thread that looks
    )
    return bool(SERVER.run(SERVER.url, [listed])[0][0])


@pytest.mark.parametrize("isolated", [False, True], ids=["here", "in a worker"])
def test_the_time_limit_ends_the_query_on_the_server(make: Make, url: str, isolated: bool) -> None:
    engine: Engine = IsolatedEngine(url) if isolated else make()
    mark = "1000033" if isolated else "1000037"
    seen: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            if running(mark):
                seen.append(time.monotonic())
            time.sleep(0.02)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        outcome = failure(engine, ENDLESS.format(mark), Limits(seconds=1.0))
        assert outcome.kind == FailureKind.TIMEOUT
        assert not running(mark)
    finally:
        done.set()
        watcher.join(10)
        engine.close()
    assert seen
    assert seen[-1] - seen[0] < 1.2


def test_a_connection_that_the_server_ended_is_opened_again(make: Make, url: str) -> None:
    engine = make("CREATE TABLE t(x INT)")
    assert rows(engine, "SELECT x FROM t") == []
    end_all(url)
    assert rows(engine, "SELECT x FROM t") == []
    threading.Timer(0.5, end_all, (url,)).start()
    assert failure(engine, ENDLESS.format(7)).kind == FailureKind.DIED
    assert rows(engine, "SELECT x FROM t") == []


def end_all(url: str) -> None:
    """As a server does that stops."""
    mine = "SELECT id FROM information_schema.processlist WHERE db = DATABASE()"
    for (number,) in SERVER.run(url, [mine + " AND id <> CONNECTION_ID()"]):
        SERVER.run(url, [f"KILL {number}"])


def test_a_reading_user_gets_no_warning_and_a_writing_one_does(
    make: Make, url: str, user: str
) -> None:
    name = url.rpartition("/")[2]
    make("CREATE TABLE seen(x INT)", "CREATE TABLE hidden(x INT)")
    SERVER.run(url, [f"GRANT SELECT ON {name}.seen TO '{user}'@'%'"])
    as_user = url.replace("://root@", f"://{user}:s3cret%2Fw%23rd@")
    with closing(connect(as_user)) as engine:
        assert isinstance(engine, MySQLEngine)
        assert engine.warnings() == ()
        denied = failure(engine, "SELECT x FROM hidden")
        assert "denied" in denied.message
        assert "GRANT SELECT" in denied.message
        SERVER.run(url, [f"GRANT INSERT ON {name}.seen TO '{user}'@'%'"])
        assert "INSERT" in engine.warnings()[0]
        assert "s3cret" not in f"{engine.name}{engine.warnings()}"


UNREACHABLE = {
    "unknown host": ("mysql://u:s3cret@no-such-host.invalid/d", "unreachable"),
    "wrong password": ("mysql://no_such_user:s3cret@{place}/test", "login"),
    "unknown database": ("mysql://root@{place}/no_such_database", "not_found"),
    "no server": ("mysql://u:s3cret@127.0.0.1:1/d", "unreachable"),
    "no database": ("mysql://u:s3cret@127.0.0.1", "url"),
    "no such option": ("mysql://u:s3cret@127.0.0.1/d?no_such=1", "url"),
}


@pytest.mark.parametrize("name", UNREACHABLE)
def test_what_cannot_be_reached_is_told_in_one_line_without_secrets(name: str) -> None:
    form, kind = UNREACHABLE[name]
    place = SERVER.url.partition("@")[2].partition("/")[0]
    with pytest.raises((SetupError, InputError)) as caught:
        connect(form.format(place=place), Settings(timeout=3))
    assert caught.value.kind == kind, caught.value
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_a_json_table_may_be_read(make: Make) -> None:
    sql = "SELECT x FROM JSON_TABLE('[1,2]', '$[*]' COLUMNS (x INT PATH '$')) AS j ORDER BY x"
    assert rows(make(), sql) == [(1,), (2,)]


def test_a_key_does_not_tell_the_versions_of_a_row_apart(make: Make) -> None:
    with closing(make("CREATE TABLE t(x INT)")) as engine:
        if "MariaDB" not in str(rows(engine, "SELECT VERSION()")):
            pytest.skip("MySQL keeps no versions")
    engine = make(
        "CREATE TABLE v(id INT PRIMARY KEY, x INT) WITH SYSTEM VERSIONING",
        "INSERT INTO v VALUES (1, 1), (2, 1)",
        "UPDATE v SET x = 2 WHERE id = 1",
        "INSERT INTO t VALUES (1), (2)",
    )
    sql = "SELECT SUM(t.x) FROM t JOIN v{} AS v ON v.id = t.x"
    for then in ("", " FOR SYSTEM_TIME AS OF NOW()"):
        assert Guard(engine).run(sql.format(then)).verdict == "pass"
    answer = Guard(engine).run(sql.format(" FOR SYSTEM_TIME ALL"), fix=True)
    assert [finding.rule for finding in answer.findings] == ["fan_out_sum"]
    assert answer.rows == [(3,)]
