"""What the commands print under `--format json` is what their schemas say, to the key."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator, ValidationError

from modularsql.cli.schema import NAMES
from modularsql.guard.probe import OUTVOTED, TRIGGERS
from modularsql.records import RescueOutcome

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def schema(run: Run) -> Callable[[str], dict[str, Any]]:
    """A schema as `modularsql schema` prints it."""

    def printed(name: str) -> dict[str, Any]:
        ran = run("schema", name)
        assert (ran.returncode, ran.stderr) == (0, "")
        found: dict[str, Any] = json.loads(ran.stdout)
        return found

    return printed


Schema = Callable[[str], dict[str, Any]]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_valid_described_and_closed(schema: Schema, name: str) -> None:
    found = schema(name)
    Draft202012Validator.check_schema(found)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert found["properties"]["schema_version"]["const"] == 1
    for part in (found, *found.get("$defs", {}).values()):
        assert part["description"]
        if "properties" in part:
            assert part["additionalProperties"] is False
            assert set(part["required"]) == set(part["properties"])
            for key, value in part["properties"].items():
                assert "$ref" in value or value["description"], key


@pytest.mark.parametrize("name", ["guard", "check", "ask"])
def test_a_schema_lists_all_ways_a_rescue_begins_and_ends(schema: Schema, name: str) -> None:
    rescue = schema(name)["$defs"]["rescue"]["properties"]
    assert set(rescue["outcome"]["enum"]) == set(get_args(RescueOutcome))
    assert set(rescue["trigger"]["enum"]) == {*TRIGGERS.values(), OUTVOTED}


EXAMPLE = {
    "sql": 0,
    "final_sql": 0,
    "verdict": 0,
    "dialect": 0,
    "findings": "rule severity evidence message line column tables cause measured repairs",
    "applied": 0,
    "probe": "status states rows distinct_rows dup_ratio error",
    "columns": 0,
    "rows": 0,
    "truncated": 0,
    "timing_ms": "parse analyse execute probe repair rescue",
    "cost": "llm_calls prompt_tokens completion_tokens cached_tokens usd",
}
"""The keys of the example in the contract (docs/interfaces.md)."""

ADDED = {"schema_version", "question", "notes", "rescue"}
COPIES = "SELECT c.name FROM customer c JOIN orders o ON o.customer = c.id"


def test_a_guarded_query_has_the_keys_of_the_contract_and_our_additions(
    run: Run, shop: Path
) -> None:
    printed = json.loads(run("guard", shop, COPIES, "--fix", "--format", "json").stdout)
    assert set(printed) == set(EXAMPLE) | ADDED
    assert len(printed["findings"]) == 2
    for finding in printed["findings"]:
        assert " ".join(finding) == EXAMPLE["findings"]
        assert set(finding["repairs"][0]) == {"name", "safety", "sql"}
    assert set(printed["probe"]) == {
        *str(EXAMPLE["probe"]).split(),
        "pushed_down",
        "distinct_error",
    }
    assert set(printed["timing_ms"]) == {*str(EXAMPLE["timing_ms"]).split(), "evidence"}
    assert " ".join(printed["cost"]) == EXAMPLE["cost"]


@pytest.mark.parametrize("policy", ["grain", "paper"])
@pytest.mark.parametrize(
    ("sql", "options"),
    [
        (COPIES, []),
        (COPIES, ["--fix", "--question", "who?"]),
        (f"{COPIES} LIMIT 10", ["--fix"]),
        ("SELECT DISTINCT name FROM customer", ["--fix"]),
        ("SELECT a.id FROM orders a, orders b, orders c", ["--max-rows", "5"]),
        ("SELECT 1, 2.5, 'a', x'00', NULL, 1e999, CAST(x'ff' AS TEXT)", []),
        ("SELECT 1 WHERE 0", []),
        ("SELECT 1 AS a, 2 AS a", []),
        ("SELECT nope", []),
        ("SELECT", []),
        ("", []),
        ("SELECT 1; SELECT 2", []),
        ("DROP TABLE orders", []),
        ("SELECT ?", []),
        ("SELECT 1", ["--no-execute"]),
        ("Sure:\n```\nSELECT 1\n```", []),
        ("SELECT '\x1b\u2028\U0001f600'", []),
        (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n",
            ["--timeout", "0.1"],
        ),
    ],
)
def test_every_answer_of_guard_follows_its_schema(
    run: Run, shop: Path, schema: Schema, sql: str, options: list[str], policy: str
) -> None:
    options = [*options, "--policy", policy, "--format", "json"]
    ran = run("guard", shop, "-", *options, stdin=sql.encode())
    assert ran.stdout.count("\n") == 1
    printed = json.loads(ran.stdout, parse_constant=lambda name: pytest.fail(name))
    Draft202012Validator(schema("guard")).validate(printed)


def test_every_scene_of_the_demo_follows_the_schema_of_guard(run: Run, schema: Schema) -> None:
    scenes = json.loads(run("demo", "--format", "json").stdout)
    assert len(scenes) > 3
    for scene in scenes:
        Draft202012Validator(schema("guard")).validate(scene)


@pytest.mark.parametrize(
    "arguments",
    [
        ["guard", "none.sqlite", "SELECT 1"],
        ["guard", "none.sqlite"],
        ["guard", "postgresql://host/x", "SELECT 1"],
        ["repair", "none.json", "--pred", "p", "--db-root", ".", "--out", "o"],
        ["check", "SELECT 1", "--schema", "none.sql"],
        ["check", "SELECT 1"],
        ["rules", "show", "none"],
        ["demo", "--copy", "none"],
        ["none"],
    ],
)
def test_every_error_follows_its_schema(run: Run, schema: Schema, arguments: list[str]) -> None:
    ran = run(*arguments, "--format", "json")
    assert (ran.returncode, ran.stderr) == (2, "")
    Draft202012Validator(schema("error")).validate(json.loads(ran.stdout))


def test_a_summary_of_repair_follows_its_schema(
    run: Run, shop: Path, schema: Schema, tmp_path: Path
) -> None:
    (tmp_path / "set.jsonl").write_text('{"id": 1, "db": "shop"}\n{"id": 2, "db": "gone"}\n')
    (tmp_path / "pred.json").write_text(json.dumps({"1": COPIES, "2": "SELECT 1"}))
    files = ["--pred", "pred.json", "--db-root", ".", "--out", "out.json"]
    ran = run("repair", "set.jsonl", *files, "--format", "json")
    assert (ran.returncode, ran.stderr) == (0, "")
    printed = json.loads(ran.stdout)
    Draft202012Validator(schema("repair")).validate(printed)
    assert printed["changes"] == {"1": ["semi_join"]}
    assert printed["missing_databases"] == ["gone"]


def test_the_schema_of_check_is_the_one_of_guard_without_a_run(schema: Schema) -> None:
    def bare(value: Any) -> Any:
        """Without descriptions, which tell the two apart."""
        if isinstance(value, dict):
            return {k: bare(v) for k, v in value.items() if not isinstance(v, str)}
        return value

    wanted, found = bare(schema("guard")), bare(schema("check"))
    for name in ("probe", "rows", "columns"):
        del wanted["properties"][name]
        wanted["required"].remove(name)
    del wanted["$defs"]["probe"]
    wanted["properties"]["verdict"]["enum"].remove("repair")
    assert found == wanted


def test_a_schema_refuses_a_key_that_it_does_not_know(run: Run, shop: Path, schema: Schema) -> None:
    printed = json.loads(run("guard", shop, "SELECT 1", "--format", "json").stdout)
    with pytest.raises(ValidationError):
        Draft202012Validator(schema("guard")).validate({**printed, "more": 1})
    with pytest.raises(ValidationError):
        Draft202012Validator(schema("guard")).validate({**printed, "schema_version": 2})
