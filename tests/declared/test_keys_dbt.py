"""A dbt manifest: what its tests and contracts say of keys, and which say less than it seems."""

from typing import Any

import pytest

from modularsql.catalog import Table
from modularsql.declared.dbt import read_manifest
from modularsql.declared.facts import Declared
from modularsql.errors import InputError
from modularsql.records import Evidence

ORDERS = "model.shop.orders"


def model(name: str, **more: Any) -> dict[str, Any]:
    return {
        "resource_type": "model",
        "package_name": "shop",
        "name": name,
        "alias": name,
        "schema": "prod",
        "config": {"materialized": "table"},
        **more,
    }


def check(name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    namespace = "dbt_utils" if name == "unique_combination_of_columns" else None
    return {
        "resource_type": "test",
        "name": f"the_{name}",
        "attached_node": ORDERS,
        "depends_on": {"macros": [], "nodes": [ORDERS]},
        "config": {"enabled": True, "severity": "ERROR", "where": None, "error_if": "!= 0"},
        "test_metadata": {"name": name, "kwargs": arguments, "namespace": namespace},
        **more,
    }


def read(*tests: dict[str, Any], **sections: Any) -> Declared:
    nodes: dict[str, Any] = {
        ORDERS: model("orders", alias="fct_orders"),
        "model.shop.customers": model("customers", schema="core"),
        "model.shop.passing": model("passing", config={"materialized": "ephemeral"}),
    }
    nodes |= {f"test.shop.{number}": test for number, test in enumerate(tests)}
    sources = {
        "source.shop.raw.orders": {
            "resource_type": "source",
            "name": "orders",
            "source_name": "raw",
            "identifier": "ORDERS_V2",
            "schema": "landing",
        }
    }
    version = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    manifest = {
        "metadata": {"dbt_schema_version": version},
        "nodes": nodes | sections.pop("nodes", {}),
        "sources": sources,
        **sections,
    }
    return read_manifest(manifest, "manifest.json")


def only(declared: Declared) -> Table:
    assert declared.problems == ()
    (table,) = declared.catalog
    return table


def test_a_unique_test_passes_over_nulls_unless_the_column_is_tested_for_them() -> None:
    alone = only(read(check("unique", {"column_name": "order_id"})))
    both = only(
        read(
            check("unique", {"column_name": "order_id"}),
            check("not_null", {"column_name": "order_id"}),
        )
    )
    assert (alone.schema, alone.name) == ("prod", "fct_orders")
    assert [(k.columns, k.null_distinct, k.evidence) for k in alone.keys] == [
        (("order_id",), True, Evidence.ASSERTED)
    ]
    assert [key.null_distinct for key in both.keys] == [False]
    assert both.columns[0].not_null is Evidence.ASSERTED


@pytest.mark.parametrize(
    "columns",
    [["order_id", "line"], ['"order_id"', "`line`"], ["{{ adapter.quote('order_id') }}", " line "]],
)
def test_a_combination_of_columns_counts_nulls_as_equal(columns: list[str]) -> None:
    table = only(read(check("unique_combination_of_columns", {"combination_of_columns": columns})))
    assert [(key.columns, key.null_distinct) for key in table.keys] == [
        (("order_id", "line"), False)
    ]
    assert not any(column.not_null is Evidence.ASSERTED for column in table.columns)


BOTH = {"nodes": ["model.shop.customers", ORDERS]}
GIVEN = {"column_name": "customer_id", "to": "ref('customers')", "field": "id"}
MODEL = {"model": "{{ get_where_subquery(ref('orders')) }}"}


@pytest.mark.parametrize(
    "test",
    [
        check("relationships", GIVEN, depends_on=BOTH),
        check("relationships", GIVEN, depends_on=BOTH, attached_node=None),
        check("relationships", GIVEN | MODEL, depends_on=BOTH, attached_node=None),
        check("relationships", GIVEN | {"to": "ref('shop', 'customers')"}, depends_on=BOTH),
        check("relationships", GIVEN | {"to": "ref('customers', v=2)"}, depends_on=BOTH),
        check(
            "relationships",
            {"arguments": {"to": "ref('customers')", "field": "id"}},
            column_name="customer_id",
            depends_on=BOTH,
        ),
    ],
)
def test_a_relationship_is_a_foreign_key_whichever_version_wrote_it(test: dict[str, Any]) -> None:
    table = only(read(test))
    assert table.name == "fct_orders"
    (key,) = table.foreign_keys
    assert (key.columns, key.target_schema, key.target, key.target_columns) == (
        ("customer_id",),
        "core",
        "customers",
        ("id",),
    )
    assert key.evidence is Evidence.ASSERTED


def test_a_relationship_of_a_table_with_itself_has_one_node() -> None:
    given = {"column_name": "parent_id", "to": "ref('orders')", "field": "order_id"}
    table = only(read(check("relationships", given)))
    assert [(key.target, key.target_columns) for key in table.foreign_keys] == [
        ("fct_orders", ("order_id",))
    ]


def test_a_source_is_named_by_its_identifier_and_told_from_a_model_of_the_same_name() -> None:
    given = {
        "column_name": "id",
        "to": "ref('orders')",
        "field": "order_id",
        "model": "{{ get_where_subquery(source('raw', 'orders')) }}",
    }
    needed = {"nodes": [ORDERS, "source.shop.raw.orders"]}
    table = only(read(check("relationships", given, attached_node=None, depends_on=needed)))
    assert (table.schema, table.name) == ("landing", "ORDERS_V2")
    (key,) = table.foreign_keys
    assert (key.target_schema, key.target) == ("prod", "fct_orders")


UNIQUE = {"column_name": "order_id"}


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"enabled": False}, "disabled"),
        ({"where": "day > '2020'"}, "it looks only at rows where day > '2020'"),
        ({"error_if": ">10"}, "it tolerates failures (error_if >10)"),
        ({"severity": "warn", "warn_if": "> 5"}, "it tolerates failures (warn_if > 5)"),
        ({"fail_calc": "max(n)"}, "it counts failures its own way (fail_calc max(n))"),
    ],
)
def test_a_test_that_says_less_than_its_name_is_left_out_and_listed(
    config: dict[str, Any], reason: str
) -> None:
    declared = read(check("unique", UNIQUE, config=config))
    assert declared.catalog.tables == ()
    assert declared.problems == (f"dbt test the_unique: {reason}, so left out",)


def test_a_disabled_test_stands_in_a_section_of_its_own() -> None:
    declared = read(disabled={"test.shop.9": [check("unique", UNIQUE)]})
    assert declared.problems == ("dbt test the_unique: disabled, so left out",)


def test_a_test_that_only_warns_is_taken_and_listed() -> None:
    declared = read(check("unique", UNIQUE, config={"severity": "warn", "error_if": ">10"}))
    assert [key.columns for table in declared.catalog for key in table.keys] == [("order_id",)]
    assert declared.problems == (
        "dbt test the_unique: only warns when it fails; taken all the same",
    )


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        (check("unique", {"column_name": "a || b"}), "'a || b' is no plain column"),
        (check("unique", {}), "None is no plain column"),
        (
            check("unique_combination_of_columns", {"combination_of_columns": ["a", "b + 1"]}),
            "its columns are no plain names",
        ),
        (
            check("relationships", GIVEN | {"to": "ref('gone')"}, depends_on=BOTH),
            "it refers to \"ref('gone')\", field 'id': no table's column",
        ),
        (
            check("unique", UNIQUE, attached_node="model.shop.passing"),
            "what it tests has no table in the manifest",
        ),
        (
            check("unique", UNIQUE, attached_node=None, depends_on=BOTH),
            "what it tests has no table in the manifest",
        ),
    ],
)
def test_what_cannot_be_tied_to_a_column_is_listed(test: dict[str, Any], problem: str) -> None:
    name = test["test_metadata"]["name"]
    declared = read(test)
    assert declared.problems == (f"dbt test the_{name}: {problem}",)
    assert declared.catalog.tables == ()


def test_other_tests_say_nothing_of_keys() -> None:
    other = check("unique", UNIQUE)
    other["test_metadata"] = {"name": "unique", "namespace": "my_package", "kwargs": {}}
    singular = {"resource_type": "test", "name": "assert_total", "test_metadata": None}
    declared = read(check("accepted_values", UNIQUE), other, singular)
    assert declared == Declared(catalog=declared.catalog)
    assert declared.catalog.tables == ()


def contracted(enforced: bool) -> Declared:
    columns = {
        "order_id": {"name": "order_id", "constraints": [{"type": "not_null"}]},
        "number": {"name": "number", "constraints": [{"type": "unique"}, {"type": "check"}]},
    }
    constraints = [
        {"type": "primary_key", "columns": ["order_id", "line"]},
        {"type": "foreign_key", "columns": ["c"], "to": "ref('customers')", "to_columns": ["id"]},
        {"type": "foreign_key", "columns": ["d"], "to": '"db"."x"."days"', "to_columns": ["day"]},
        {"type": "foreign_key", "columns": ["e"], "expression": "other (id)"},
    ]
    node = model("m", columns=columns, constraints=constraints)
    node["config"]["contract"] = {"enforced": enforced}
    return read(nodes={"model.shop.m": node})


def test_an_enforced_contract_declares_keys() -> None:
    declared = contracted(enforced=True)
    (table,) = declared.catalog
    assert [(k.columns, k.kind, k.null_distinct) for k in table.keys] == [
        (("order_id", "line"), "primary", False),
        (("number",), "unique", True),
    ]
    keys = [(key.columns, key.target_schema, key.target) for key in table.foreign_keys]
    assert keys == [(("c",), "core", "customers"), (("d",), "x", "days")]
    assert declared.problems == ("m: a foreign_key constraint without `to`, left out",)


def test_a_contract_that_is_not_enforced_declares_nothing() -> None:
    assert contracted(enforced=False).catalog.tables == ()


def test_an_old_manifest_is_an_error() -> None:
    old = {"metadata": {"dbt_schema_version": "https://x/manifest/v4.json"}, "nodes": {}}
    with pytest.raises(InputError, match=r"of version 4, 7 is the oldest read \(run dbt parse"):
        read_manifest(old, "manifest.json")


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, {"nodes": 1}])
def test_odd_nodes_are_passed_over(odd: Any) -> None:
    declared = read(nodes={"x": odd, "y": {"resource_type": "test", "test_metadata": odd}})
    assert declared.catalog.tables == ()
    nodes = {"m": {"resource_type": "model", "config": odd, "columns": odd, "constraints": odd}}
    assert read_manifest({"nodes": nodes, "sources": odd, "disabled": odd}, "f").problems == ()


def test_descriptions_are_taken_along() -> None:
    columns = {
        "id": {"name": "id", "description": "order number"},
        "who": {"name": "who", "description": "customer"},
        "day": {"name": "day"},
    }
    node = model("orders", description="what was bought", columns=columns)
    found = only(read(check("unique", {"column_name": "id"}), nodes={"model.shop.orders": node}))
    assert found.description == "what was bought"
    assert [(c.name, c.description) for c in found.columns] == [
        ("id", "order number"),
        ("who", "customer"),
    ]
