"""What `guard` takes: SQL in all the states it arrives in, parameters, settings."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def answer(run: Run, *arguments: object, **more: Any) -> dict[str, Any]:
    """The object that `guard` prints, of whatever verdict."""
    ran = run("guard", *arguments, "--format", "json", **more)
    assert ran.stderr == ""
    printed: dict[str, Any] = json.loads(ran.stdout)
    assert "error" not in printed
    return printed


def refusal(run: Run, *arguments: object, **more: Any) -> str:
    """The one line of a call that could not start."""
    ran = run("guard", *arguments, **more)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("modularsql: ")
    assert ran.stderr.count("\n") == 1
    assert "bug" not in ran.stderr
    return str(ran.stderr)


SQL = "SELECT name, 'é' AS e FROM customer WHERE id = 1"


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a mark"])
def test_sql_is_read_from_standard_input_and_from_a_file(
    run: Run, shop: Path, tmp_path: Path, mark: bytes
) -> None:
    file = tmp_path / "query.sql"
    file.write_bytes(mark + SQL.encode())
    for printed in (
        answer(run, shop, "-", stdin=file.read_bytes()),
        answer(run, shop, f"@{file}"),
    ):
        assert (printed["sql"], printed["rows"]) == (SQL, [["Ann", "é"]])


def test_line_ends_of_a_file_are_kept_as_they_are(run: Run, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "query.sql").write_bytes(b"SELECT 1\r\nAS a\r\n")
    assert answer(run, shop, "@query.sql")["final_sql"] == "SELECT 1\r\nAS a\r\n"


def test_sql_that_is_not_utf8_is_refused_wherever_it_comes_from(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "query.sql").write_bytes(b"SELECT 'caf\xe9'")
    assert "query.sql is not UTF-8 text (byte 11)" in refusal(run, shop, "@query.sql")
    assert "standard input is not UTF-8" in refusal(run, shop, "-", stdin=b"SELECT '\xff'")
    assert "the SQL is not UTF-8" in refusal(run, shop, "SELECT '\udcff'")


def test_a_file_of_sql_that_cannot_be_read_is_named(run: Run, shop: Path, tmp_path: Path) -> None:
    assert "from none.sql: No such file or directory" in refusal(run, shop, "@none.sql")
    assert f"from {tmp_path}: Is a directory" in refusal(run, shop, f"@{tmp_path}")
    assert "cannot read the SQL" in refusal(run, shop, "@")


def test_a_file_in_the_place_of_sql_is_told_from_sql(run: Run, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "query.sql").write_text("SELECT 1")
    said = "query.sql is a file, not SQL (write @query.sql"
    assert said in refusal(run, shop, "query.sql")
    ran = run("check", "query.sql", "--schema", "query.sql")
    assert (ran.returncode, said in ran.stderr) == (2, True)
    said = refusal(run, "SELECT 1", shop)
    assert f"{shop} is a database, not SQL (the database comes first" in said


def test_sql_without_quotes_is_no_query_of_its_first_word(run: Run, shop: Path) -> None:
    said = refusal(run, shop, "SELECT", "name", "FROM", "customer", "--fix", "-- all of them")
    assert "SQL is one argument, and more follows: name FROM customer -- all of them." in said
    assert "quotes" in said


def test_input_without_an_end_is_not_read_to_its_end(
    run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modularsql.service.guarding._LONGEST_SQL", 20)
    assert "more than 20 bytes" in refusal(run, shop, "-", stdin=b"x" * 21)
    assert "more than 20 bytes" in refusal(run, shop, "@/dev/zero")


@pytest.mark.parametrize("sql", ["-- why\nSELECT 1 AS a", "--why\nSELECT 1 AS a", "-- a = 1"])
def test_sql_may_begin_with_a_dash(run: Run, shop: Path, sql: str) -> None:
    assert answer(run, shop, sql, "--timeout", "9", "--question=x")["sql"] == sql


@pytest.mark.parametrize(
    ("sql", "verdict", "rule"),
    [
        ("", "annotate", "no_sql"),
        (" \n\t", "annotate", "no_sql"),
        ("-- nothing", "annotate", "no_sql"),
        (";", "annotate", "no_sql"),
        ("I cannot answer that.", "annotate", "no_sql"),
        ("SELECT 1; SELECT 2", "refuse", "multi_statement"),
        ("Sure! Here it is:\nSELECT name FROM customer", "annotate", "sql_extracted"),
        ("Sure:\n```sql\nSELECT name FROM customer;\n```\nDone.", "annotate", "sql_extracted"),
        ("SELECT 1\0", "annotate", "no_sql"),
        (f"SELECT {'(' * 3000}1{')' * 3000}", "annotate", "exec_error"),
        (f"SELECT {'+'.join(['1'] * 3000)}", "annotate", "exec_error"),
        (f"SELECT '{'x' * 2**20}'", "refuse", "refused"),
        (f"SELECT name FROM customer -- {'x' * 900_000}", "undecided", "unparsed"),
        ("SELECT " + ", ".join(["1"] * 3000), "annotate", "exec_error"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_odd_sql_is_answered_and_leaves_nothing_behind(
    run: Run, shop: Path, sql: str, verdict: str, rule: str
) -> None:
    before = shop.read_bytes()
    printed = answer(run, shop, "-", stdin=sql.encode())
    assert (printed["verdict"], printed["sql"]) == (verdict, sql)
    assert rule in [finding["rule"] for finding in printed["findings"]]
    ran = run("guard", shop, "-", stdin=sql.encode())
    assert ran.stderr == ""
    assert ran.returncode == (0 if rule in ("sql_extracted", "unparsed") else 1)
    assert max(map(len, ran.stdout.splitlines())) < 1_000_000 + 100
    assert shop.read_bytes() == before
    assert list(shop.parent.iterdir()) == [shop]


def test_sql_taken_out_of_prose_is_shown_as_it_ran(run: Run, shop: Path) -> None:
    ran = run("guard", shop, "Here:\n```sql\nSELECT name\nFROM customer\n```")
    assert "\nwhat ran:\n    SELECT name\n    FROM customer\n" in ran.stdout


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("5", 5),
        ("-2.5", -2.5),
        ("true", 1),
        ("null", None),
        ('"5"', "5"),
        ("Ann", "Ann"),
        ("a=b", "a=b"),
        ("", ""),
        ("007", "007"),
        ("NaN", "NaN"),
        ("1e999", "1e999"),
        ("[1]", "[1]"),
        ('{"a": 1}', '{"a": 1}'),
        ("[" * 100_000, "[" * 100_000),
        ("-- x", "-- x"),
    ],
    ids=lambda value: str(value)[:9],
)
def test_a_parameter_has_the_type_that_its_text_has_in_json(
    run: Run, shop: Path, value: str, cell: Any
) -> None:
    for sql, name in (("SELECT ?", "1"), ("SELECT :a", "a"), ("SELECT $a", "$a")):
        assert answer(run, shop, sql, "--param", f"{name}={value}")["rows"] == [[cell]]


def test_parameters_by_position_may_come_in_any_order(run: Run, shop: Path) -> None:
    given = [part for at in range(11, 0, -1) for part in ("--param", f"{at}={at}")]
    marks = ", ".join("?" * 11)
    assert answer(run, shop, f"SELECT {marks}", *given)["rows"] == [list(range(1, 12))]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["id"], "--param 'id' is not NAME=VALUE"),
        (["=5"], "--param '=5' is not NAME=VALUE"),
        ([":=5"], "is not NAME=VALUE"),
        (["a=1", ":a=2"], "--param gives a twice"),
        (["1=1", "3=3"], "--param positions are 1, 3 (number them 1 to 2"),
        (["0=1"], "number them 1 to 1"),
        (["1=1", "a=2"], "mix no names in"),
    ],
)
def test_parameters_that_do_not_fit_together_are_refused(
    run: Run, shop: Path, given: list[str], said: str
) -> None:
    options = [part for pair in given for part in ("--param", pair)]
    assert said in refusal(run, shop, "SELECT ?", *options)


def test_a_query_with_unbound_parameters_is_not_run(run: Run, shop: Path) -> None:
    for sql, given in (("SELECT ?", []), ("SELECT ?, ?", ["--param", "1=1"])):
        printed = answer(run, shop, sql, *given)
        assert (printed["verdict"], printed["probe"], printed["rows"]) == ("undecided", None, [])
        assert "it has parameters without values" in printed["findings"][0]["message"]


def test_parameters_without_values_are_named(run: Run, shop: Path) -> None:
    for sql, given, lacking in (
        ("SELECT :id, :name", ["id=1"], "(name)"),
        ("SELECT :id, :name", ["ix=1", "name=2"], "(id)"),
        ("SELECT ?, ?, ?", ["1=1"], "(2, 3)"),
    ):
        options = [part for pair in given for part in ("--param", pair)]
        message = answer(run, shop, sql, *options)["findings"][0]["message"]
        assert f"parameters without values {lacking}; give each" in message


def test_a_name_is_no_value_for_a_question_mark(run: Run, shop: Path) -> None:
    printed = answer(run, shop, "SELECT ?", "--param", "id=1")
    assert (printed["verdict"], printed["findings"][0]["rule"]) == ("undecided", "not_executed")


def test_a_value_for_no_parameter_is_named(run: Run, shop: Path) -> None:
    sql = "SELECT name FROM customer WHERE id = :id"
    for given, said in ((["id=1", "ix=2"], "no parameter ix"), (["1=1", "2=2"], "no parameter 2")):
        options = [part for pair in given for part in ("--param", pair)]
        printed = answer(run, shop, sql, *options)
        assert (printed["verdict"], printed["probe"], printed["rows"]) == ("undecided", None, [])
        assert said in printed["findings"][0]["message"]


def test_an_unknown_rule_cannot_be_allowed(run: Run, shop: Path) -> None:
    assert "no rule (nearest: fan_out_sum" in refusal(
        run, shop, "SELECT 1", "--allow", "fanout_sum"
    )
    printed = answer(run, shop, "-- modularsql: allow fanout_sum\nSELECT 1")
    assert printed["verdict"] == "pass"
    (note,) = printed["notes"]
    assert "allow fanout_sum silences nothing" in note
    assert "nearest: fan_out_sum" in note


def test_allowing_the_cause_of_copies_allows_the_copies(run: Run, shop: Path) -> None:
    sql = "SELECT c.name FROM customer c JOIN orders o ON o.customer = c.id"
    assert {f["rule"] for f in answer(run, shop, sql)["findings"]} >= {
        "fan_out_rows",
        "duplicate_rows",
    }
    assert answer(run, shop, sql, "--allow", "fan_out_rows")["findings"] == []
    noted = answer(run, shop, f"-- modularsql: allow fan_out_rows\n{sql}")
    assert (noted["verdict"], noted["findings"]) == ("pass", [])


def test_an_allowed_rule_is_silent_and_others_are_not(run: Run, shop: Path) -> None:
    sql = "SELECT 1 WHERE 0"
    assert answer(run, shop, sql, "--allow", "empty_result")["findings"] == []
    assert answer(run, shop, sql, "--allow", "row_explosion")["findings"] != []


def test_the_question_is_kept_with_the_answer(run: Run, shop: Path) -> None:
    assert answer(run, shop, "SELECT 1", "--question", "Wer?")["question"] == "Wer?"


def test_a_flag_wins_over_the_environment_and_that_over_the_file(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    def kept(*options: str, **environ: str) -> int:
        return len(answer(run, shop, "SELECT id FROM orders", *options, **environ)["rows"])

    assert kept() == 11
    (tmp_path / "pyproject.toml").write_text("[tool.modularsql]\nmax_rows = 8\n")
    assert kept() == 8
    (tmp_path / "modularsql.toml").write_text("max_rows = 7\n")
    assert kept() == 7
    (tmp_path / "other.toml").write_text("max_rows = 6\n")
    assert kept("--config", "other.toml") == 6
    assert kept("--config", "other.toml", MODULARSQL_MAX_ROWS="5") == 5
    assert kept("--config", "other.toml", "--max-rows", "4", MODULARSQL_MAX_ROWS="5") == 4


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("max_row = 5", "modularsql.toml: max_row is no setting (nearest: max_rows"),
        ("max_rows = 'many'", "modularsql.toml: max_rows must be a whole number, not 'many'"),
        ("max_rows = ", "cannot read settings from modularsql.toml: Invalid value"),
        ("fail_on = 'info'", "fail_on must be one of warning, error, never, not 'info'"),
        ("policy = 'best'", "unknown policy 'best' (known: "),
    ],
)
def test_a_wrong_settings_file_is_refused_by_name(
    run: Run, shop: Path, tmp_path: Path, toml: str, said: str
) -> None:
    (tmp_path / "modularsql.toml").write_text(toml)
    assert said in refusal(run, shop, "SELECT 1")


def test_a_wrong_variable_is_refused_by_name(run: Run, shop: Path) -> None:
    said = refusal(run, shop, "SELECT 1", MODULARSQL_TIMOUT="5")
    assert "MODULARSQL_TIMOUT is no setting (nearest: timeout" in said
    said = refusal(run, shop, "SELECT 1", MODULARSQL_QQQ="5")
    assert "MODULARSQL_QQQ is no setting (all settings: docs/settings.md)" in said
    said = refusal(run, shop, "SELECT 1", MODULARSQL_TIMEOUT="soon")
    assert "MODULARSQL_TIMEOUT must be a number, not 'soon'" in said


def test_a_settings_file_that_is_not_there_is_refused(run: Run, shop: Path) -> None:
    said = refusal(run, shop, "SELECT 1", "--config", "none.toml")
    assert "cannot read settings from none.toml: No such file or directory" in said
