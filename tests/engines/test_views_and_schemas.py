"""Views of servers are seen through, and a name means the table that the server takes it for."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from tests.engines.outcomes import LIMITS
from tests.servers import SERVERS, Server

from modularsql.catalog import Table
from modularsql.declared.read import read_keys
from modularsql.engines.connect import connect
from modularsql.engines.isolated import IsolatedEngine
from modularsql.engines.several import SeveralEngines
from modularsql.guard.run import Guard
from modularsql.ports import Engine, catalog_of
from modularsql.records import Answer, Safety
from modularsql.service.keyed import KeyedEngine

SHOP = (
    "CREATE TABLE cust(id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, credit INT NOT NULL)",
    "CREATE TABLE ord(id INT PRIMARY KEY, cust INT NOT NULL, total INT NOT NULL, "
    "FOREIGN KEY (cust) REFERENCES cust(id))",
    "CREATE TABLE line(id INT PRIMARY KEY, ord INT NOT NULL, FOREIGN KEY (ord) REFERENCES ord(id))",
    "INSERT INTO cust VALUES (1, 'Ann', 10), (2, 'Bob', 20)",
    "INSERT INTO ord VALUES (1, 1, 100), (2, 1, 50), (3, 2, 5)",
    "INSERT INTO line VALUES (1, 1), (2, 1), (3, 2), (4, 3)",
)
VIEW = "CREATE VIEW v AS SELECT o.id, o.total, c.name FROM ord o JOIN cust c ON c.id = o.cust"
JOINED = "SELECT SUM(v.total) FROM v JOIN line l ON l.ord = v.id"
ACROSS = "SELECT SUM(c.credit) FROM {0}.cust c JOIN {1}.ord o ON o.cust = c.id"


@pytest.fixture
def mysql() -> Server:
    if SERVERS["mysql"].absent:
        pytest.skip(SERVERS["mysql"].absent)
    return SERVERS["mysql"]


@pytest.fixture
def opened() -> Iterator[Callable[..., Engine]]:
    """Opens an engine that is closed at the end."""
    with ExitStack() as stack:
        yield lambda url, kind=connect: stack.enter_context(closing(kind(url)))


def guarded(engine: Engine, sql: str) -> Answer:
    return Guard(engine).run(sql, fix=True)


def table(engine: Engine, name: str, *schemas: str) -> Table:
    found = catalog_of(engine, frozenset(schemas)).table(name, schemas[0] if schemas else None)
    assert found is not None
    return found


def test_a_join_to_a_view_is_repaired_as_one_to_its_tables(
    server: Server, folder: Path, opened: Any
) -> None:
    url = server.target(folder / "d.db")
    server.run(url, [*SHOP, VIEW, "CREATE VIEW w AS SELECT id, total FROM v WHERE name <> 'Cy'"])
    for sql in (JOINED, JOINED.replace(" v ", " w v ")):
        answer = guarded(opened(url), sql)
        assert (answer.verdict, answer.rows, answer.notes) == ("repair", [(155,)], ())
        assert answer.findings[0].repairs[0].safety == Safety.PROVEN
        # The key of the view is that of `ord`, so rows are told apart by it.
        assert answer.findings[0].measured["examples"][0]["key"] == {"id": 1}


def test_a_view_made_anew_is_read_anew(server: Server, folder: Path, opened: Any) -> None:
    url = server.target(folder / "d.db")
    server.run(url, [*SHOP, "CREATE VIEW v AS SELECT id, total FROM ord"])
    engine, sql = opened(url), "SELECT SUM(l.id) FROM line l JOIN v ON v.id = l.ord"
    assert not guarded(engine, sql).findings
    more = "SELECT o.id, o.total FROM ord o CROSS JOIN cust"
    server.run(url, [f"CREATE OR REPLACE VIEW v AS {more}"])
    assert [f.rule for f in guarded(engine, sql).findings] == ["fan_out_sum"]


def test_a_bare_name_means_the_first_schema_of_the_search_path(folder: Path, opened: Any) -> None:
    server = SERVERS["postgres"]
    if server.absent:
        pytest.skip(server.absent)
    url = server.target(folder / "d.db")
    server.run(
        url,
        [
            *SHOP,
            "CREATE SCHEMA sales",
            "CREATE TABLE sales.cust(id INT, credit INT)",
            "INSERT INTO sales.cust VALUES (1, 7), (1, 7), (2, 1)",
            "CREATE SCHEMA far",
            "CREATE TABLE far.stock(id INT)",
        ],
    )
    sql = "SELECT SUM(o.total) FROM ord o JOIN cust c ON c.id = o.cust"
    near = opened(f"{url}?options=-csearch_path%3Dsales,public")
    assert near.catalog().path == ("sales", "public")
    assert [f.rule for f in guarded(near, sql).findings] == ["fan_out_sum"]
    assert guarded(opened(url), sql).verdict == "pass"  # in public.cust `id` is a key
    missing = guarded(opened(url), "SELECT id FROM stock").findings[0]
    assert "Did you mean far.stock?" in missing.message
    assert (missing.line, missing.column) == (1, 16)


def test_a_view_whose_query_is_not_understood_stays_opaque(folder: Path, opened: Any) -> None:
    server = SERVERS["postgres"]
    if server.absent:
        pytest.skip(server.absent)
    url = server.target(folder / "d.db")
    server.run(
        url,
        [
            *SHOP,
            "CREATE VIEW v AS SELECT id, total FROM ord, "
            "XMLTABLE('/a' PASSING ('<a/>'::xml) COLUMNS x int PATH '@x') AS x",
        ],
    )
    engine = opened(url)
    assert "XMLTABLE" in (table(engine, "v").definition or "")
    assert "not known: the rows of the view v" in guarded(engine, JOINED).notes


def test_a_user_without_show_view_is_told_that_the_view_is_not_known(
    mysql: Server, folder: Path, opened: Any, user: str
) -> None:
    url = mysql.target(folder / "d.db")
    mysql.run(url, [*SHOP, VIEW, f"GRANT SELECT ON {name_of(url)}.* TO '{user}'@'%'"])
    as_user = url.replace("://root@", f"://{user}@")
    assert "not known: the rows of the view v" in guarded(opened(as_user), JOINED).notes
    mysql.run(url, [f"GRANT SHOW VIEW ON {name_of(url)}.* TO '{user}'@'%'"])
    assert guarded(opened(as_user), JOINED).notes == ()


@pytest.fixture
def user(mysql: Server) -> Iterator[str]:
    mysql.run(mysql.url, ["CREATE USER 'modularsql_views'@'%'"])
    yield "modularsql_views"
    mysql.run(mysql.url, ["DROP USER 'modularsql_views'@'%'"])


@pytest.fixture
def two(mysql: Server, folder: Path) -> Iterator[tuple[str, str]]:
    """URLs of two databases: one has customers, the other one orders that refer to them."""
    crm, shop = mysql.target(folder / "crm.db"), mysql.target(folder / "shop.db")
    mysql.run(crm, [SHOP[0], SHOP[3]])
    away = f"REFERENCES {name_of(crm)}.cust"
    mysql.run(shop, [SHOP[1].replace("REFERENCES cust", away), SHOP[2], *SHOP[4:]])
    yield crm, shop
    mysql.run(shop, ["DROP TABLE line", "DROP TABLE ord"])  # or nobody can drop `cust`


def name_of(url: str) -> str:
    return url.rpartition("/")[2]


def test_a_query_over_two_databases_is_looked_into(
    two: tuple[str, str], opened: Any, mysql: Server
) -> None:
    crm, shop = map(name_of, two)
    engine = opened(two[1])
    answer = guarded(engine, ACROSS.format(crm, shop))
    assert (answer.verdict, answer.rows, answer.notes) == ("repair", [(30,)], ())
    assert answer.findings[0].repairs[0].safety == Safety.PROVEN
    # What no query names is not read: a server may have thousands of databases.
    assert {t.schema for t in engine.catalog()} == {shop}
    (key,) = table(engine, "ord", shop, crm).foreign_keys
    assert (key.target_schema, key.target, key.resolved) == (crm, "cust", True)
    assert not table(engine, "ord").foreign_keys[0].resolved
    # A change there is seen.
    mysql.run(two[0], ["ALTER TABLE cust ADD COLUMN more INT"])
    assert table(engine, "cust", crm).column("more")


@pytest.mark.parametrize(
    "kind", [IsolatedEngine, lambda url: SeveralEngines(lambda: connect(url), 2)]
)
def test_engines_around_another_one_read_other_databases_too(
    two: tuple[str, str], opened: Any, kind: Any
) -> None:
    sql = ACROSS.format(*map(name_of, two))
    assert guarded(opened(two[1], kind), sql).rows == [(30,)]


def test_a_view_over_a_table_of_another_database_is_seen_through(
    two: tuple[str, str], opened: Any, mysql: Server
) -> None:
    crm = name_of(two[0])
    mysql.run(two[0], ["CREATE VIEW good AS SELECT id, credit FROM cust WHERE credit > 0"])
    mysql.run(two[1], [f"CREATE VIEW better AS SELECT id, credit FROM {crm}.good"])
    sql = "SELECT SUM(b.credit) FROM better b JOIN ord o ON o.cust = b.id"
    answer = guarded(opened(two[1]), sql)
    assert (answer.rows, answer.notes) == ([(30,)], ())


def test_tables_of_one_name_in_two_databases_are_told_apart(
    two: tuple[str, str], opened: Any, mysql: Server
) -> None:
    crm, shop = map(name_of, two)
    mysql.run(two[1], ["CREATE TABLE cust(id INT, credit INT)", "INSERT INTO cust VALUES (1, 1)"])
    engine = opened(two[1])
    inner = f"SELECT 1 FROM {shop}.cust WHERE {crm}.cust.id = {shop}.cust.id"
    answer = guarded(engine, f"SELECT id FROM {crm}.cust WHERE EXISTS ({inner})")
    assert (answer.verdict, answer.rows, answer.notes) == ("pass", [(1,)], ())
    join = f"{crm}.cust JOIN {shop}.cust ON {crm}.cust.id = {shop}.cust.id JOIN ord ON ord.cust"
    answer = guarded(engine, f"SELECT SUM({crm}.cust.credit) FROM {join} = {crm}.cust.id")
    assert answer.rows == [(10,)]
    assert f"{crm}.cust" in answer.final_sql
    lost = guarded(engine, f"SELECT c.nam FROM {crm}.cust c").findings[0]
    assert "Did you mean c.name?" in lost.message


def test_keys_of_a_file_may_be_of_another_database(
    two: tuple[str, str], opened: Any, mysql: Server, tmp_path: Path
) -> None:
    crm = name_of(two[0])
    mysql.run(two[0], ["CREATE TABLE tag(code INT NOT NULL)", "INSERT INTO tag VALUES (1)"])
    path = tmp_path / "keys.toml"
    path.write_text(f'[tables."{crm}.tag"]\nprimary_key = ["code"]\n')
    engine = KeyedEngine(opened(two[1]), read_keys(path), LIMITS)
    assert engine.problems == ()
    assert [key.columns for key in table(engine, "tag", crm).keys] == [("code",)]
    assert guarded(engine, ACROSS.format(crm, name_of(two[1]))).rows == [(30,)]
