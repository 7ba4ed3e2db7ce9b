"""The user's own key file: what it says, and what is said about each wrong shape."""

import pytest

from modularsql.catalog import ForeignKey
from modularsql.declared import keyfile
from modularsql.declared.keyfile import read_keyfile
from modularsql.errors import InputError
from modularsql.records import Evidence

FILE = """
[tables.orders]
primary_key = ["order_id"]
unique = [["number"], ["customer_id", "day"]]
not_null = ["customer_id"]
foreign_keys = [{ columns = ["customer_id"], references = "customer", to = ["id"] },
                { columns = ["day"], references = "sales.calendar" }]

[tables."sales.invoice"]
unique = [["number"]]
not_null = ["number"]
"""


def test_every_part_is_an_assertion() -> None:
    orders, invoice = read_keyfile(FILE, "keys.toml").catalog.tables
    assert [(k.columns, k.kind, k.null_distinct) for k in orders.keys] == [
        (("order_id",), "primary", False),
        (("number",), "unique", True),
        (("customer_id", "day"), "unique", True),
    ]
    solid = [c.name for c in orders.columns if c.not_null is Evidence.ASSERTED]
    assert solid == ["order_id", "customer_id"]
    assert orders.foreign_keys == (
        ForeignKey(
            columns=("customer_id",),
            target="customer",
            target_columns=("id",),
            evidence=Evidence.ASSERTED,
        ),
        ForeignKey(
            columns=("day",),
            target="sales.calendar",
            target_columns=(),
            evidence=Evidence.ASSERTED,
        ),
    )
    assert (invoice.schema, invoice.name) == ("sales", "invoice")
    assert [key.null_distinct for key in invoice.keys] == [False]


def test_the_example_in_the_documentation_is_read() -> None:
    text = (keyfile.__doc__ or "").partition("\n\n")[2].partition("\n\nEvery")[0]
    assert len(read_keyfile(text, "doc").catalog.tables) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tables = ", "k.toml is no TOML: Invalid value (at end of document)"),
        ("[tables.a]\nx x", "k.toml is no TOML: Expected '=' after a key"),
        ("", "k.toml names no table (write [tables.NAME]"),
        ("[table.a]", "k.toml: 'table' is not known here (did you mean tables?)"),
        ("[tables]\na = 1", "k.toml: tables.a is a number, not a table"),
        (
            "[tables.a]\nprimary = ['x']",
            "tables.a: 'primary' is not known here (did you mean primary_key?)",
        ),
        (
            "[tables.s.a]\nunique = []",
            'tables.s.a is a table inside a table (for a schema write [tables."s.a"])',
        ),
        (
            "[tables.a]\nprimary_key = 'x'",
            'tables.a.primary_key is a text, not a list of columns (write ["x"])',
        ),
        ("[tables.a]\nprimary_key = [1]", "tables.a.primary_key is a list, not a list of columns"),
        (
            "[tables.a]\nprimary_key = ['x', 'X']",
            'tables.a.primary_key is ["x", "X"] (name each column once)',
        ),
        (
            "[tables.a]\nunique = ['x']",
            'tables.a.unique is a list of names, not of keys (write [["x"]])',
        ),
        (
            "[tables.a]\nunique = ['x', 'y']",
            'not of keys (one key is [["x", "y"]], one for each is [["x"], ["y"]])',
        ),
        (
            "[tables.a]\nunique = [['x'], 'y']",
            'tables.a.unique[1] is a text, not a list of columns (write ["y"])',
        ),
        ("[tables.a]\nunique = true", "tables.a.unique is true or false, not a list of keys"),
        ("[tables.a]\nunique = [[]]", "tables.a.unique[0] is [] (name a column, or leave it out)"),
        ("[tables.a]\nnot_null = {}", "tables.a.not_null is a table, not a list of columns"),
        ("[tables.a]\nforeign_keys = ['b']", "tables.a.foreign_keys is no list of tables"),
        (
            "[tables.a]\nforeign_keys = [{ columns = ['x'] }]",
            "foreign_keys[0] needs columns and references",
        ),
        (
            "[tables.a]\nforeign_keys = [{ columns = ['x'], references = 'b', to = ['y', 'z'] }]",
            "foreign_keys[0]: 1 columns refer to 2 (name as many)",
        ),
        (
            "[tables.a]\nforeign_keys = [{ columns = ['x'], reference = 'b' }]",
            "foreign_keys[0]: 'reference' is not known here (did you mean references?)",
        ),
    ],
)
def test_a_wrong_shape_is_an_error_with_its_place_and_the_right_one(
    text: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_keyfile(text, "k.toml")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
