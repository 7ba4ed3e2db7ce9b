"""Queries and what is to be inferred of them, one line each.

`query => keys`: the smallest sets of result columns that are known to be keys; `()` at most one
row, `-` none known. `query =>> sources`: those of which a row may come through FROM and WHERE
more than once. `#1` is the second column, where it has no name. A backslash goes on in the next
line; what has no arrow is a heading.
"""

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
    CREATE VIEW strong(hero, powers) AS SELECT h.id, COUNT(*) FROM heroes h
        JOIN hero_power hp ON hp.hero = h.id GROUP BY h.id;
    CREATE VIEW words AS SELECT hero AS x FROM note UNION SELECT text FROM note;
"""
)

KEYS = """
    a table
    SELECT * FROM hero => id
    SELECT name FROM hero => -
    SELECT code FROM hero => -
    SELECT code FROM hero WHERE code > 0 => code
    SELECT rowid FROM note => rowid
    SELECT * FROM note => -
    SELECT rowid, name FROM hero => rowid
    SELECT DISTINCT "oid" AS i FROM note => i
    SELECT n._rowid_ AS i FROM note n => i
    SELECT oid AS i FROM note n, hero h => -

    a view is read as its query
    SELECT id FROM heroes => id
    SELECT name FROM heroes => -
    SELECT h.name FROM heroes h JOIN strong s ON s.hero = h.id WHERE h.id = 3 => ()
    SELECT hero FROM strong => hero
    SELECT a FROM strong AS s(a, b) => a
    SELECT x FROM words => -
    WITH hero AS (SELECT * FROM note) SELECT id FROM heroes => id

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
    SELECT id FROM hero a FULL JOIN power b USING (id) FULL JOIN publisher c USING (id) => -
    SELECT q.id FROM note n FULL JOIN power p ON p.id = n.rowid JOIN power q USING (name) => -
    SELECT q.id FROM note n LEFT JOIN power p ON p.id = n.rowid JOIN power q USING (name) => id
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
    SELECT DISTINCT d.* FROM (SELECT hero AS h, hero FROM note) d \
        JOIN hero_power p USING (hero) => h; hero
    SELECT DISTINCT d.* FROM (SELECT hero AS h, hero FROM note) d \
        FULL JOIN hero_power p USING (hero) => h, hero
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
    SELECT DISTINCT * FROM (SELECT a.name, b.name FROM hero a, hero b) d => #1, name
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

    SELECT 1 AS t, name FROM town UNION ALL SELECT 2, name FROM power => -

    branches of several kinds: SQLite converts their values where they are read
    SELECT hero AS x FROM note UNION SELECT text FROM note => x
    SELECT x FROM (SELECT hero AS x FROM note UNION SELECT text FROM note) d => -
    SELECT x FROM (SELECT number AS x FROM strict_label UNION SELECT hero FROM note) d => -
    SELECT x FROM (SELECT hero AS x FROM note UNION SELECT id FROM power) d => x
    SELECT x FROM (SELECT y AS x FROM bag UNION SELECT text FROM note) d => -
    SELECT x FROM (SELECT 1 AS x UNION SELECT 'a') d => x
    SELECT DISTINCT x FROM (SELECT hero AS x FROM note UNION SELECT text FROM note) d => x
    SELECT x FROM (SELECT DISTINCT x FROM \\
        (SELECT hero AS x FROM note UNION SELECT text FROM note) d) e => -

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
    WITH RECURSIVE r(n, t) AS (SELECT 1, 0 UNION ALL SELECT DISTINCT 5, 1 FROM r LIMIT 9) \\
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
    SELECT id AS i, "i" AS j FROM hero => i
    SELECT id AS i FROM hero GROUP BY "i" => i
    SELECT publisher AS id FROM hero WHERE id = 3 => ()
    SELECT d."COUNT(*)" AS n FROM (SELECT COUNT(*) FROM note GROUP BY hero) d => -
    SELECT DISTINCT "COUNT(*)" AS n FROM (SELECT COUNT(*) FROM note GROUP BY hero) d => n

    what has no source
    SELECT 1 AS one => ()
    SELECT RANDOM() AS r, id FROM hero => id
    SELECT value FROM json_each('[1, 1]') => -
"""

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
    SELECT DISTINCT a, b FROM (SELECT name AS a, name AS b FROM hero \\
        GROUP BY GROUPING SETS ((1), (name))) => a, b
    SELECT publisher, name FROM hero GROUP BY (publisher, name) => name, publisher
    SELECT COUNT(*) AS n FROM hero GROUP BY () => ()
    SELECT publisher, name, COUNT(*) AS n FROM hero GROUP BY ALL => name, publisher
    SELECT COUNT(*) AS n FROM hero GROUP BY ALL => ()
    SELECT name FROM hero LIMIT 1% => -
    SELECT name FROM hero FETCH FIRST 1 ROW ONLY => ()
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
    SELECT v.x FROM hero h POSITIONAL JOIN (VALUES (1)) v(x) WHERE h.id > 1 => -
    SELECT a.id FROM hero a ASOF JOIN hero b USING (id) => -
    SELECT a.id FROM hero a ASOF JOIN power b USING (id, name) => id
    SELECT h.id FROM hero h WHERE h.code >= ALL (SELECT hero FROM note) => id
    SELECT h.code FROM hero h WHERE h.code >= ALL (SELECT hero FROM note) => -
    SELECT n.hero FROM note n WHERE n.hero = 1e0 AND n.rowid = n.hero => hero
    SELECT id FROM power WHERE name = 3 => id
    SELECT id FROM power WHERE name = 'x' => ()
    SELECT name FROM power WHERE id = 1e0 => name
    SELECT p.id FROM hero h, publisher p NATURAL JOIN power => -
    SELECT h.id, p.id AS p FROM hero h, publisher p FULL JOIN power USING (id) \\
        WHERE h.name = 'x' => -
    SELECT h.id, p.id AS p FROM hero h, publisher p JOIN power USING (id) => id, p
    SELECT * FROM hero PIVOT (SUM(id) FOR name IN ('a')) => -
    SELECT r FROM (SELECT id AS r FROM range(3) t(id)) => -
"""

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

NOT_NULL = """
    SELECT id, name FROM hero => id
    SELECT id, name FROM hero WHERE name > 'a' => id name
    SELECT h.id, p.id AS p FROM hero h LEFT JOIN power p ON p.id = h.id => id
    SELECT h.id, p.id AS p FROM hero h RIGHT JOIN power p ON p.id = h.id => p
    SELECT h.id, p.id AS p FROM hero h FULL JOIN power p ON p.id = h.id => -
    SELECT id FROM hero h FULL JOIN power p USING (id) => id
    SELECT id FROM hero UNION ALL SELECT id FROM power => id
    SELECT id FROM hero UNION ALL SELECT hero FROM note => -
    SELECT hero FROM note UNION ALL SELECT id FROM hero => -
    SELECT publisher, id FROM hero GROUP BY publisher => id
    SELECT id, COUNT(*) AS n FROM hero => -
"""

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


def cases(text: str, arrow: str) -> list[tuple[str, str]]:
    """The lines `query ARROW expectation`, in pairs; a line may go on in the next one."""
    lines = text.replace("\\\n", " ").splitlines()
    pairs = [line.split(f" {arrow} ") for line in lines if f" {arrow} " in line]
    return [(" ".join(query.split()), expected.strip()) for query, expected in pairs]
