"""What was said beside what the engine declares: added, never in its place, nothing lost."""

import pytest

from modularsql.catalog import Catalog, Table
from modularsql.declared.ddl import catalog_of_ddl, read_ddl
from modularsql.declared.facts import Declared
from modularsql.declared.keyfile import read_keyfile
from modularsql.declared.merge import merge
from modularsql.records import Evidence

DATABASE = catalog_of_ddl(
    "CREATE TABLE Customer (Id INTEGER PRIMARY KEY, Name TEXT);"
    "CREATE TABLE orders (order_id INT, number TEXT UNIQUE, customer_id INT, day TEXT NOT NULL);"
    "CREATE TABLE day (day TEXT, place TEXT); CREATE VIEW v AS SELECT count(*) FROM day",
    "sqlite",
)


def merged(keys: str, database: Catalog = DATABASE) -> Declared:
    return merge(database, read_keyfile(keys, "keys.toml"))


def table(declared: Declared, name: str = "orders") -> Table:
    found = declared.catalog.table(name)
    assert found is not None
    return found


def keys(found: Table) -> list[tuple[str, str, bool]]:
    said = [key for key in found.keys if key.evidence is Evidence.ASSERTED]
    return [(" ".join(key.columns), key.kind, key.null_distinct) for key in said]


def test_keys_and_foreign_keys_are_added_as_asserted_in_the_table_s_own_spelling() -> None:
    declared = merged(
        "[tables.ORDERS]\nprimary_key = ['ORDER_ID']\nunique = [['Customer_Id', 'DAY']]\n"
        "foreign_keys = [{ columns = ['CUSTOMER_ID'], references = 'customer' }]"
    )
    found = table(declared)
    assert declared.problems == ()
    assert keys(found) == [("order_id", "primary", False), ("customer_id day", "unique", True)]
    assert found.columns[0].not_null is Evidence.ASSERTED
    assert found.columns[0].nullable
    (key,) = found.foreign_keys
    assert (key.columns, key.target, key.target_columns, key.resolved) == (
        ("customer_id",),
        "Customer",
        ("Id",),
        True,
    )
    assert key.evidence is Evidence.ASSERTED


def test_what_the_engine_declares_stands_and_is_not_said_twice() -> None:
    declared = merged(
        "[tables.customer]\nprimary_key = ['id']\nunique = [['id', 'name'], ['name'], ['NAME']]\n"
        "[tables.orders]\nunique = [['number']]\nnot_null = ['day']"
    )
    assert keys(table(declared, "customer")) == [("Name", "unique", True)]
    assert keys(table(declared)) == []
    assert table(declared).columns == table(Declared(catalog=DATABASE)).columns


def test_a_unique_column_that_is_said_to_hold_no_null_becomes_a_whole_key() -> None:
    declared = merged("[tables.orders]\nunique = [['number']]\nnot_null = ['number']")
    assert keys(table(declared)) == [("number", "unique", False)]
    assert [key.evidence for key in table(declared).keys] == [
        Evidence.ENFORCED,
        Evidence.ASSERTED,
    ]


def test_a_second_primary_key_is_a_unique_one() -> None:
    declared = merged("[tables.customer]\nprimary_key = ['Name']")
    assert keys(table(declared, "customer")) == [("Name", "unique", False)]


def test_a_foreign_key_may_refer_to_a_primary_key_that_is_only_said() -> None:
    declared = merged(
        "[tables.orders]\nforeign_keys = [{ columns = ['day'], references = 'day' }]\n"
        "[tables.day]\nprimary_key = ['day']"
    )
    assert declared.problems == ()
    assert [key.target_columns for key in table(declared).foreign_keys] == [("day",)]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (
            "[tables.order]\nprimary_key = ['x']",
            "order: no such table in the database; did you mean orders?",
        ),
        (
            "[tables.orders]\nunique = [['custmer_id', 'day']]",
            "orders.custmer_id: no such column; did you mean customer_id?",
        ),
        ("[tables.orders]\nnot_null = ['zz']", "orders.zz: no such column; 4 others are there"),
        (
            "[tables.v]\nprimary_key = ['n']",
            "v: its columns are not known, so nothing said of it is taken",
        ),
        (
            "[tables.orders]\nforeign_keys = [{ columns = ['day'], references = 'dayz' }]",
            "dayz: no such table in the database; did you mean day?",
        ),
        (
            "[tables.orders]\nforeign_keys = [{ columns = ['day'], references = 'day' }]",
            "orders (day): refers to day, which has no primary key of as many columns;"
            " say which columns are meant",
        ),
        (
            "[tables.orders]\n"
            "foreign_keys = [{ columns = ['day'], references = 'day', to = ['dya'] }]",
            "day.dya: no such column; did you mean day?",
        ),
    ],
)
def test_what_is_not_in_the_database_is_listed_and_nothing_else_changes(
    said: str, problem: str
) -> None:
    declared = merged(said)
    assert declared.problems == (problem,)
    assert declared.catalog == DATABASE


def test_one_wrong_column_costs_its_own_key_only() -> None:
    declared = merged("[tables.orders]\nunique = [['nope'], ['customer_id']]\nnot_null = ['nope']")
    assert keys(table(declared)) == [("customer_id", "unique", True)]
    assert len(declared.problems) == 1


SCHEMAS = catalog_of_ddl(
    "CREATE TABLE a.t (x int); CREATE TABLE b.t (x int); CREATE TABLE b.u (x int);"
    ' CREATE TABLE public."a.b" (x int); CREATE TABLE w (x int); CREATE TABLE c.w (x int)',
    "postgres",
)


@pytest.mark.parametrize(
    ("name", "place", "problems"),
    [
        ('"a.t"', "a.t", ()),
        ('"B.T"', "b.t", ()),
        ("t", "", ("t: there are several (a.t, b.t); name the schema",)),
        ("u", "b.u", ()),
        ("w", "public.w", ()),
        ('"a.b"', "public.a.b", ()),
        ('"z.t"', "", ("z.t: no such table in the database; did you mean t?",)),
        (
            '"prod.u"',
            "b.u",
            ("there is no such table in the schema prod: 1 table was found by name alone",),
        ),
    ],
)
def test_a_schema_tells_tables_of_the_same_name_apart(
    name: str, place: str, problems: tuple[str, ...]
) -> None:
    declared = merged(f"[tables.{name}]\nprimary_key = ['x']", SCHEMAS)
    found = [f"{table.schema}.{table.name}" for table in declared.catalog if table.keys]
    assert ".".join(found) == place
    assert declared.problems == problems


def test_a_reference_without_a_schema_means_the_table_beside_it() -> None:
    declared = merged(
        '[tables."b.u"]\nforeign_keys = [{ columns = ["x"], references = "t", to = ["x"] }]',
        SCHEMAS,
    )
    assert declared.problems == ()
    assert [key.target for key in table(declared, "u").foreign_keys] == ["t"]


def test_problems_of_the_file_come_first() -> None:
    said = read_keyfile("[tables.nope]\nprimary_key = ['x']", "k")
    declared = merge(DATABASE, Declared(catalog=said.catalog, problems=("from the file",)))
    assert declared.problems[0] == "from the file"
    assert len(declared.problems) == 2


def test_what_another_database_enforces_is_only_said_of_this_one() -> None:
    other = read_ddl("CREATE TABLE orders (order_id INTEGER PRIMARY KEY)", "sqlite")
    found = table(merge(DATABASE, other))
    assert keys(found) == [("order_id", "primary", False)]


def test_nothing_said_changes_nothing() -> None:
    assert merge(DATABASE, Declared(catalog=Catalog(dialect=""))) == Declared(catalog=DATABASE)
    assert merge(DATABASE, Declared(catalog=DATABASE)).catalog == DATABASE
