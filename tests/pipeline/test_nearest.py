"""Schemas that are too long even at their plainest."""

from typing import Any

import pytest
from tests.conftest import OpenDatabase

from modularsql import Guard, Settings
from modularsql.errors import ModelError
from modularsql.llm.script import ScriptedModel
from modularsql.pipeline.closure import closed, whole
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.nearest import fitted
from modularsql.pipeline.prompting import tokens
from modularsql.pipeline.run import ask
from modularsql.pipeline.state import State

from .conftest import by_stage

BUDGET = 1_000
FAR = "".join(
    f"CREATE TABLE archive_{i}(id INTEGER PRIMARY KEY, payload_{i} TEXT, "
    f"parent INTEGER REFERENCES archive_{i // 2}(id));"
    for i in range(120)
)
NEAR = "CREATE TABLE invoice(id INTEGER PRIMARY KEY, amount REAL, customer TEXT);"
QUESTION = "What is the amount of all invoices?"


@pytest.fixture
def long_schema(open_database: OpenDatabase) -> Any:
    return open_database("sqlite", FAR + NEAR)


def test_columns_of_the_farthest_tables_are_left_out_and_no_name(long_schema: Any) -> None:
    catalog = long_schema.catalog()
    shown = fitted(whole(catalog, ""), catalog, {}, State(question=QUESTION), BUDGET)
    assert BUDGET * 0.9 < tokens(shown.text) <= BUDGET
    assert "invoice" not in shown.bare
    assert 0 < len(shown.bare) < 121
    lines = shown.text.splitlines()
    assert "  amount" in lines
    assert all(f"table {table.name}" in lines for table in catalog)
    assert lines[-1] == f"(of {len(shown.bare)} tables only the name is shown)"
    assert f"the columns of {len(shown.bare)} tables" in str(shown.lacks)


def test_a_value_that_was_found_brings_its_table_near(long_schema: Any) -> None:
    catalog = long_schema.catalog()
    examples = {("archive_119", "payload_119"): ("Hagen",)}
    for known, bare in (({}, True), (examples, False)):
        shown = fitted(whole(catalog, ""), catalog, known, State(question=QUESTION), BUDGET)
        assert ("archive_119" in shown.bare) == bare


def test_no_column_that_was_linked_is_left_out(long_schema: Any) -> None:
    catalog = long_schema.catalog()
    linked = closed({(f"archive_{i}", "parent"): ("draft",) for i in range(120)}, catalog)
    shown = fitted(linked, catalog, {}, State(question=QUESTION), BUDGET)
    assert shown.bare == frozenset()
    assert shown.text.count("parent") >= 120


def asked(long_schema: Any, settings: Settings, said: dict[str, Any]) -> State:
    deps = Deps(
        model=ScriptedModel(by_stage(said)),
        engine=long_schema,
        guard=Guard(long_schema, "grain", settings),
        catalog=long_schema.catalog(),
        settings=settings,
    )
    return ask(QUESTION, deps).state


def test_a_table_linked_by_its_name_alone_gets_all_its_columns(long_schema: Any) -> None:
    said = {"linking.direct": '{"archive_119": [], "invoice": []}', "": "SELECT 1"}
    linked = asked(long_schema, Settings(full_schema_tokens=BUDGET), said).linked
    assert linked.columns["archive_119"] == ("id", "payload_119", "parent")
    assert linked.columns["invoice"] == ("id",), "its columns were shown, and none was wanted"


@pytest.mark.parametrize(
    ("linking", "most"), [("{}", 3_000), (ModelError("too long"), BUDGET)], ids=["found", "failed"]
)
def test_the_whole_schema_stands_in_as_long_as_it_was_unless_that_was_too_long(
    long_schema: Any, linking: Any, most: int
) -> None:
    settings = Settings(full_schema_tokens=3_000, schema_tokens=BUDGET)
    state = asked(long_schema, settings, {"linking": linking, "": "SELECT 1"})
    assert state.linked.whole
    assert most * 0.5 < tokens(state.schema) <= most
    assert ("payload_119" in state.schema) == (most > BUDGET)
