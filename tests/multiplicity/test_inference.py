"""What is inferred of single queries: the operator table of the design, and traps."""

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

from .inference_cases import (
    DDL,
    DUCKDB_KEYS,
    KEYS,
    NOT_NULL,
    REPEATED,
    SQLITE_DDL,
    UNKNOWN,
    cases,
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


@pytest.mark.parametrize(("sql", "expected"), cases(KEYS, "=>"))
def test_keys_of_the_result_in_sqlite(sql: str, expected: str) -> None:
    assert keys(read(sql)) == expected


@pytest.mark.parametrize(("sql", "expected"), cases(DUCKDB_KEYS, "=>"))
def test_keys_of_the_result_in_duckdb(sql: str, expected: str) -> None:
    assert keys(read(sql, CATALOGS["duckdb"])) == expected


@pytest.mark.parametrize(("sql", "expected"), cases(REPEATED, "=>>"))
def test_sources_whose_rows_may_repeat(sql: str, expected: str) -> None:
    assert repeated(read(sql)) == expected


@pytest.mark.parametrize(("sql", "expected"), cases(NOT_NULL, "=>"))
def test_columns_without_null(sql: str, expected: str) -> None:
    query = read(sql)
    full = [name for name, attribute in query.columns if attribute & query.relation.not_null]
    assert (" ".join(full) or "-") == expected


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
    columns = (
        Column(name="id", type="INTEGER", not_null=Evidence.ENFORCED),
        Column(name="k", type="INTEGER"),
    )
    asserted = Key(columns=("id",), kind="primary", null_distinct=False, evidence=Evidence.ASSERTED)
    told = Table(name="told", columns=columns, keys=(asserted,))
    tables = Catalog(dialect="sqlite", tables=(*CATALOGS["sqlite"].tables, told))
    query = read("SELECT h.id FROM hero h JOIN told t ON t.id = h.code", tables)
    assert query.relation.is_key(query.columns[0][1]) == Evidence.ASSERTED


@pytest.mark.parametrize(
    ("said", "grade"),
    [(None, None), (Evidence.ASSERTED, Evidence.ASSERTED), (Evidence.ENFORCED, Evidence.ENFORCED)],
)
def test_a_unique_column_is_a_key_as_surely_as_it_holds_no_null(
    said: Evidence | None, grade: Evidence | None
) -> None:
    column = Column(name="k", type="INTEGER", not_null=said)
    unique = Key(columns=("k",), kind="unique", null_distinct=said is not Evidence.ENFORCED)
    tables = Catalog(dialect="sqlite", tables=(Table(name="t", columns=(column,), keys=(unique,)),))
    query = read("SELECT k FROM t", tables)
    assert query.relation.is_key(query.columns[0][1]) == grade


def test_a_name_in_several_schemas_means_the_main_one() -> None:
    key = Key(columns=("id",), kind="primary", null_distinct=False)
    column = Column(name="id", type="INTEGER", not_null=Evidence.ENFORCED)
    other = Table(name="t", schema="a", columns=(column,), keys=(key,))
    main = Table(name="t", schema="main", columns=(column,))
    tables = Catalog(dialect="duckdb", tables=(other, main))
    assert keys(read("SELECT id FROM t", tables)) == "-"
    assert keys(read("SELECT id FROM a.t", tables)) == "id"
    assert keys(read("SELECT id FROM elsewhere.a.t", tables)) == "-"


@pytest.mark.parametrize(
    "definition",
    [
        None,
        "CREATE VIEW v AS SELECT id FROM",
        "CREATE VIEW v AS SELECT id FROM v",
        "CREATE VIEW v AS WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id FROM r) TABLE r",
        "CREATE VIEW v AS SELECT id, name FROM hero",  # the database says it has one column
        "CREATE VIEW v AS SELECT * FROM unheard_of",
    ],
)
def test_a_view_that_cannot_be_read_through_is_unknown(definition: str | None) -> None:
    view = Table(name="v", kind="view", columns=(Column(name="id"),), definition=definition)
    tables = Catalog(dialect="sqlite", tables=(*CATALOGS["sqlite"].tables, view))
    query = read("SELECT id FROM v", tables)
    assert keys(query) == "-"
    assert query.block is not None
    assert query.block.unknown == ["the rows of the view v"]
    assert keys(read("SELECT DISTINCT id FROM v", tables)) == "id"


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("CREATE VIEW stage.v AS SELECT id FROM power", "id"),
        ("CREATE VIEW stage.v AS SELECT id FROM main.hero", "id"),
        ("CREATE VIEW stage.v AS SELECT id FROM hero", "-"),  # main has one too
        ("CREATE VIEW stage.v AS SELECT p.id FROM power p JOIN stage.hero h ON h.id = p.id", "-"),
    ],
)
def test_a_view_of_another_schema_is_read_where_its_names_are_clear(
    definition: str, expected: str
) -> None:
    column = Column(name="id", type="INTEGER")
    view = Table(name="v", schema="stage", kind="view", columns=(column,), definition=definition)
    other = Table(name="hero", schema="stage", columns=(column,))
    tables = Catalog(dialect="duckdb", tables=(*CATALOGS["duckdb"].tables, other, view))
    assert keys(read("SELECT id FROM stage.v", tables)) == expected


def test_views_of_views_come_to_an_end() -> None:
    views = [Table(name="v0", kind="view", columns=(Column(name="id"),), definition="SELECT 1")]
    for i in range(1, 14):
        text = f"SELECT a.id FROM v{i - 1} a, v{i - 1} b"
        views.append(
            Table(name=f"v{i}", kind="view", columns=(Column(name="id"),), definition=text)
        )
    tables = Catalog(dialect="sqlite", tables=tuple(views))
    tree = parse_text("SELECT id FROM v13", "sqlite")
    assert isinstance(tree, exp.Expr)
    assert infer(tree, tables) is not None


def test_what_is_said_of_a_view_counts_as_said() -> None:
    key = Key(columns=("text",), kind="unique", null_distinct=False, evidence=Evidence.ASSERTED)
    text = "CREATE VIEW v AS SELECT text, hero FROM note"
    columns = (Column(name="text"), Column(name="hero"))
    view = Table(name="v", kind="view", columns=columns, keys=(key,), definition=text)
    query = read(
        "SELECT text FROM v",
        Catalog(dialect="sqlite", tables=(*CATALOGS["sqlite"].tables, view)),
    )
    assert query.relation.is_key(query.columns[0][1]) == Evidence.ASSERTED


def test_names_that_differ_in_case_alone_are_not_guessed() -> None:
    key = Key(columns=("id",), kind="primary", null_distinct=False)
    both = tuple(
        Column(name=name, type="INTEGER", not_null=Evidence.ENFORCED) for name in ("id", "ID")
    )
    tables = Catalog(dialect="postgres", tables=(Table(name="t", columns=both, keys=(key,)),))
    assert keys(read('SELECT "ID" FROM t', tables)) == "-"


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_text_keys_of_other_dialects_are_read_as_they_compare(dialect: str) -> None:
    key = Key(columns=("k",), kind="primary", null_distinct=False)
    column = Column(name="k", type="VARCHAR(20)", not_null=Evidence.ENFORCED)
    tables = Catalog(dialect=dialect, tables=(Table(name="t", columns=(column,), keys=(key,)),))
    assert keys(read("SELECT k FROM t WHERE k = 'a'", tables)) == "()"
    assert keys(read("SELECT k FROM t WHERE k = 1", tables)) == "k"
    # MySQL merges 'a' and 'A' in DISTINCT k, not in what is computed of them.
    merged = "SELECT k FROM (SELECT k, CONCAT(k, '') AS c FROM t) d GROUP BY k, c"
    assert keys(read(merged, tables)) == "k"


def test_having_may_mean_an_output_before_a_column() -> None:
    """MySQL: `HAVING x` is the output x where the column x is not grouped by."""
    columns = tuple(Column(name=name, type="INT") for name in ("id", "x"))
    key = Key(columns=("id",), kind="primary", null_distinct=False)
    tables = Catalog(dialect="mysql", tables=(Table(name="t", columns=columns, keys=(key,)),))
    assert keys(read("SELECT id, x AS q FROM t GROUP BY id, x HAVING id = 2", tables)) == "()"
    assert (
        keys(read("SELECT id, x AS q, 2 AS id FROM t GROUP BY t.id HAVING id = 2", tables)) == "id"
    )


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
