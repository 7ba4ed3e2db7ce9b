"""What CREATE TABLE, CREATE INDEX and CREATE VIEW say of keys, dialect by dialect."""

import pytest

from modularsql.catalog import Table
from modularsql.declared.ddl import catalog_of_ddl, read_ddl
from modularsql.errors import InputError
from modularsql.records import Evidence


def table(sql: str, dialect: str = "sqlite", name: str = "t") -> Table:
    found = catalog_of_ddl(sql, dialect).table(name)
    assert found is not None
    return found


def keys(found: Table) -> list[str]:
    """`primary a b`, with `?` where NULLs pass, `~` where it is only asserted."""
    return [
        f"{key.kind} {' '.join(key.columns)}"
        + ("?" if key.null_distinct else "")
        + ("" if key.evidence is Evidence.ENFORCED else "~")
        for key in found.keys
    ]


def nullable(found: Table) -> list[str]:
    return [column.name for column in found.columns if column.nullable]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("CREATE TABLE t (a INTEGER PRIMARY KEY)", "primary a"),
        ("CREATE TABLE t (a integer, PRIMARY KEY (a DESC))", "primary a"),
        ('CREATE TABLE t (a "INTEGER" PRIMARY KEY)', "primary a"),
        ('CREATE TABLE t (a INTEGER NOT NULL, PRIMARY KEY("a" AUTOINCREMENT))', "primary a"),
        ("CREATE TABLE t (a INTEGER PRIMARY KEY DESC)", "primary a?"),
        ("CREATE TABLE t (a INT PRIMARY KEY)", "primary a?"),
        ("CREATE TABLE t (a INTEGER (4) PRIMARY KEY)", "primary a?"),
        ("CREATE TABLE t (a TEXT PRIMARY KEY)", "primary a?"),
        ("CREATE TABLE t (a TEXT PRIMARY KEY NOT NULL)", "primary a"),
        ("CREATE TABLE t (a TEXT, b INT, PRIMARY KEY (a, b))", "primary a b?"),
        ("CREATE TABLE t (a TEXT PRIMARY KEY) WITHOUT ROWID", "primary a"),
        ("CREATE TABLE t (a TEXT PRIMARY KEY) STRICT", "primary a"),
        ("CREATE TABLE t (a INT UNIQUE)", "unique a?"),
        ("CREATE TABLE t (a INT NOT NULL UNIQUE)", "unique a"),
        ("CREATE TABLE 't' ('a' INT, UNIQUE ('a' DESC))", "unique a?"),
    ],
)
def test_a_primary_key_of_sqlite_may_hold_null_unless_it_is_the_row_id(
    sql: str, expected: str
) -> None:
    assert keys(table(sql)) == [expected]


@pytest.mark.parametrize(
    "index",
    [
        "(a) WHERE a > 0",
        "(lower(a))",
        "(a || b)",
        "(a + 1, b)",
        "((a))",
        "(a IS NULL)",
        "(c COLLATE BINARY)",
        "(c COLLATE RTRIM, a)",
    ],
)
def test_partial_expression_and_foreign_collation_indexes_are_no_keys(index: str) -> None:
    base = "CREATE TABLE t (a TEXT, b TEXT, c TEXT COLLATE NOCASE); CREATE UNIQUE INDEX i ON t "
    assert keys(table(base + index)) == []


@pytest.mark.parametrize("index", ["(a)", "(a DESC)", "(a COLLATE nocase)", "('a')", "([a])"])
def test_a_unique_index_on_columns_is_a_key(index: str) -> None:
    sql = (
        f"CREATE TABLE t (a TEXT COLLATE NOCASE); CREATE UNIQUE INDEX IF NOT EXISTS i ON t {index}"
    )
    assert keys(table(sql)) == ["unique a?"]
    assert table(sql).columns[0].collation == "NOCASE"


def test_a_key_under_a_coarser_collation_is_one_for_a_column_that_compares_bytes() -> None:
    assert keys(table("CREATE TABLE t (a TEXT, UNIQUE (a COLLATE NOCASE))")) == ["unique a?"]


def test_a_key_under_bytes_is_none_for_a_column_that_ignores_case() -> None:
    assert keys(table("CREATE TABLE t (a TEXT COLLATE NOCASE, UNIQUE (a COLLATE BINARY))")) == []


def test_foreign_keys_of_sqlite_are_asserted_and_resolved() -> None:
    found = table(
        "CREATE TABLE t (a REFERENCES p, b INT, c INT, FOREIGN KEY (B) REFERENCES P (x)"
        " ON DELETE CASCADE, FOREIGN KEY (c) REFERENCES gone (x));"
        "CREATE TABLE p (x INTEGER PRIMARY KEY)"
    )
    facts = [(k.columns, k.target, k.target_columns, k.resolved) for k in found.foreign_keys]
    assert facts == [
        (("a",), "p", ("x",), True),
        (("b",), "p", ("x",), True),
        (("c",), "gone", ("x",), False),
    ]
    assert {key.evidence for key in found.foreign_keys} == {Evidence.ASSERTED}


def test_postgres_upholds_all_of_it() -> None:
    found = table(
        'CREATE TABLE T (Id serial, "Code" citext COLLATE "C", n int UNIQUE NULLS NOT DISTINCT,'
        " m int GENERATED ALWAYS AS IDENTITY, d numeric GENERATED ALWAYS AS (n * 2) STORED,"
        ' PRIMARY KEY ("Code"), UNIQUE (n, m) INCLUDE (d), EXCLUDE USING gist (d WITH =),'
        " FOREIGN KEY (n) REFERENCES t, CHECK (n IS NOT NULL));",
        "postgres",
    )
    assert [c.name for c in found.columns] == ["id", "Code", "n", "m", "d"]
    assert keys(found) == ["unique n", "primary Code", "unique n m?"]
    assert nullable(found) == ["n", "d"]
    assert [c.name for c in found.columns if c.generated] == ["d"]
    assert found.columns[1].collation is None
    assert found.foreign_keys[0].evidence is Evidence.ENFORCED


@pytest.mark.parametrize(
    "constraint",
    ["FOREIGN KEY (a) REFERENCES p NOT VALID", "FOREIGN KEY (a) REFERENCES p (a) NOT ENFORCED"],
)
def test_a_foreign_key_that_nobody_checked_is_asserted(constraint: str) -> None:
    found = table(
        f"CREATE TABLE p (a int PRIMARY KEY); CREATE TABLE t (a int);"
        f"ALTER TABLE ONLY public.t ADD CONSTRAINT f {constraint}",
        "postgres",
    )
    assert [key.evidence for key in found.foreign_keys] == [Evidence.ASSERTED]


def test_keys_of_a_table_with_children_are_dropped_since_queries_read_the_children_too() -> None:
    declared = read_ddl(
        "CREATE TABLE p (a int, c int NOT NULL, d int REFERENCES p);"
        "CREATE TABLE t (b int, CONSTRAINT n NOT NULL b) INHERITS (p);"
        "ALTER TABLE ONLY p ADD PRIMARY KEY (a);",
        "postgres",
    )
    parent, child = declared.catalog
    assert keys(parent) == keys(child) == []
    assert nullable(parent) == ["a", "d"]
    assert [c.name for c in child.columns] == ["b", "a", "c", "d"]
    assert nullable(child) == ["a", "d"]
    assert parent.foreign_keys[0].evidence is Evidence.ASSERTED
    assert declared.problems == ("p: child tables inherit from it, so its keys are none",)


def test_mysql_drops_references_beside_a_column_and_myisam_all_of_them() -> None:
    base = "CREATE TABLE p (a INT PRIMARY KEY); CREATE TABLE t (a INT "
    beside = table(base + "REFERENCES p (a))", "mysql")
    below = table(base + ", FOREIGN KEY (a) REFERENCES p (a))", "mysql")
    isam = table(base + ", FOREIGN KEY (a) REFERENCES p (a)) ENGINE = MyISAM", "mysql")
    grades = [found.foreign_keys[0].evidence for found in (beside, below, isam)]
    assert grades == [Evidence.ASSERTED, Evidence.ENFORCED, Evidence.ASSERTED]


def test_mysql_text_compares_under_a_collation_even_where_none_is_named() -> None:
    found = table(
        "CREATE TABLE t (a varchar(9), b text COLLATE utf8mb4_bin, c int, d char(1) CHARACTER SET"
        " latin1, UNIQUE KEY u (a(4)), UNIQUE KEY ((lower(b))), KEY k (c), FULLTEXT KEY f (b))"
        " DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci",
        "mysql",
    )
    collations = [column.collation for column in found.columns]
    assert collations == ["utf8mb4_general_ci", "utf8mb4_bin", None, "latin1 default"]
    assert keys(found) == ["unique a?"]


def test_a_key_of_duckdb_compares_bytes_so_it_is_none_for_nocase() -> None:
    declared = read_ddl("CREATE TABLE t (a VARCHAR COLLATE NOCASE PRIMARY KEY)", "duckdb")
    assert keys(declared.catalog.tables[0]) == []
    assert "NOCASE" in declared.problems[0]


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery", "redshift", "databricks"])
def test_a_warehouse_takes_keys_as_a_comment(dialect: str) -> None:
    found = table(
        "CREATE TABLE t (a BIGINT NOT NULL, b BIGINT, s STRUCT<x INT, y INT>, PRIMARY KEY (a, b))",
        dialect,
    )
    assert [key.evidence for key in found.keys] == [Evidence.ASSERTED]
    assert [column.nullable for column in found.columns] == [False, True, True]
    assert found.columns[1].not_null is Evidence.ASSERTED


def test_nobody_checks_the_rows_of_a_foreign_table() -> None:
    found = table("CREATE FOREIGN TABLE t (a int NOT NULL) SERVER s", "postgres")
    assert found.columns[0].not_null is Evidence.ASSERTED
    assert found.columns[0].nullable


def test_types_are_as_written_in_sqlite_and_in_one_spelling_elsewhere() -> None:
    sql = "CREATE TABLE t (a character varying(9), b int auto_increment)"
    assert [c.type for c in table(sql).columns] == ["character varying(9)", "int auto_increment"]
    assert table(sql, "postgres").columns[0].type == "VARCHAR(9)"


def test_quotes_comments_and_reserved_names_are_read_as_the_dialect_reads_them() -> None:
    found = table(
        "/* ; ' */ CREATE TABLE 't' (\n"
        "  [a b] INT, -- it's; CREATE TABLE x (a)\n"
        '  `c``d` INT, "e""f" INT, key TEXT, like TEXT DEFAULT \';\' )'
    )
    assert [c.name for c in found.columns] == ["a b", "c`d", 'e"f', "key", "like"]


def test_what_cannot_be_read_is_skipped_and_listed_with_its_line() -> None:
    declared = read_ddl(
        "CREATE TABLE a (x int);\n\nCREATE TABLE b (x int, PRIMARY KEY (x);\n"
        "CREATE TABLE c (x int DEFAULT 'open);\nCREATE TABLE d (x int);\nCREATE TABLE e (y int);",
        "postgres",
    )
    assert [found.name for found in declared.catalog] == ["a", "d", "e"]
    assert declared.problems == (
        "line 3: CREATE TABLE b (x int, PRIMARY KEY (x)…: ')' is missing at the end; skipped",
        "line 4: CREATE TABLE c (x int DEFAULT…: the quote ' is not closed; skipped",
    )


def test_tables_without_known_columns_say_so() -> None:
    declared = read_ddl(
        "CREATE VIRTUAL TABLE f USING fts5(a); CREATE TABLE q AS SELECT 1", "sqlite"
    )
    assert [bool(found.problem) for found in declared.catalog] == [True, True]
    assert len(declared.problems) == 2


def test_temporary_tables_and_sqlite_s_own_are_left_out() -> None:
    sql = "CREATE TEMP TABLE t (a INT); CREATE TABLE sqlite_sequence (name, seq)"
    assert catalog_of_ddl(sql, "sqlite").tables == ()


BASE = "CREATE TABLE a (x INTEGER PRIMARY KEY, y TEXT COLLATE NOCASE); CREATE TABLE b (z REAL);"


@pytest.mark.parametrize(
    ("view", "columns"),
    [
        ("AS SELECT x, y AS w FROM a", "x INTEGER, w TEXT NOCASE"),
        ("AS SELECT a.*, 1 AS one FROM a LEFT JOIN b ON x = z", "x INTEGER, y TEXT NOCASE, one"),
        ("AS SELECT * FROM a, b", "x INTEGER, y TEXT NOCASE, z REAL"),
        ("(p, q) AS SELECT x, count(*) FROM a GROUP BY x", "p, q"),
        ("(p) AS SELECT z FROM b", "p REAL"),
        ("AS SELECT x FROM a UNION SELECT z FROM b", "x"),
        ("AS WITH b AS (SELECT 1 AS u) SELECT u FROM b", "u"),
        ("AS SELECT count(*) FROM a", ""),
        ("AS SELECT * FROM nowhere", ""),
        ("AS WITH b AS (SELECT 1 AS u) SELECT * FROM b", ""),
        ("AS SELECT x, x FROM a", ""),
        ("AS SELECT FROM WHERE", ""),
    ],
)
def test_columns_of_a_view_are_those_its_query_tells(view: str, columns: str) -> None:
    declared = read_ddl(f"{BASE} CREATE VIEW v {view}", "sqlite")
    found = declared.catalog.table("v")
    assert found is not None
    assert found.kind == "view"
    parts = [(c.name, c.type, c.collation or "") for c in found.columns]
    assert ", ".join(" ".join(filter(None, part)) for part in parts) == columns
    assert bool(found.problem) == (not columns) == bool(declared.problems)
    assert all(column.nullable for column in found.columns)


def test_a_materialized_view_is_a_view() -> None:
    sql = (
        "CREATE TABLE t (a int); CREATE MATERIALIZED VIEW public.v AS SELECT a FROM t WITH NO DATA"
    )
    assert table(sql, "postgres", "v").columns[0].type == "INT"


def test_a_dialect_nobody_knows_is_the_caller_s_error() -> None:
    with pytest.raises(InputError, match="no SQL dialect is called 'klingon'"):
        catalog_of_ddl("", "klingon")
