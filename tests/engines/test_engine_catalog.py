"""The catalog says what the database declares, and no more than that."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modularsql.catalog import Catalog, Column, ForeignKey, Key, Table
from modularsql.ports import Engine
from modularsql.records import Evidence, Limits
from modularsql.rows import Rows

Make = Callable[..., Engine]


def table(catalog: Catalog, name: str) -> Table:
    found = catalog.table(name)
    assert found is not None
    return found


def column(catalog: Catalog, name: str, column_name: str) -> Column:
    found = table(catalog, name).column(column_name)
    assert found is not None
    return found


def key(*columns: str, kind: Any = "unique", null_distinct: bool = False) -> Key:
    return Key(columns=columns, kind=kind, null_distinct=null_distinct)


def test_tables_views_and_columns_in_their_order(make_near: Make, near: Any, folder: Path) -> None:
    catalog = make_near(
        "CREATE TABLE t(z INTEGER NOT NULL, a VARCHAR(9), m DOUBLE PRECISION, d DATE)",
        "CREATE VIEW v AS SELECT a, z FROM t",
    ).catalog()
    assert catalog.dialect == near.dialect
    # A database is a schema in MySQL.
    schema = near.schema or str(near.target(folder / "made.db")).rpartition("/")[2]
    assert [(t.name, t.schema, t.kind, t.problem) for t in catalog] == [
        ("t", schema, "table", None),
        ("v", schema, "view", None),
    ]
    assert [c.name for c in table(catalog, "t").columns] == ["z", "a", "m", "d"]
    assert [c.nullable for c in table(catalog, "t").columns] == [False, True, True, True]
    assert column(catalog, "t", "z").type.upper() in ("INTEGER", "INT(11)")
    assert column(catalog, "t", "m").type.upper().startswith("DOUBLE")
    assert [c.name for c in table(catalog, "v").columns] == ["a", "z"]
    assert table(catalog, "v").keys == ()
    assert table(catalog, "v").row_id is None


def test_what_a_database_says_of_its_tables_is_their_description(
    make_near: Make, near: Any
) -> None:
    inline, after = "", []
    if near.dialect == "mysql":
        inline = " COMMENT 'a guest''s stay'"
    elif near.dialect != "sqlite":
        after = [
            "COMMENT ON TABLE t IS 'stays of guests'",
            "COMMENT ON COLUMN t.a IS 'a guest''s stay'",
        ]
    of_table = " COMMENT 'stays of guests'" if inline else ""
    made = f"CREATE TABLE t(a INTEGER{inline}, b INTEGER){of_table}"
    catalog = make_near(made, *after, "CREATE VIEW v AS SELECT a FROM t").catalog()
    said = [] if near.dialect == "sqlite" else ["stays of guests", "a guest's stay"]
    found = [table(catalog, "t").description, *(c.description for c in table(catalog, "t").columns)]
    assert [words for words in found if words] == said
    assert table(catalog, "v").description == ""


def test_an_empty_database_has_an_empty_catalog(make_near: Make) -> None:
    assert make_near().catalog().tables == ()


def test_odd_names_come_back_as_they_are(make_near: Make) -> None:
    catalog = make_near(
        'CREATE TABLE "order"("select" INTEGER, "a b" INTEGER, "q""q" INTEGER, "😀" INTEGER)',
        'CREATE TABLE "it\'s, [odd]"(x INTEGER)',
        'CREATE TABLE "sqlitely"(x INTEGER)',
    ).catalog()
    assert {t.name for t in catalog} == {"order", "it's, [odd]", "sqlitely"}
    assert [c.name for c in table(catalog, "order").columns] == ["select", "a b", 'q"q', "😀"]
    assert table(catalog, "ORDER").column("A B") is not None


def test_primary_and_unique_keys(make_near: Make) -> None:
    catalog = make_near(
        "CREATE TABLE t(a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER, d INTEGER, "
        "PRIMARY KEY (b, a), UNIQUE (c), UNIQUE (a, d))",
        "CREATE TABLE u(id INTEGER PRIMARY KEY, e INTEGER UNIQUE NOT NULL)",
    ).catalog()
    assert set(table(catalog, "t").keys) == {
        key("b", "a", kind="primary"),
        key("c", null_distinct=True),
        key("a", "d", null_distinct=True),
    }
    assert table(catalog, "t").keys[0].kind == "primary"
    assert set(table(catalog, "u").keys) == {key("id", kind="primary"), key("e")}
    assert not column(catalog, "u", "id").nullable
    assert {k.evidence for t in catalog for k in t.keys} == {Evidence.ENFORCED}


def test_an_integer_primary_key_holds_no_null(make_near: Make) -> None:
    catalog = make_near("CREATE TABLE t(id INTEGER PRIMARY KEY, x INTEGER)").catalog()
    assert table(catalog, "t").keys == (key("id", kind="primary"),)


def test_a_unique_index_is_a_key(make_near: Make) -> None:
    catalog = make_near(
        "CREATE TABLE t(a INTEGER NOT NULL, b INTEGER)",
        "CREATE UNIQUE INDEX i ON t(a)",
        "CREATE UNIQUE INDEX j ON t(b, a)",
        "CREATE INDEX no_key ON t(b)",
    ).catalog()
    assert set(table(catalog, "t").keys) == {key("a"), key("b", "a", null_distinct=True)}


def test_an_index_over_an_expression_is_no_key(make_near: Make) -> None:
    catalog = make_near(
        'CREATE TABLE t(a INTEGER, "(a + 1)" INTEGER, "((a + 1))" INTEGER, "abs(a)" INTEGER)',
        "CREATE UNIQUE INDEX i ON t((a + 1))",
        "CREATE UNIQUE INDEX j ON t(abs(a))",
        "CREATE UNIQUE INDEX k ON t(a, (a + 1))",
    ).catalog()
    assert table(catalog, "t").keys == ()


def test_an_index_on_columns_with_odd_names_is_a_key_on_those(make_near: Make) -> None:
    names = ["a, b", "a b", "it's", 'q"q', "[a]", "(a)", "x\\y", "😀"]
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    columns = ", ".join(f"{name} INTEGER NOT NULL" for name in quoted)
    catalog = make_near(
        f"CREATE TABLE t(a INTEGER, b INTEGER, {columns})",
        *(f"CREATE UNIQUE INDEX i{i} ON t({name})" for i, name in enumerate(quoted)),
        f"CREATE UNIQUE INDEX j ON t({', '.join(reversed(quoted))})",
    ).catalog()
    assert set(table(catalog, "t").keys) == {*map(key, names), key(*reversed(names))}


def test_foreign_keys(make_near: Make) -> None:
    catalog = make_near(
        "CREATE TABLE parent(a INTEGER, b INTEGER, c INTEGER UNIQUE, PRIMARY KEY (a, b))",
        "CREATE TABLE child(x INTEGER, y INTEGER, z INTEGER REFERENCES parent(c), "
        "FOREIGN KEY (y, x) REFERENCES parent(a, b))",
        "CREATE TABLE tree(id INTEGER PRIMARY KEY, up INTEGER REFERENCES tree(id))",
    ).catalog()
    found = {
        (f.columns, f.target, f.target_columns, f.resolved) for t in catalog for f in t.foreign_keys
    }
    assert found == {
        (("z",), "parent", ("c",), True),
        (("y", "x"), "parent", ("a", "b"), True),
        (("up",), "tree", ("id",), True),
    }


def test_a_foreign_key_without_columns_means_the_primary_key(make_near: Make) -> None:
    catalog = make_near(
        "CREATE TABLE parent(id INTEGER PRIMARY KEY)",
        "CREATE TABLE child(parent INTEGER REFERENCES parent)",
    ).catalog()
    [foreign] = table(catalog, "child").foreign_keys
    assert isinstance(foreign, ForeignKey)
    assert (foreign.target_columns, foreign.resolved) == (("id",), True)


def test_a_row_identity_can_be_selected(make_near: Make, limits: Limits) -> None:
    engine = make_near(
        "CREATE TABLE t(x INTEGER)",
        "CREATE TABLE hides(rowid INTEGER)",
        "INSERT INTO t VALUES (5), (5)",
    )
    for name, rows in (("t", 2), ("hides", 0)):
        row_id = table(engine.catalog(), name).row_id
        if row_id is None:
            assert name == "hides"
            continue
        assert row_id.lower() != "rowid" or name == "t"
        outcome = engine.execute(f"SELECT DISTINCT {row_id} FROM {name}", limits=limits)
        assert isinstance(outcome, Rows)
        assert len(outcome.rows) == rows


def test_a_generated_column_is_marked(make_near: Make) -> None:
    catalog = make_near(
        "CREATE TABLE t(a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1))"
    ).catalog()
    assert not column(catalog, "t", "a").generated
    assert column(catalog, "t", "b").generated


def test_a_view_over_a_table_that_is_gone_has_a_problem(make_near: Make, limits: Limits) -> None:
    engine = make_near(
        "CREATE TABLE gone(x INTEGER)",
        "CREATE TABLE stays(x INTEGER)",
        "CREATE VIEW broken AS SELECT x FROM gone",
        "DROP TABLE gone",
    )
    assert "gone" in (table(engine.catalog(), "broken").problem or "")
    assert table(engine.catalog(), "stays").problem is None


def test_a_catalog_is_the_same_when_asked_again(shop: Engine) -> None:
    assert shop.catalog() == shop.catalog()
    assert {t.name for t in shop.catalog()} == {"a", "customer", "orders"}
    assert shop.compares_bytes()


COLLATED = {
    "a column": ["CREATE TABLE t(x VARCHAR(9) COLLATE NOCASE)"],
    "a view": [
        "CREATE TABLE t(x VARCHAR(9))",
        "CREATE VIEW v AS SELECT x COLLATE NOCASE AS x FROM t",
    ],
}


def test_plain_text_compares_by_bytes(make_near: Make) -> None:
    engine = make_near(
        "CREATE TABLE t(x VARCHAR(9), y INTEGER)", "CREATE VIEW v AS SELECT x FROM t"
    )
    assert engine.compares_bytes()
    assert {c.collation for t in engine.catalog() for c in t.columns} == {None}


@pytest.mark.parametrize("statements", COLLATED.values(), ids=COLLATED)
def test_a_collation_anywhere_means_no_comparing_by_bytes(
    make_near: Make, statements: list[str]
) -> None:
    engine = make_near(*statements)
    assert not engine.compares_bytes()
    assert [t.columns[0].collation for t in engine.catalog()][-1] is not None


def test_a_column_says_its_collation(make_near: Make) -> None:
    catalog = make_near(
        "CREATE TABLE t(a VARCHAR(9) COLLATE NOCASE, b VARCHAR(9) DEFAULT 'collate nocase', "
        '"c d" VARCHAR(9) COLLATE NOCASE NOT NULL)',
    ).catalog()
    found = [c.collation and c.collation.upper() for c in table(catalog, "t").columns]
    assert found == ["NOCASE", None, "NOCASE"]


def test_a_key_is_unique_under_the_columns_own_equality(make_near: Make, limits: Limits) -> None:
    """What is listed as a key leaves no two rows that DISTINCT takes for one."""
    engine = make_near(
        "CREATE TABLE t(x VARCHAR(9) COLLATE NOCASE NOT NULL UNIQUE)", "INSERT INTO t VALUES ('a')"
    )
    catalog = engine.catalog()
    is_key = key("x") in table(catalog, "t").keys
    folded = engine.execute(
        "SELECT count(*) FROM (SELECT DISTINCT x FROM (SELECT x FROM t UNION ALL "
        "SELECT upper(x) COLLATE NOCASE FROM t) AS u) AS d",
        limits=limits,
    )
    assert isinstance(folded, Rows)
    assert folded.rows == [(1,)]
    assert is_key == (engine.dialect != "duckdb")  # which enforces it by bytes
