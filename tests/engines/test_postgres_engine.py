"""What only PostgreSQL has: its types, keys and roles, and a server that can go away."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from tests.engines.outcomes import LIMITS, failure, rows
from tests.servers import POSTGRES_SERVER as SERVER
from tests.servers import making
from tests.sql.test_aggregates import unknown

from modularsql.catalog import Key, Table
from modularsql.engines.connect import connect
from modularsql.engines.isolated import IsolatedEngine
from modularsql.engines.postgres import PostgresEngine
from modularsql.guard.run import Guard
from modularsql.ports import Engine
from modularsql.records import Evidence, FailureKind, Limits
from modularsql.rows import Rows

pytestmark = pytest.mark.skipif(SERVER.absent is not None, reason=str(SERVER.absent))
Make = Callable[..., PostgresEngine]


@pytest.fixture
def url(folder: Path) -> str:
    """A database of its own."""
    return SERVER.target(folder / "p.db")


@pytest.fixture
def make(url: str) -> Iterator[Make]:
    with making(SERVER, url) as new:
        yield new


@pytest.fixture
def role() -> Iterator[str]:
    """A role that may log in, and nothing else."""
    name = f"modularsql_reader_{threading.get_native_id()}"
    SERVER.run(SERVER.url, [f"CREATE ROLE {name} LOGIN PASSWORD 's3cret/w#rd'"])
    yield name
    databases = [SERVER.of(made) for made in SERVER._made]
    for database in databases:
        SERVER.run(database, [f"DROP OWNED BY {name}"])
    SERVER.run(SERVER.url, [f"DROP ROLE {name}"])


TYPES: dict[str, Any] = {
    "1.50::numeric": Decimal("1.50"),
    "'123456789012345678901234567890.5'::numeric": Decimal("123456789012345678901234567890.5"),
    "timestamptz '2024-02-29 12:00+02'": datetime(2024, 2, 29, 10, tzinfo=UTC),
    "timestamp '2024-02-29 12:00:00.000001'": datetime(2024, 2, 29, 12, 0, 0, 1),
    "date '2024-02-29'": date(2024, 2, 29),
    "date 'infinity'": "infinity",
    "date '0044-03-15 BC'": "0044-03-15 BC",
    "interval '1 day 2 hours'": timedelta(days=1, hours=2),
    "interval '-1 day 2.5 s ago'": timedelta(days=1, seconds=-2.5),
    "interval '1 year 2 months'": "1 year 2 mons",
    "ARRAY[1, NULL, 3]": [1, None, 3],
    "ARRAY[[1.5, 2], [3, 4]]": [[Decimal("1.5"), Decimal(2)], [Decimal(3), Decimal(4)]],
    "ARRAY['a,b', '\"', NULL]": ["a,b", '"', None],
    """'{"a": [1, 2.5, null]}'::jsonb""": {"a": [1, 2.5, None]},
    """'{"a": 0.1000000000000000055511151231257827}'::json""": {
        "a": Decimal("0.1000000000000000055511151231257827")
    },
    "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid": UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "'\\x00ff'::bytea": b"\0\xff",
    "'10.1.2.3'::inet": ip_address("10.1.2.3"),
    "'sad'::mood": "sad",
    "true": True,
    "NULL::integer": None,
    "'(1,2)'::point": "(1,2)",
    "ROW(1, 'x')": ("1", "x"),
    "B'101'": "101",
}


def test_values_keep_their_types(make: Make) -> None:
    engine = make("CREATE TYPE mood AS ENUM ('sad', 'ok')")
    for sql, expected in TYPES.items():
        [(value,)] = rows(engine, f"SELECT {sql}")
        assert (value, type(value)) == (expected, type(expected)), sql


def test_types_have_their_names(make: Make) -> None:
    engine = make("CREATE TYPE mood AS ENUM ('sad', 'ok')")
    sql = "SELECT 1, '[1,5)'::int4range, 'ok'::mood, ARRAY['x'], interval '1 day'"
    outcome = engine.execute(sql, limits=LIMITS)
    assert isinstance(outcome, Rows)
    assert outcome.types == ("int4", "int4range", "mood", "text[]", "interval")
    assert str(outcome.rows[0][1]) == "[1, 5)"
    assert outcome.plain is True  # a single row is a copy of no other


def test_not_a_number_equals_itself(make: Make) -> None:
    found = rows(make(), "SELECT 'NaN'::float8, 'NaN'::numeric FROM generate_series(1, 3)")
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        ("('a'::text), ('b')", True),
        ("('a'::char(3)), ('b')", False),
        ("(interval '1 month'), (interval '30 days')", False),
        ("('12:00+00'::timetz), ('13:00+01')", False),
        ("('{}'::jsonb), ('1')", False),
        ("(1.0), (1.00)", True),
    ],
)
def test_a_result_says_whether_python_compares_as_the_database(
    make: Make, values: str, plain: bool
) -> None:
    outcome = make().execute(f"SELECT * FROM (VALUES {values}) AS v", limits=LIMITS)
    assert isinstance(outcome, Rows)
    assert outcome.plain is plain


def test_a_database_without_encoding_keeps_its_bytes() -> None:
    name = f"modularsql_ascii_{threading.get_native_id()}"
    create = f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
    SERVER.run(SERVER.url, [create + " TEMPLATE template0"])
    try:
        SERVER.run(SERVER.of(name), ["CREATE TABLE t AS SELECT E'caf\\xe9' AS x"])
        with closing(connect(SERVER.of(name))) as engine:
            assert rows(engine, "SELECT x FROM t") == [("caf\udce9",)]
    finally:
        SERVER.run(SERVER.url, [f"DROP DATABASE {name} WITH (FORCE)"])


def key(*columns: str, kind: Any = "unique", null_distinct: bool = False) -> Key:
    return Key(columns=columns, kind=kind, null_distinct=null_distinct)


def table(engine: Engine, name: str) -> Table:
    found = engine.catalog().table(name)
    assert found is not None
    return found


def test_keys_that_hold_and_keys_that_only_look_like_it(make: Make) -> None:
    engine = make(
        "CREATE TABLE t(id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, a int, b int, c text, "
        "UNIQUE NULLS NOT DISTINCT (a), UNIQUE (b) INCLUDE (c))",
        "CREATE UNIQUE INDEX ON t(c) WHERE b > 0",
        "CREATE UNIQUE INDEX ON t(lower(c))",
        "CREATE UNIQUE INDEX ON t(a, c COLLATE nocase)",
    )
    assert set(table(engine, "t").keys) == {
        key("id", kind="primary"),
        key("a"),
        key("b", null_distinct=True),
        key("a", "c", null_distinct=True),
    }


def test_a_key_does_not_bind_what_inherits(make: Make) -> None:
    engine = make(
        "CREATE TABLE parent(id int PRIMARY KEY)",
        "CREATE TABLE child() INHERITS (parent)",
        "INSERT INTO parent VALUES (1)",
        "INSERT INTO child VALUES (1)",
        "CREATE TABLE parted(id int PRIMARY KEY) PARTITION BY RANGE (id)",
        "CREATE TABLE part PARTITION OF parted DEFAULT",
    )
    assert rows(engine, "SELECT id FROM parent") == [(1,), (1,)]
    assert (table(engine, "parent").keys, table(engine, "parent").row_id) == ((), None)
    assert table(engine, "parted").keys == (key("id", kind="primary"),)
    assert (table(engine, "parted").row_id, table(engine, "part").row_id) == (None, "ctid")


def test_a_key_that_is_finer_than_its_column_is_none(make: Make) -> None:
    engine = make(
        "CREATE TABLE t(x text COLLATE nocase NOT NULL)",
        'CREATE UNIQUE INDEX ON t(x COLLATE "C")',
        "INSERT INTO t VALUES ('a'), ('A')",
    )
    assert table(engine, "t").keys == ()
    assert rows(engine, "SELECT count(*) FROM (SELECT DISTINCT x FROM t) AS d") == [(1,)]


def test_a_foreign_key_that_was_not_checked_is_only_asserted(make: Make) -> None:
    engine = make(
        "CREATE TABLE p(id int PRIMARY KEY)",
        "CREATE TABLE c(x int REFERENCES p, y int)",
        "ALTER TABLE c ADD FOREIGN KEY (y) REFERENCES p NOT VALID",
    )
    found = {f.columns: f.evidence for f in table(engine, "c").foreign_keys}
    assert found == {("x",): Evidence.ENFORCED, ("y",): Evidence.ASSERTED}


def test_a_stored_generated_column_is_marked(make: Make) -> None:
    engine = make("CREATE TABLE t(a int, b int GENERATED ALWAYS AS (a + 1) STORED)")
    assert [c.generated for c in table(engine, "t").columns] == [False, True]


def test_the_catalog_follows_the_schema_and_the_search_path(make: Make, url: str) -> None:
    engine = make("CREATE SCHEMA other", "CREATE TABLE other.t(x int)", "CREATE TABLE t(y int)")
    assert [(t.schema, t.name) for t in engine.catalog()] == [("public", "t"), ("other", "t")]
    SERVER.run(url, ["ALTER TABLE t ADD PRIMARY KEY (y)"])
    assert table(engine, "t").keys == (key("y", kind="primary"),)
    with closing(connect(url + "?options=-csearch_path%3Dother,public")) as second:
        assert [t.schema for t in second.catalog()] == ["other", "public"]
        assert rows(second, "SELECT * FROM t") == []


def test_a_lock_is_waited_for_and_told(make: Make, url: str) -> None:
    engine = make("CREATE TABLE t(x int)")
    with psycopg.connect(url) as held:
        held.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        start = time.monotonic()
        assert failure(engine, "SELECT x FROM t", Limits(seconds=0.3)).kind == FailureKind.LOCKED
        assert 0.3 <= time.monotonic() - start < 2
    assert rows(engine, "SELECT x FROM t") == []


ENDLESS = "SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 3000000) b"


def running(text: str) -> float | None:
    """For how many seconds the server has been at a query, by its own list; None if it is not."""
    found = SERVER.run(
        SERVER.url,
        [
            "SELECT extract(epoch FROM clock_timestamp() - query_start) FROM pg_stat_activity "
            f"WHERE state = 'active' AND query LIKE '%{text}%' "
            "AND query NOT LIKE '%pg_stat_activity%'"  # nor another thread that looks
        ],
    )
    return float(found[0][0]) if found else None


@pytest.mark.parametrize("isolated", [False, True], ids=["here", "in a worker"])
def test_the_time_limit_ends_the_query_on_the_server(make: Make, url: str, isolated: bool) -> None:
    engine: Engine = IsolatedEngine(url) if isolated else make()
    sql = ENDLESS.replace("3000000", "3100000" if isolated else "3200000")
    mark = sql[-12:-3]
    seen: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            if (seconds := running(mark)) is not None:
                seen.append(seconds)
            time.sleep(0.02)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    assert failure(engine, sql, Limits(seconds=1.0)).kind == FailureKind.TIMEOUT
    assert running(mark) is None
    done.set()
    watcher.join()
    engine.close()
    assert 0.5 < max(seen) < 1.2


def test_a_connection_that_the_server_ended_is_opened_again(make: Make, url: str) -> None:
    engine = make("CREATE TABLE t(x int)")
    assert rows(engine, "SELECT x FROM t") == []
    end_all(url)
    assert rows(engine, "SELECT x FROM t") == []
    threading.Timer(0.5, end_all, (url,)).start()
    died = failure(engine, ENDLESS)
    assert died.kind == FailureKind.DIED
    assert "terminating connection" in died.message
    assert rows(engine, "SELECT x FROM t") == []


def end_all(url: str) -> None:
    """As a server does that stops."""
    SERVER.run(
        url,
        [
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ],
    )


def test_a_superuser_reads_as_a_role_that_can_do_no_more(make: Make) -> None:
    engine = make("CREATE VIEW looks AS SELECT pg_read_file('/etc/hostname') AS x")
    assert rows(engine, "SELECT current_user") == [("pg_read_all_data",)]
    assert "permission denied" in failure(engine, "SELECT x FROM looks").message
    assert "superuser" in engine.warnings()[0]


def test_row_security_is_an_error_and_never_fewer_rows(make: Make) -> None:
    engine = make(
        "CREATE TABLE t(x int)",
        "INSERT INTO t VALUES (1), (2)",
        "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
    )
    assert "row-level security" in failure(engine, "SELECT x FROM t").message


def test_a_reading_role_gets_no_warning_and_a_writing_one_does(
    make: Make, url: str, role: str
) -> None:
    make(
        "CREATE TABLE seen(x int)", "CREATE TABLE hidden(x int)", f"GRANT SELECT ON seen TO {role}"
    )
    as_role = url.replace("://root@", f"://{role}:s3cret%2Fw%23rd@")
    with closing(connect(as_role)) as engine:
        assert isinstance(engine, PostgresEngine)
        assert engine.warnings() == ()
        assert rows(engine, "SELECT current_user") == [(role,)]
        denied = failure(engine, "SELECT x FROM hidden")
        assert "permission denied for table hidden" in denied.message
        assert "GRANT SELECT" in denied.message
        assert "GRANT" in (table(engine, "hidden").problem or "")
        assert "s3cret" not in f"{engine.name}{engine.warnings()}"
        SERVER.run(url, [f"GRANT INSERT ON seen TO {role}"])
        assert "may write to 1 table" in engine.warnings()[0]


def test_a_sample_of_a_table_may_be_read(make: Make) -> None:
    engine = make("CREATE TABLE t AS SELECT 1 AS x")
    for method in ("SYSTEM", "BERNOULLI"):
        assert rows(engine, f"SELECT x FROM t TABLESAMPLE {method} (100)") == [(1,)]


def test_a_materialized_view_has_keys_and_rows_of_its_own(make: Make) -> None:
    engine = make(
        "CREATE MATERIALIZED VIEW m AS SELECT 1 AS x",
        "CREATE UNIQUE INDEX ON m(x)",
        "CREATE VIEW v AS SELECT 1 AS x",
    )
    found = table(engine, "m")
    assert (found.kind, found.keys, found.row_id) == (
        "table",
        (key("x", null_distinct=True),),
        "ctid",
    )
    assert table(engine, "v").kind == "view"


CLUB = (
    'CREATE TABLE club("Id" int PRIMARY KEY, "Name" text NOT NULL)',
    "CREATE TABLE team(id int PRIMARY KEY, club int NOT NULL REFERENCES club, cost int NOT NULL)",
    "CREATE TABLE player(id int PRIMARY KEY, team int NOT NULL REFERENCES team)",
    "INSERT INTO club VALUES (1, 'Owls'), (2, 'Foxes')",
    "INSERT INTO team VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5)",
    "INSERT INTO player VALUES (1, 1), (2, 1), (3, 2), (4, 3)",
)


def test_a_repair_keeps_quoted_names_and_what_a_key_settles(make: Make) -> None:
    sql = (
        'SELECT c."Name", SUM(t.cost), COUNT(*) FROM club c JOIN team t ON t.club = c."Id" '
        'JOIN player p ON p.team = t.id GROUP BY c."Id" ORDER BY c."Name"'
    )
    answer = Guard(make(*CLUB)).run(sql, fix=True)
    assert answer.rows == [("Foxes", 5, 1), ("Owls", 30, 3)], answer.final_sql
    assert [*answer.applied] == ["aggregate_before_join"]


def test_all_aggregates_are_known(make: Make) -> None:
    sql = "SELECT proname FROM pg_proc WHERE prokind = 'a' AND proname ~ '^[a-z_]+$'"
    names = {str(name) for (name,) in rows(make(), sql)}
    assert len(names) > 40
    # Of a set that is ordered: only ever with WITHIN GROUP, which needs no name.
    assert unknown(names - {"cume_dist", "dense_rank", "percent_rank", "rank"}, "postgres") == []
