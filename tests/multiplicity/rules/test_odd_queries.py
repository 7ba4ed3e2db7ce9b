"""Rules answer on any query: what they do not understand, they say nothing of."""

import pytest

from modularsql.catalog import Catalog, Column, ForeignKey, Key, Table
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.registry import Analysis, Issue, issues
from modularsql.records import Evidence, Severity
from modularsql.sql.parse import Unparsed, parse_text


def table(name: str, *columns: str, parent: str | None = None) -> Table:
    reference = ForeignKey(
        columns=(f"{parent}_id",),
        target=str(parent),
        target_columns=("id",),
        evidence=Evidence.ENFORCED,
    )
    return Table(
        name=name,
        columns=(
            Column(name="id", type="INTEGER", not_null=Evidence.ENFORCED),
            *(Column(name=column, type="INTEGER") for column in columns),
        ),
        keys=(Key(columns=("id",), kind="primary", null_distinct=False),),
        foreign_keys=(reference,) if parent else (),
    )


TABLES = (
    table("a", "x"),
    table("b", "a_id", "y", parent="a"),
    table("c", "a_id", "z", parent="a"),
)


def told(sql: str, dialect: str, tables: tuple[Table, ...] = TABLES) -> list[Issue]:
    catalog = Catalog(dialect=dialect, tables=tables)
    tree = parse_text(sql, dialect)
    assert not isinstance(tree, Unparsed), tree
    query = infer(tree, catalog)
    return issues(Analysis(query=query, catalog=catalog)) if query is not None else []


ODD = [
    "SELECT 1",
    "SELECT COUNT(*)",
    "SELECT *",
    "SELECT * FROM (VALUES (1), (2)) AS v",
    "SELECT a.*, COUNT(*) FROM a",
    "SELECT nowhere.x, SUM(y) FROM nowhere JOIN a ON nowhere.id = a.id GROUP BY 7",
    "SELECT x FROM a GROUP BY 0",
    "SELECT SUM(a.x) FROM a NATURAL JOIN b",
    "SELECT SUM(a.x) FROM a JOIN b USING (id, x)",
    "SELECT SUM(DISTINCT x), AVG(DISTINCT 1) FROM a, b, c",
    "SELECT a.x FROM a RIGHT JOIN b ON a.id = b.a_id FULL JOIN c ON c.id = b.id WHERE b.y = 1",
    "SELECT (SELECT (SELECT SUM(a.x) FROM b WHERE b.a_id = a.id) FROM c) FROM a",
    "SELECT x FROM a WHERE x NOT IN (SELECT NULL) AND x <> ALL (SELECT y FROM b)",
    "SELECT x FROM a UNION SELECT y FROM b UNION ALL SELECT z FROM c EXCEPT SELECT 1",
    "SELECT COUNT(DISTINCT CASE x WHEN 1 THEN 2 ELSE -3 END), COUNT(NOT x) FROM a",
    "SELECT SUM(x) OVER (PARTITION BY y) FROM a JOIN b ON a.id = b.a_id",
    "SELECT DISTINCT x FROM a ORDER BY (SELECT y FROM b LIMIT 1) LIMIT 3",
    "SELECT x, COUNT(*) FROM a LEFT JOIN (b JOIN c ON b.id = c.id) ON b.a_id = a.id GROUP BY 1",
    "WITH q AS (SELECT * FROM q) SELECT SUM(x) FROM q JOIN q AS r ON q.x = r.x",
    "WITH q(n, m) AS (SELECT id, x FROM a) SELECT n FROM q JOIN b ON q.n = b.a_id",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT SUM(i) FROM n, a",
    "SELECT x FROM a WHERE EXISTS (SELECT 1 FROM b, c WHERE b.a_id = a.id AND c.a_id = a.id)",
    "SELECT x FROM a, b WHERE a.id = b.a_id AND (y = 1 OR (z = 2 OR a.id = b.a_id))",
]


@pytest.mark.parametrize("known", [TABLES, ()], ids=["known tables", "unknown tables"])
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql"])
@pytest.mark.parametrize("sql", ODD)
def test_no_query_stops_the_rules(sql: str, dialect: str, known: tuple[Table, ...]) -> None:
    for issue in told(sql, dialect, known):
        question = issue.probe() if issue.probe is not None else None
        assert question is None or question.sql(dialect=dialect)
        assert issue.message.endswith(".")


DUCKDB = [
    "VALUES (1), (2)",
    "SELECT a.x FROM a SEMI JOIN b ON a.id = b.a_id",
    "SELECT a.x FROM a ANTI JOIN b USING (id)",
    "SELECT a.x, COUNT(*) FROM a JOIN b ON a.id = b.a_id GROUP BY ALL",
    "SELECT x, SUM(y) FROM a JOIN b ON a.id = b.a_id GROUP BY ROLLUP (x)",
    "SELECT DISTINCT ON (x) x, y FROM a JOIN b ON a.id = b.a_id",
    "SELECT x FROM a JOIN b ON a.id = b.a_id QUALIFY ROW_NUMBER() OVER (PARTITION BY x) = 1",
    "SELECT u FROM a, UNNEST([1, 2]) AS t(u)",
    "SELECT SUM(a.x) FROM a, LATERAL (SELECT y FROM b WHERE b.a_id = a.id) AS l",
    "FROM a SELECT SUM(x) FILTER (WHERE x > 1)",
    "SELECT LIST(DISTINCT x ORDER BY x), ARG_MAX(x, id) FROM a JOIN b ON a.id = b.a_id",
    "SELECT COLUMNS('x') FROM a POSITIONAL JOIN b",
    "SELECT ARRAY(SELECT y FROM b) FROM a",
]


@pytest.mark.parametrize("sql", DUCKDB)
def test_no_form_of_duckdb_stops_the_rules(sql: str) -> None:
    told(sql, "duckdb")


def test_a_recursion_is_no_repetition() -> None:
    counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) "
    found = told(counting + "SELECT SUM(i) FROM n", "sqlite")
    assert [issue.rule for issue in found if issue.severity != Severity.INFO] == []


def test_a_cte_that_is_read_twice_is_told_once() -> None:
    sql = (
        "WITH s AS (SELECT a.id, SUM(a.x) AS s FROM a JOIN b ON b.a_id = a.id GROUP BY a.id) "
        "SELECT t.s, u.s FROM s AS t JOIN s AS u ON t.id = u.id"
    )
    assert [issue.rule for issue in told(sql, "sqlite")] == ["fan_out_sum"]


def test_columns_inside_filter_are_not_bare() -> None:
    assert told("SELECT COUNT(id) FILTER (WHERE x = 1) FROM a", "duckdb") == []


def test_an_unknown_column_in_the_condition_may_connect() -> None:
    partly = (TABLES[0],)
    found = told("SELECT a.x, d.y FROM a, d WHERE what = a.id", "sqlite", partly)
    assert "cartesian" not in {issue.rule for issue in found}


@pytest.mark.parametrize("join", ["b", "CROSS JOIN b", "JOIN b ON TRUE", "JOIN b ON 1 = 1"])
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "mysql", "postgres"])
def test_a_written_cross_join_is_told_from_a_forgotten_condition(join: str, dialect: str) -> None:
    between = ", " if join == "b" else " "
    found = told(f"SELECT SUM(a.x) FROM a{between}{join}", dialect)
    expected = Severity.ERROR if join == "b" else Severity.WARNING
    assert [(issue.rule, issue.severity) for issue in found] == [("cartesian", expected)]


def test_no_declared_key_makes_it_a_question_that_data_may_answer() -> None:
    bare = Table(name="d", columns=(Column(name="a_id", type="INTEGER"),))
    found = told("SELECT SUM(a.x) FROM a JOIN d ON d.a_id = a.id", "sqlite", (TABLES[0], bare))
    [issue] = found
    assert (issue.severity, issue.evidence) == (Severity.INFO, Evidence.ASSUMED)
    assert issue.measured == Severity.ERROR
    assert " may add " in issue.message


UNNESTED = [
    "SELECT a.x, t FROM a CROSS JOIN UNNEST(a.tags) AS t",
    "SELECT a.x, UPPER(t) FROM a JOIN LATERAL UNNEST(a.tags) AS t ON TRUE",
    "SELECT a.x, t.u FROM a, UNNEST(a.tags) AS t(u)",
    "SELECT a.x, u FROM a, UNNEST(a.tags) AS t(u)",
    "SELECT a.x, b FROM a JOIN b ON b.a_id = a.id",
    "SELECT a.x, g FROM a JOIN GENERATE_SERIES(1, 3) AS g ON TRUE",
    "SELECT a.x, w FROM a JOIN nowhere ON nowhere.a_id = a.id",
    "SELECT a.x, w FROM a JOIN nowhere ON nowhere.id = a.id JOIN b ON b.a_id = a.id",
]


@pytest.mark.parametrize("sql", UNNESTED)
@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_a_column_that_nobody_knows_may_show_what_the_join_brings(sql: str, dialect: str) -> None:
    rules = {issue.rule for issue in told(sql, dialect)}
    assert not rules & {"fan_out_rows", "masked_fan_out"}
    hidden = sql[: sql.index(",")] + sql[sql.index(" FROM") :]
    assert "fan_out_rows" in {issue.rule for issue in told(hidden, dialect)}


@pytest.mark.parametrize("shown", ["f.x", "x", "f"])
def test_of_rows_that_nobody_knows_none_is_told_from_its_copies(shown: str) -> None:
    """DISTINCT would melt those of one name."""
    found = told(f"SELECT {shown} FROM f(1) AS f JOIN b ON b.a_id = f.id", "postgres", TABLES[1:2])
    assert found == []


@pytest.mark.parametrize("condition", ["b.id IS NULL", "b.y > 1", "y IS NOT NULL AND a.x > 1"])
def test_a_filter_on_the_joined_table_settles_what_padded_rows_count(condition: str) -> None:
    form = "SELECT a.x, COUNT(*) FILTER (WHERE {}) FROM a LEFT JOIN b ON b.a_id = a.id GROUP BY a.x"
    assert told(form.format(condition), "postgres") == []
    found = told(form.format("a.x > 1"), "postgres")
    assert [issue.rule for issue in found] == ["count_star_of_outer_join"]


@pytest.mark.parametrize(
    ("dialect", "call", "is_bare"),
    [
        ("postgres", "JSONB_AGG(x)", False),
        ("postgres", "OUR_OWN(x)", False),
        ("postgres", "UPPER(x)", True),
        ("mysql", "JSON_ARRAYAGG(x)", False),
        ("mysql", "OUR_OWN(x)", True),
    ],
)
def test_a_call_that_puts_rows_together_has_no_bare_column(
    dialect: str, call: str, is_bare: bool
) -> None:
    found = told(f"SELECT {call}, COUNT(*) FROM a", dialect)
    assert [issue.rule for issue in found] == (["bare_column"] if is_bare else [])
