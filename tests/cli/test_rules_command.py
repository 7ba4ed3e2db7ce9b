"""`modularsql rules`: every rule in one line, or one with its page."""

import json
import re
import subprocess
from collections.abc import Callable
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from modularsql.config import SETTINGS
from modularsql.guard.findings import RUNTIME_RULES
from modularsql.multiplicity.registry import rules

Run = Callable[..., "subprocess.CompletedProcess[str]"]

MEASURED = {"removed_by", "near_values"}
"""What the pages name besides settings."""
NAMES = [*rules(), *RUNTIME_RULES]


def test_every_rule_is_listed_with_one_line(run: Run) -> None:
    ran = run("rules")
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    for line in lines:
        name, what = line.split(maxsplit=1)
        assert what[0].isupper(), name
        assert what.endswith("."), name
        assert line.isprintable()
    assert len({line.index(line.split(maxsplit=1)[1]) for line in lines}) == 1, "one column"


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_is_shown_with_its_page(run: Run, name: str) -> None:
    ran = run("rules", "show", name)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"# {name}\n")
    assert ran.stdout.endswith("\n")


def test_what_is_seen_at_run_time_has_a_page_of_its_own_too() -> None:
    text = files("modularsql.guard").joinpath("runtime_rules.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)$", text, re.MULTILINE) == list(RUNTIME_RULES)
    assert set(re.findall(r"`([a-z]+_[a-z_]+)`", text)) - SETTINGS.keys() <= MEASURED


def test_a_page_of_a_static_rule_has_cases(run: Run) -> None:
    page = run("rules", "show", "fan_out_sum").stdout
    assert page.count("\n## ") >= 2
    assert "```sql" in page


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("fanout_sum", "nearest: fan_out_sum, "),
        ("duplicate_row", "nearest: duplicate_rows"),
        ("zzz", "see modularsql rules"),
        ("\x1b[2J", "see modularsql rules"),
        ("", "needs the name of a rule"),
    ],
)
def test_an_unknown_rule_is_one_line_with_the_nearest_names(run: Run, name: str, near: str) -> None:
    ran = run("rules", "show", name)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert near in ran.stderr
    assert ran.stderr.rstrip("\n").isprintable()


def test_a_name_without_show_is_answered_with_the_right_call(run: Run) -> None:
    ran = run("rules", "chasm")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "(write modularsql rules show chasm)" in ran.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("shwo", "fan_out_sum"), "write modularsql rules show fan_out_sum"),
        (("shwo", "fan_out_smu"), "nearest: fan_out_sum"),
        (("fanoutsum",), "nearest: fan_out_sum"),
        (("show", "semi_jion"), "nearest: semi_join"),
    ],
)
def test_a_misspelled_call_is_answered_with_what_was_meant(
    run: Run, words: tuple[str, ...], hint: str
) -> None:
    ran = run("rules", *words)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert hint in ran.stderr


def test_show_without_a_name_is_refused(run: Run) -> None:
    ran = run("rules", "show")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "rules show needs the name of a rule" in ran.stderr


def test_in_json_rules_have_name_summary_and_page(run: Run) -> None:
    schema = json.loads(run("schema", "rules").stdout)
    whole = json.loads(run("rules", "--format", "json").stdout)
    Draft202012Validator(schema).validate(whole)
    assert whole["schema_version"] == 1
    every = whole["rules"]
    assert [rule["name"] for rule in every] == NAMES
    assert all(set(rule) == {"name", "summary", "page"} for rule in every)
    alone = json.loads(run("rules", "show", "chasm", "--format", "json").stdout)
    Draft202012Validator(schema).validate(alone)
    (one,) = alone["rules"]
    assert one in every
    assert one["page"] == run("rules", "show", "chasm").stdout
    ran = run("rules", "show", "chsm", "--format", "json")
    error = json.loads(ran.stdout)["error"]
    assert (ran.returncode, error["kind"]) == (2, "not_found")
    assert "chasm" in error["hint"]
