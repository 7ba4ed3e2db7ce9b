"""A query for each safeguard that random ones need only once in many thousands.

Each is a database and a query of which a wrong claim is made as soon as the safeguard is gone, so
that such a mutant is known to be none that changes nothing.
"""

from typing import NamedTuple


class Witness(NamedTuple):
    """The script of a database, and a query on it."""

    script: str
    sql: str


_TWO = """
    CREATE TABLE a(id INTEGER PRIMARY KEY, x INTEGER);
    CREATE TABLE b(id INTEGER PRIMARY KEY, y INTEGER);
    INSERT INTO a VALUES (1, 1), (2, 1); INSERT INTO b VALUES (2, 5), (3, 6), (4, 6);
"""

_MIXED = """
    CREATE TABLE a(x INTEGER); CREATE TABLE b(y TEXT);
    INSERT INTO a VALUES (1); INSERT INTO b VALUES ('1'), ('01');
"""

WITNESSES: dict[str, Witness] = {
    "a comma binds as JOIN does": Witness(
        """
        CREATE TABLE a(x INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY);
        CREATE TABLE c(id INTEGER PRIMARY KEY, x INTEGER);
        INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (1); INSERT INTO c VALUES (1, 1);
        """,
        "SELECT b.id AS i FROM a, b NATURAL JOIN c",
    ),
    "the last column of an ASOF JOIN is equal": Witness(
        """
        CREATE TABLE a(t INTEGER PRIMARY KEY); CREATE TABLE b(t INTEGER PRIMARY KEY);
        INSERT INTO a VALUES (2), (3); INSERT INTO b VALUES (1);
        """,
        "SELECT b.t AS i FROM a ASOF JOIN b USING (t)",
    ),
    "a lateral table is the same for every row": Witness(
        _TWO, "SELECT l.z AS i FROM a, LATERAL (SELECT a.id AS z FROM b WHERE b.id = 2) AS l"
    ),
    "USING always shows the left column": Witness(
        _TWO, "SELECT id FROM a RIGHT JOIN b USING (id) WHERE a.id IS NULL"
    ),
    "NULL meets NULL in a FULL JOIN with USING": Witness(
        """
        CREATE TABLE a(k INTEGER, t INTEGER); CREATE TABLE b(k INTEGER, t INTEGER);
        INSERT INTO a VALUES (1, NULL); INSERT INTO b VALUES (1, NULL);
        """,
        "SELECT k, t, a.k AS p FROM a FULL JOIN b USING (k, t)",
    ),
    "t.* shows its own column after a FULL JOIN": Witness(
        _TWO, "SELECT a.* FROM a FULL JOIN b USING (id) WHERE a.id IS NULL"
    ),
    "any literal fits": Witness(
        "CREATE TABLE a(x VARCHAR); INSERT INTO a VALUES ('1'), ('01')",
        "SELECT x FROM a WHERE x = 1",
    ),
    "a unique index of another collation is a key": Witness(
        """
        CREATE TABLE a(x TEXT COLLATE NOCASE NOT NULL); INSERT INTO a VALUES ('a'), ('A');
        CREATE UNIQUE INDEX i ON a(x COLLATE BINARY);
        """,
        "SELECT x FROM a",
    ),
    "an aggregate is settled by its argument": Witness(
        _TWO,
        "SELECT y, SUM(y) AS s FROM (SELECT * FROM b UNION ALL SELECT 9, 6) GROUP BY y, id > 3",
    ),
    "DISTINCT ON takes a column before an alias": Witness(
        _TWO, "SELECT DISTINCT ON (y) id AS y, y AS z FROM b ORDER BY id"
    ),
    "UNION ALL keeps the keys of its branches": Witness(
        _TWO,
        "SELECT 1 AS w, id FROM a WHERE id = 1 UNION ALL SELECT 2, id FROM b WHERE id = 2",
    ),
    "any column tells branches apart": Witness(
        _TWO, "SELECT 1 AS w, id FROM a UNION ALL SELECT 1, id FROM b"
    ),
    "values stay what they are in a UNION": Witness(
        _MIXED, "SELECT x FROM (SELECT x FROM a UNION SELECT y FROM b) AS u"
    ),
    "columns of a UNION are of one kind": Witness(
        _MIXED, "SELECT x FROM (SELECT x FROM a UNION ALL SELECT y FROM b) AS u WHERE x = 1"
    ),
    "a recursive CTE is run once": Witness(
        _TWO,
        "WITH RECURSIVE n(w, i) AS (SELECT 1, 1 UNION ALL SELECT DISTINCT 2, 7 FROM n LIMIT 5) "
        "SELECT w FROM n",
    ),
    "a CTE hides no table": Witness(_TWO, "WITH a AS (SELECT y AS id FROM b) SELECT id FROM a"),
}
