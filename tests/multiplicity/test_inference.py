"""What is inferred of single queries, one line each: the operator table of the design, and traps.

`query => keys`: the smallest sets of result columns that are known to be keys; `()` at most one
row, `-` none known. `query =>> sources`: those of which a row may come through FROM and WHERE
more than once.
"""

import sqlite3
from itertools import combinations

import duckdb
import pytest
from sqlglot import exp

from modularsql.catalog import Catalog, Column, Key, Table
from modularsql.engines import duckdb_catalog, sqlite_catalog
from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.grain import multiplied
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.model import Query, Source
from modularsql.records import Evidence
from modularsql.sql.parse import parse_text

DDL = """
    CREATE TABLE publisher (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT, publisher INTEGER, code INTEGER UNIQUE);
    CREATE TABLE power (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE hero_power (hero INTEGER NOT NULL, power INTEGER NOT NULL, since INTEGER,
                             PRIMARY KEY (hero, power));
    CREATE TABLE note (hero INTEGER, text TEXT);
"""
SQLITE_DDL = (
    DDL
    + """
    CREATE TABLE label (id TEXT PRIMARY KEY, name TEXT, hero INTEGER);
    CREATE TABLE town (name TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, mayor TEXT);
    CREATE TABLE bag (x PRIMARY KEY NOT NULL, y);
    CREATE TABLE strict_label (id TEXT PRIMARY KEY NOT NULL, number REAL UNIQUE NOT NULL);
    CREATE VIEW heroes AS SELECT id, name FROM hero;
"""
)


def catalog(dialect: str) -> Catalog:
    """The tables above, in an engine of that dialect."""
    if dialect == "sqlite":
        with sqlite3.connect(":memory:") as connection:
            connection.executescript(SQLITE_DDL)
            return sqlite_catalog.read_catalog(connection)
    with duckdb.connect(":memory:") as engine:
        engine.execute(DDL)
        return duckdb_catalog.read_catalog(engine)


CATALOGS = {"sqlite": catalog("sqlite"), "duckdb": catalog("duckdb")}


def read(sql: str, tables: Catalog = CATALOGS["sqlite"]) -> Query:
    tree = parse_text(sql, tables.dialect)
    assert isinstance(tree, exp.Expr), tree
    query = infer(tree, tables)
    assert query is not None
    return query


def keys(query: Query) -> str:
    """The smallest keys of a result, as in the tables below."""
    found: list[set[str]] = []
    named = [(name or f"#{at}", attribute) for at, (name, attribute) in enumerate(query.columns)]
    for size in range(4):
        for columns in combinations(named, size):
            names = {name for name, _ in columns}
            attributes = union(attribute for _, attribute in columns)
            if query.relation.is_key(attributes) and not any(key <= names for key in found):
                found.append(names)
    return "; ".join(", ".join(sorted(key)) or "()" for key in found) or "-"


def repeated(query: Query) -> str:
    """The sources of which a row may come more than once, in the order of FROM."""
    block = query.block
    assert block is not None
    names = [source.alias for source in block.sources if multiplied(block, (source,))]
    return " ".join(names) or "-"


def cases(text: str, arrow: str) -> list[tuple[str, str]]:
    """The lines `query ARROW expectation`, in pairs; a line may go on in the next one."""
    lines = text.replace("\\\n", " ").splitlines()
    pairs = [line.split(f" {arrow} ") for line in lines if f" {arrow} " in line]
    return [(" ".join(query.split()), expected.strip()) for query, expected in pairs]


KEYS = """
    a table
    SELECT * FROM hero => id
    SELECT name FROM hero => -
    SELECT code FROM hero => -
    SELECT code FROM hero WHERE code > 0 => code
    SELECT rowid FROM note => rowid
    SELECT * FROM note => -
    SELECT rowid, name FROM hero => rowid
    SELECT id FROM heroes => -

    a filter: constants and equalities shrink keys
    SELECT hero FROM hero_power WHERE power = 3 => hero
    SELECT hero FROM hero_power WHERE power IN (3) => hero
    SELECT hero FROM hero_power WHERE power IS 3 => hero
    SELECT hero FROM hero_power WHERE power IN (3, 4) => -
    SELECT hero FROM hero_power WHERE power = 3 OR power = 4 => -
    SELECT hero FROM hero_power WHERE power = hero => hero
    SELECT hero, since FROM hero_power WHERE since = power => hero, since
    SELECT name FROM hero WHERE id = 7 => ()
    SELECT name FROM hero WHERE id = ? => ()
    SELECT since FROM hero_power WHERE power = 3 AND hero = (-1) => ()
    SELECT publisher FROM hero WHERE code IS NULL => -

    projection
    SELECT hero, power AS p FROM hero_power => hero, p
    SELECT name || '!' AS n, id FROM hero => id
    SELECT id + 1 AS next FROM hero => -

    inner joins
    SELECT h.id, p.id AS p FROM hero h JOIN publisher p ON p.id = h.publisher => id
    SELECT h.id FROM hero h, publisher p WHERE p.id = h.publisher => id
    SELECT h.id FROM hero h JOIN note n ON n.hero = h.id => -
    SELECT h.id, n.rowid AS r FROM hero h JOIN note n ON n.hero = h.id => r
    SELECT h.id, p.id AS p FROM hero h CROSS JOIN publisher p => id, p
    SELECT h.id FROM hero h JOIN power p ON p.id = 3 => id
    SELECT a.id FROM hero a JOIN hero b ON a.id = b.id => id
    SELECT h.id FROM hero h JOIN hero_power hp ON hp.hero = h.id \\
        JOIN power p ON p.id = hp.power WHERE p.name = 'Flight' => id
    SELECT hp.since FROM hero_power hp JOIN hero h ON h.id = hp.hero \\
        WHERE h.code = 5 AND hp.power = 1 => ()
    SELECT h.id FROM hero h JOIN hero_power hp ON hp.hero = h.id => -
    SELECT h.code FROM hero h JOIN power p ON p.id = h.code => code

    outer joins
    SELECT h.id FROM hero h LEFT JOIN publisher p ON p.id = h.publisher => id
    SELECT h.id FROM hero h LEFT JOIN hero_power hp ON hp.hero = h.id AND hp.power = 2 => id
    SELECT h.id FROM hero h LEFT JOIN hero_power hp ON hp.hero = h.id => -
    SELECT p.id FROM hero h LEFT JOIN publisher p ON p.id = h.publisher => -
    SELECT h.id FROM hero h LEFT JOIN hero b ON b.code = h.id => id
    SELECT h.id FROM hero h RIGHT JOIN hero_power hp ON hp.hero = h.id => -
    SELECT hp.hero, hp.power FROM hero h RIGHT JOIN hero_power hp ON hp.hero = h.id => hero, power
    SELECT a.id, b.id AS b FROM hero a FULL JOIN hero b ON a.id = b.code => b, id
    SELECT a.id FROM hero a FULL JOIN hero b ON a.id = b.id => -
    SELECT id FROM hero a FULL JOIN power b USING (id) => id
    SELECT id FROM hero a FULL JOIN power b USING (id) FULL JOIN publisher c USING (id) => id
    SELECT name FROM hero a FULL JOIN power b USING (name) => -
    SELECT id FROM hero a RIGHT JOIN power b USING (id) => id
    SELECT h.id FROM hero h LEFT JOIN note n ON n.hero = h.id WHERE n.rowid = 3 => ()
    SELECT hp.hero FROM hero h LEFT JOIN hero_power hp ON hp.hero = h.id WHERE hp.power = 3 => hero
    SELECT n.hero FROM note n LEFT JOIN hero h ON h.id = n.hero \\
        LEFT JOIN power p ON p.id = h.code WHERE p.name = 'x' AND n.rowid = h.id => ()
    SELECT h.id FROM hero h LEFT JOIN (hero_power hp JOIN power p ON p.id = hp.power) \\
        ON hp.hero = h.id AND p.id = 2 => id
    SELECT h.id FROM hero h LEFT JOIN (hero_power hp JOIN power p ON p.id = hp.power) \\
        ON hp.hero = h.id => -

    USING and NATURAL
    SELECT id FROM hero JOIN publisher USING (id) => id
    SELECT name FROM hero JOIN publisher USING (name) => -
    SELECT * FROM hero_power a JOIN hero_power b USING (hero, power) => hero, power
    SELECT id FROM hero NATURAL JOIN publisher => id
    SELECT text FROM note NATURAL JOIN note AS other => -
    SELECT n.rowid FROM note n NATURAL JOIN note AS other => -
    SELECT hero, text FROM (SELECT DISTINCT hero, text FROM note) a \\
        FULL JOIN (SELECT DISTINCT hero, text FROM note) b USING (hero, text) => -
    SELECT hero, power FROM hero_power a FULL JOIN hero_power b USING (hero, power) => hero, power
    SELECT id FROM hero JOIN publisher ON 1 => -
    SELECT d.c FROM (SELECT h.id AS a, h.name AS b, p.name AS c, h.code AS d \\
        FROM hero h JOIN publisher p USING (id)) d => -

    semi joins
    SELECT id FROM hero h WHERE EXISTS (SELECT 1 FROM note n WHERE n.hero = h.id) => id
    SELECT id FROM hero WHERE id NOT IN (SELECT hero FROM note) => id

    GROUP BY, aggregates, HAVING
    SELECT publisher, COUNT(*) AS n FROM hero GROUP BY publisher => publisher
    SELECT publisher AS p FROM hero GROUP BY 1 => p
    SELECT LOWER(name) AS n FROM hero GROUP BY n => n
    SELECT LOWER(name) AS n FROM hero GROUP BY LOWER(name) => n
    SELECT publisher AS name FROM hero GROUP BY name => -
    SELECT COUNT(*) AS n FROM hero GROUP BY publisher => -
    SELECT publisher, name FROM hero GROUP BY publisher, name => name, publisher
    SELECT publisher FROM hero GROUP BY publisher, name HAVING COUNT(*) > 1 => -
    SELECT hero FROM hero_power WHERE power = 1 GROUP BY hero, power => hero
    SELECT h.id, h.name FROM hero h JOIN note n ON n.hero = h.id GROUP BY h.id, h.name => id
    SELECT name FROM hero GROUP BY publisher, name HAVING publisher = 3 AND COUNT(*) > 1 => name
    SELECT name, COUNT(*) AS publisher FROM hero GROUP BY hero.publisher, name \\
        HAVING publisher = 3 => -
    SELECT COUNT(*) AS n, MAX(id) AS m FROM hero => ()
    SELECT 1 AS one FROM hero HAVING COUNT(*) > 1 => ()
    SELECT id FROM hero ORDER BY COUNT(*) => ()
    SELECT MAX(id, code) AS m FROM hero => -
    SELECT h.id, s.n FROM hero h JOIN (SELECT hero, COUNT(*) AS n FROM note GROUP BY hero) s \\
        ON s.hero = h.id => id
    SELECT h.id, s.n FROM hero h LEFT JOIN (SELECT hero, COUNT(*) AS n FROM note GROUP BY hero) s \\
        ON s.hero = h.id => id

    DISTINCT, LIMIT, windows
    SELECT DISTINCT name, publisher FROM hero => name, publisher
    SELECT DISTINCT * FROM (SELECT MAX(text), COUNT(*) FROM note GROUP BY hero) d => #0, #1
    SELECT name FROM hero LIMIT 1 => ()
    SELECT name FROM hero LIMIT 2 => -
    SELECT name FROM (SELECT name FROM hero ORDER BY id LIMIT 1) d => ()
    SELECT text, hero FROM (SELECT text, hero, ROW_NUMBER() OVER (PARTITION BY hero) AS rn \\
        FROM note) d WHERE rn = 1 => hero
    SELECT text, ROW_NUMBER() OVER (PARTITION BY text) AS rn FROM note => rn, text
    SELECT ROW_NUMBER() OVER () AS rn FROM note => rn

    set operations
    SELECT name FROM hero UNION SELECT name FROM power => name
    SELECT id FROM hero UNION ALL SELECT id FROM power => -
    SELECT 1 AS t, id FROM hero UNION ALL SELECT 2, id FROM power => id, t
    SELECT 'a' AS t, id FROM hero UNION ALL SELECT 'b', id FROM power \\
        UNION ALL SELECT 'c', id FROM publisher => id, t
    SELECT 'a' AS t, id FROM hero UNION ALL SELECT 'a', id FROM power => -
    SELECT 'a' AS t, id FROM hero UNION ALL SELECT 'A', id FROM power => -
    SELECT 1 AS t, id FROM hero UNION ALL SELECT 2, hero FROM note => -
    SELECT id FROM (SELECT 1 AS t, id FROM hero UNION ALL SELECT 2, id FROM power) d \\
        WHERE t = 2 => id
    SELECT id, name FROM hero INTERSECT SELECT id, name FROM power => id
    SELECT id, name FROM hero EXCEPT SELECT id, name FROM power => id
    SELECT id FROM hero UNION SELECT hero FROM note LIMIT 1 => ()

    CTEs
    WITH c AS (SELECT id, name FROM hero) SELECT * FROM c => id
    WITH c(a, b) AS (SELECT name, id FROM hero) SELECT a, b FROM c => b
    WITH c AS (SELECT id FROM hero) SELECT a.id FROM c a JOIN c b ON a.id = b.id => id
    WITH c AS (SELECT id FROM hero) SELECT a.id FROM c a, c b => -
    WITH hero AS (SELECT * FROM note) SELECT hero FROM hero => -
    WITH c AS (SELECT * FROM hero), hero AS (SELECT hero AS id FROM note) SELECT id FROM c => -
    WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r WHERE n < 9) SELECT n FROM r => n
    WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 9) \\
        SELECT n FROM r => -
    WITH r AS (SELECT 1 AS n, 0 AS t UNION ALL SELECT n, 1 FROM r WHERE n < 9) \\
        SELECT n, t FROM r => -
    WITH power AS (SELECT id, 1 AS k FROM hero UNION ALL SELECT id, 2 FROM power) \\
        SELECT id FROM power => -

    equality must be the key's own
    SELECT n.rowid FROM note n JOIN label l ON l.id = n.hero => -
    SELECT n.rowid FROM note n JOIN strict_label l ON l.id = n.hero => -
    SELECT n.rowid FROM note n JOIN strict_label l ON l.id = n.text => rowid
    SELECT n.rowid FROM note n JOIN strict_label l ON l.number = n.hero => rowid
    SELECT n.rowid FROM note n JOIN town t ON t.name = n.text => -
    SELECT n.rowid FROM note n JOIN town t ON n.text = t.name => -
    SELECT mayor FROM town WHERE name = 'Rome' => ()
    SELECT mayor FROM town WHERE name = 'Rome' COLLATE BINARY => -
    SELECT id FROM strict_label WHERE id = 1 => ()
    SELECT y FROM bag WHERE x = 1 => ()

    equal values may differ
    SELECT name || '' AS n FROM town GROUP BY name => -
    SELECT UPPER(name) AS u, name FROM town => name
    SELECT DISTINCT name FROM (SELECT name, name || '' AS x FROM town) d => name
    SELECT DISTINCT name, name || '' AS x FROM town => name
    SELECT x FROM (SELECT y AS x, typeof(y) AS t FROM bag) d GROUP BY x, t => -
    SELECT x FROM (SELECT y AS x, y + 0 AS t FROM bag) d GROUP BY x, t => -
    SELECT hero FROM (SELECT hero, hero + 0 AS t FROM note) d GROUP BY hero, t => hero

    SELECT y, n FROM bag LEFT JOIN (SELECT COUNT(*) AS n FROM note) c ON typeof(y) = 'text' \\
        GROUP BY y, n => n, y
    SELECT hero, n FROM note LEFT JOIN (SELECT COUNT(*) AS n FROM note) c ON hero > 3 \\
        GROUP BY hero, n => hero

    NULL in keys
    SELECT id FROM label => -
    SELECT id FROM label WHERE id IS NOT NULL => id
    SELECT id FROM label WHERE id > 'a' OR hero > 3 => -
    SELECT id FROM label WHERE id > 'a' OR (id < 'b' AND hero > 3) => id
    SELECT code FROM hero WHERE code NOT IN (SELECT hero FROM note) => -
    SELECT code FROM hero WHERE code NOT IN (1, 2) => code
    SELECT code FROM hero WHERE code IN (SELECT hero FROM note) => code
    SELECT code FROM hero WHERE code BETWEEN 1 AND 5 => code
    SELECT code FROM hero WHERE NOT (code = 5) => code
    SELECT code FROM hero WHERE code + id > 5 => code
    SELECT code FROM hero WHERE COALESCE(code, 1) = 1 => -

    names
    SELECT code FROM hero WHERE id = "x" => ()
    SELECT id FROM hero GROUP BY "publisher" => id
    SELECT id FROM hero GROUP BY "nothing" => ()
    SELECT id FROM hero, unheard_of WHERE id = "x" => -
    SELECT DISTINCT u.x + 1 AS y FROM unheard_of u => y
    SELECT COUNT(*) AS n FROM unheard_of u GROUP BY u.x => -
    SELECT u.x FROM unheard_of u GROUP BY u.x => x
    SELECT id FROM hero WHERE nothing = 3 => id
    SELECT h.id FROM hero h JOIN publisher p ON name = 'x' => -
    SELECT id AS i FROM hero WHERE i = 3 => ()
    SELECT publisher AS id FROM hero WHERE id = 3 => ()
    SELECT d."COUNT(*)" AS n FROM (SELECT COUNT(*) FROM note GROUP BY hero) d => -
    SELECT DISTINCT "COUNT(*)" AS n FROM (SELECT COUNT(*) FROM note GROUP BY hero) d => n

    what has no source
    SELECT 1 AS one => ()
    SELECT RANDOM() AS r, id FROM hero => id
    SELECT value FROM json_each('[1, 1]') => -
"""


@pytest.mark.parametrize(("sql", "expected"), cases(KEYS, "=>"))
def test_keys_of_the_result_in_sqlite(sql: str, expected: str) -> None:
    assert keys(read(sql)) == expected


DUCKDB_KEYS = """
    SELECT * FROM hero => id
    SELECT hero, since FROM hero_power WHERE since = power => hero, since
    SELECT id FROM hero SEMI JOIN note ON note.hero = hero.id => id
    SELECT * FROM hero ANTI JOIN note ON note.hero = hero.id => id
    SELECT DISTINCT ON (publisher) id, publisher FROM hero => id; publisher
    SELECT DISTINCT ON (publisher) publisher AS p FROM hero => p
    SELECT DISTINCT ON (name) publisher AS name FROM hero => -
    SELECT name, publisher FROM hero QUALIFY ROW_NUMBER() OVER (PARTITION BY publisher) = 1 \\
        => publisher
    SELECT name, publisher, ROW_NUMBER() OVER (PARTITION BY publisher) AS r FROM hero \\
        QUALIFY r = 1 => publisher
    SELECT name, publisher FROM hero QUALIFY RANK() OVER (PARTITION BY publisher) = 1 => -
    SELECT publisher FROM hero GROUP BY ROLLUP (publisher) => -
    SELECT publisher FROM hero GROUP BY CUBE (publisher) => -
    SELECT publisher, name FROM hero GROUP BY GROUPING SETS ((publisher), (name)) => -
    SELECT publisher, name FROM hero GROUP BY (publisher, name) => name, publisher
    SELECT COUNT(*) AS n FROM hero GROUP BY () => ()
    SELECT name FROM hero LIMIT 1% => -
    SELECT id, UNNEST([1, 2]) AS u FROM hero => -
    SELECT DISTINCT id, UNNEST([1, 2]) AS u FROM hero => id, u
    SELECT h.id, d.t FROM hero h, LATERAL (SELECT text AS t FROM note \\
        WHERE note.hero = h.id LIMIT 1) d => id
    SELECT h.id, d.t FROM hero h, (SELECT text AS t FROM note WHERE hero = h.id LIMIT 1) d => id
    SELECT d.t FROM hero h, (SELECT text AS t FROM note WHERE hero = h.id LIMIT 1) d => -
    SELECT h.name FROM hero h, LATERAL (SELECT p.id FROM power p WHERE p.id = h.id LIMIT 1) d \\
        WHERE d.id = h.id => -
    SELECT d.n, h.id FROM hero h LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM note \\
        WHERE note.hero = h.id) d ON true => id
    SELECT x FROM (VALUES (1), (1)) v(x) => -
    SELECT x FROM (VALUES (1)) v(x) => ()
    WITH v(x, y) AS (VALUES (1, 2), (3, 4)) SELECT DISTINCT y FROM v => y
    SELECT * FROM hero UNION BY NAME SELECT * FROM note => -
    SELECT id FROM hero EXCEPT ALL SELECT hero FROM note => id
    SELECT hero FROM note INTERSECT ALL SELECT id FROM hero => -
    SELECT * EXCLUDE (id) FROM hero => -
    SELECT COLUMNS('na.*') FROM hero => -
    SELECT b, a FROM hero AS x(a, b, c, d) => a
    SELECT h.id FROM hero h POSITIONAL JOIN publisher p => -
    SELECT a.id FROM hero a ASOF JOIN hero b USING (id) => -
    SELECT a.id FROM hero a ASOF JOIN power b USING (id, name) => id
    SELECT h.id FROM hero h WHERE h.code >= ALL (SELECT hero FROM note) => id
    SELECT h.code FROM hero h WHERE h.code >= ALL (SELECT hero FROM note) => -
    SELECT n.hero FROM note n WHERE n.hero = 1e0 AND n.rowid = n.hero => hero
    SELECT id FROM power WHERE name = 3 => id
    SELECT id FROM power WHERE name = 'x' => ()
    SELECT name FROM power WHERE id = 1e0 => name
    SELECT p.id FROM hero h, publisher p NATURAL JOIN power => -
    SELECT h.id, p.id AS p FROM hero h, publisher p JOIN power USING (id) => id, p
    SELECT * FROM hero PIVOT (SUM(id) FOR name IN ('a')) => -
    SELECT r FROM (SELECT id AS r FROM range(3) t(id)) => -
"""


@pytest.mark.parametrize(("sql", "expected"), cases(DUCKDB_KEYS, "=>"))
def test_keys_of_the_result_in_duckdb(sql: str, expected: str) -> None:
    assert keys(read(sql, CATALOGS["duckdb"])) == expected


REPEATED = """
    SELECT 1 FROM hero h JOIN publisher p ON p.id = h.publisher =>> p
    SELECT 1 FROM hero h JOIN note n ON n.hero = h.id =>> h
    SELECT 1 FROM hero h JOIN power p ON p.id = h.id =>> -
    SELECT 1 FROM hero h JOIN power p ON p.id = h.code =>> -
    SELECT 1 FROM hero h LEFT JOIN power p ON p.id = h.publisher =>> p
    SELECT 1 FROM hero h LEFT JOIN power p ON p.id = h.code =>> -
    SELECT 1 FROM hero h LEFT JOIN note n ON n.hero = h.id =>> h
    SELECT 1 FROM note n RIGHT JOIN hero h ON n.hero = h.id =>> h
    SELECT 1 FROM hero h RIGHT JOIN note n ON n.hero = h.id =>> h
    SELECT 1 FROM hero h FULL JOIN power p USING (id) =>> h p
    SELECT 1 FROM hero h CROSS JOIN (SELECT COUNT(*) AS n FROM note) c =>> c
    SELECT 1 FROM hero h CROSS JOIN (SELECT MAX(id) AS n FROM hero) c =>> c
    SELECT 1 FROM hero h JOIN hero_power hp ON hp.hero = h.id AND hp.power = 3 =>> -
    SELECT 1 FROM hero h JOIN hero_power hp ON hp.hero = h.id =>> h
    SELECT 1 FROM hero h JOIN hero_power a ON a.hero = h.id \\
        JOIN hero_power b ON b.hero = h.id =>> h a b
    SELECT 1 FROM hero h JOIN note n ON n.hero = h.id OR n.hero IS NULL =>> h n
    SELECT 1 FROM hero h, power p =>> h p
    SELECT 1 FROM hero h, power p WHERE h.id = h.id =>> h p
    SELECT 1 FROM hero h WHERE EXISTS (SELECT 1 FROM note n WHERE n.hero = h.id) =>> -
    SELECT 1 FROM hero h JOIN (SELECT DISTINCT hero FROM note) n ON n.hero = h.id =>> -
    SELECT 1 FROM hero h JOIN (SELECT hero FROM note GROUP BY hero, text) n \\
        ON n.hero = h.id =>> h
"""


@pytest.mark.parametrize(("sql", "expected"), cases(REPEATED, "=>>"))
def test_sources_whose_rows_may_repeat(sql: str, expected: str) -> None:
    assert repeated(read(sql)) == expected


UNKNOWN = """
    SELECT id FROM hero ==> -
    SELECT nothing FROM hero ==> the column nothing
    SELECT h.nothing FROM hero h ==> the column h.nothing
    SELECT name FROM hero, power ==> the column name
    SELECT name FROM hero JOIN power USING (name) ==> -
    SELECT name FROM hero NATURAL JOIN power ==> -
    SELECT name FROM hero JOIN power USING (id) ==> the column name
    SELECT id FROM unheard_of ==> the table unheard_of; the column id
    SELECT id FROM hero NATURAL JOIN unheard_of ==> the table unheard_of; \\
        the columns that NATURAL JOIN unheard_of compares
    SELECT "nothing" FROM hero ==> -
    SELECT id AS i FROM hero WHERE i > 3 ==> -
    SELECT id + 1 AS i FROM hero WHERE i > 3 ==> -
    SELECT id AS i FROM hero ORDER BY i ==> -
    SELECT COUNT(*) AS n FROM hero GROUP BY publisher HAVING n > 3 ==> -
    SELECT id FROM hero h, hero h ==> the column id
"""


@pytest.mark.parametrize(("sql", "expected"), cases(UNKNOWN, "==>"))
def test_what_could_not_be_resolved_is_listed(sql: str, expected: str) -> None:
    found = [reason for block in read(sql).blocks() for reason in block.unknown]
    assert ("; ".join(found) or "-") == " ".join(expected.split())


def test_a_correlated_block_is_marked_as_such_through_all_levels() -> None:
    inner = "SELECT 1 FROM (SELECT * FROM note n WHERE n.hero = h.id) d"
    query = read(f"SELECT id FROM hero h WHERE EXISTS ({inner})")
    assert [block.correlated for block in query.blocks()] == [False, True, True]


def test_a_column_of_the_query_around_has_one_value_for_each_run() -> None:
    inner = "SELECT hp.power FROM hero_power hp WHERE hp.hero = h.id"
    query = read(f"SELECT (SELECT MAX(power) FROM ({inner}) d) FROM hero h")
    found = [block for block in query.blocks() if block.source("hp")]
    assert found[0].output.is_key(found[0].outputs[0].attribute)


def test_an_aggregate_of_the_outer_query_makes_one_row_of_it() -> None:
    assert keys(read("SELECT (SELECT MAX(h.id)) AS m FROM hero h")) == "()"


def test_a_left_join_that_where_undoes_is_an_inner_join() -> None:
    sql = "SELECT 1 FROM hero h LEFT JOIN publisher p ON p.id = h.publisher"
    assert [s.optional for s in sources(sql)] == [False, True]
    assert [s.undone for s in sources(f"{sql} WHERE p.name = 'x'")] == [False, True]
    assert [s.optional for s in sources(f"{sql} WHERE p.name = 'x'")] == [False, False]
    assert [s.undone for s in sources(f"{sql} WHERE p.name IS NULL")] == [False, False]


@pytest.mark.parametrize(
    ("join", "where", "optional"),
    [
        ("h FULL JOIN power p ON p.id = h.id", "p.name = 'x'", [True, False]),
        ("h FULL JOIN power p ON p.id = h.id", "h.name = 'x'", [False, True]),
        ("h FULL JOIN power p ON p.id = h.id", "h.name = p.name", [False, False]),
        ("h FULL JOIN power p ON p.id = h.id", "h.name IS NULL", [True, True]),
        ("h RIGHT JOIN power p ON p.id = h.id", "h.name = 'x'", [False, False]),
        ("h LEFT JOIN (power p LEFT JOIN note n ON n.hero = p.id) ON p.id = h.id",
         "n.text = 'x'", [False, False, False]),
        ("h LEFT JOIN (power p LEFT JOIN note n ON n.hero = p.id) ON p.id = h.id",
         "p.name = 'x'", [False, False, True]),
        ("h LEFT JOIN (power p JOIN note n ON n.hero = p.id) ON p.id = h.id",
         "1 = 1", [False, True, True]),
    ],
)  # fmt: skip
def test_where_may_undo_one_side_of_an_outer_join(
    join: str, where: str, optional: list[bool]
) -> None:
    found = sources(f"SELECT 1 FROM hero {join} WHERE {where}")
    assert [source.optional for source in found] == optional


def test_a_positional_join_pads_the_shorter_side() -> None:
    block = read("SELECT 1 FROM hero h POSITIONAL JOIN power p", CATALOGS["duckdb"]).block
    assert block is not None
    assert [source.optional for source in block.sources] == [True, True]


def test_a_left_join_is_undone_by_a_later_one_that_is() -> None:
    sql = (
        "SELECT 1 FROM note n LEFT JOIN hero h ON h.id = n.hero "
        "LEFT JOIN publisher p ON p.id = h.publisher WHERE p.name = 'x'"
    )
    assert [s.undone for s in sources(sql)] == [False, True, True]


def sources(sql: str) -> list[Source]:
    block = read(sql).block
    assert block is not None
    return block.sources


def test_a_conclusion_has_the_weakest_grade_of_what_it_rests_on() -> None:
    columns = (Column(name="id", type="INTEGER", nullable=False), Column(name="k", type="INTEGER"))
    asserted = Key(columns=("id",), kind="primary", null_distinct=False, evidence=Evidence.ASSERTED)
    told = Table(name="told", columns=columns, keys=(asserted,))
    tables = Catalog(dialect="sqlite", tables=(*CATALOGS["sqlite"].tables, told))
    query = read("SELECT h.id FROM hero h JOIN told t ON t.id = h.code", tables)
    assert query.relation.is_key(query.columns[0][1]) == Evidence.ASSERTED


def test_a_name_in_several_schemas_means_the_main_one() -> None:
    key = Key(columns=("id",), kind="primary", null_distinct=False)
    column = Column(name="id", type="INTEGER", nullable=False)
    other = Table(name="t", schema="a", columns=(column,), keys=(key,))
    main = Table(name="t", schema="main", columns=(column,))
    tables = Catalog(dialect="duckdb", tables=(other, main))
    assert keys(read("SELECT id FROM t", tables)) == "-"
    assert keys(read("SELECT id FROM a.t", tables)) == "id"
    assert keys(read("SELECT id FROM elsewhere.a.t", tables)) == "-"


def test_names_that_differ_in_case_alone_are_not_guessed() -> None:
    key = Key(columns=("id",), kind="primary", null_distinct=False)
    both = tuple(Column(name=name, type="INTEGER", nullable=False) for name in ("id", "ID"))
    tables = Catalog(dialect="postgres", tables=(Table(name="t", columns=both, keys=(key,)),))
    assert keys(read('SELECT "ID" FROM t', tables)) == "-"


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_text_keys_of_other_dialects_are_read_as_they_compare(dialect: str) -> None:
    key = Key(columns=("k",), kind="primary", null_distinct=False)
    column = Column(name="k", type="VARCHAR(20)", nullable=False)
    tables = Catalog(dialect=dialect, tables=(Table(name="t", columns=(column,), keys=(key,)),))
    assert keys(read("SELECT k FROM t WHERE k = 'a'", tables)) == "()"
    assert keys(read("SELECT k FROM t WHERE k = 1", tables)) == "k"
    # MySQL merges 'a' and 'A' in DISTINCT k, not in what is computed of them.
    merged = "SELECT k FROM (SELECT k, CONCAT(k, '') AS c FROM t) d GROUP BY k, c"
    assert keys(read(merged, tables)) == "k"


def test_a_query_that_reads_ctes_of_ctes_without_end_is_left_alone() -> None:
    parts = ["c0 AS (SELECT id FROM hero)"]
    parts += [f"c{i} AS (SELECT a.id FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 12)]
    tree = parse_text(f"WITH {', '.join(parts)} SELECT id FROM c11", "sqlite")
    assert isinstance(tree, exp.Expr)
    assert infer(tree, CATALOGS["sqlite"]) is not None


def test_the_tree_is_left_as_it_was() -> None:
    sql = (
        "SELECT *, ROW_NUMBER() OVER (PARTITION BY h.name) AS rn FROM hero AS h "
        "JOIN power AS p USING (id) WHERE id = 3"
    )
    tree = parse_text(sql, "sqlite")
    assert isinstance(tree, exp.Expr)
    infer(tree, CATALOGS["sqlite"])
    assert tree.sql("sqlite") == sql
    assert all(node.parent is not None for node in tree.walk() if node is not tree)
