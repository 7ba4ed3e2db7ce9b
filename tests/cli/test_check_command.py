"""`modularsql check`: what a schema file alone says of a query, and with which exit status."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

from modularsql.cli.check import command
from modularsql.service.checking import DIALECTS

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SCHEMA = """
CREATE TABLE bill (id INTEGER PRIMARY KEY, amount INTEGER, paid DATE);
CREATE TABLE payment (id INTEGER PRIMARY KEY, bill INTEGER REFERENCES bill (id));
CREATE TABLE rate (day DATE, euro INTEGER);
"""
TOTAL = "SELECT SUM(b.amount) FROM bill b\nJOIN payment p ON p.bill = b.id"
RATED = "SELECT SUM(b.amount) FROM bill b JOIN rate r ON r.day = b.paid"
FINE = "SELECT b.id, b.amount FROM bill b"


@pytest.fixture
def check(run: Run, tmp_path: Path) -> Run:
    """`check SQL …` against the schema above."""
    (tmp_path / "schema.sql").write_text(SCHEMA)

    def call(sql: str, *options: object, **more: Any) -> "subprocess.CompletedProcess[str]":
        ran: subprocess.CompletedProcess[str] = run(
            "check", sql, "--schema", "schema.sql", *options, **more
        )
        return ran

    return call


def in_json(check: Run, sql: str, *options: object, **more: Any) -> dict[str, Any]:
    ran = check(sql, *options, "--format", "json", **more)
    assert ran.stderr == ""
    printed: dict[str, Any] = json.loads(ran.stdout)
    assert "error" not in printed
    return printed


def rules(check: Run, sql: str, *options: object, **more: Any) -> list[tuple[str, str]]:
    found = in_json(check, sql, *options, **more)["findings"]
    return [(finding["rule"], finding["severity"]) for finding in found]


def refusal(run: Run, *arguments: object, **more: Any) -> str:
    """The one line of a call that could not start."""
    ran = run("check", *arguments, **more)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "bug" not in ran.stderr
    return str(ran.stderr)


@pytest.mark.parametrize(
    ("sql", "options", "verdict", "status"),
    [
        (FINE, [], "pass", 0),
        (TOTAL, [], "annotate", 1),
        (TOTAL, ["--fail-on", "error"], "annotate", 1),
        (TOTAL, ["--fail-on", "never"], "annotate", 0),
        (TOTAL, ["--allow", "fan_out_sum"], "pass", 0),
        (TOTAL, ["--allow", "chasm"], "annotate", 1),
        (f"-- modularsql: allow fan_out_sum\n{TOTAL}", [], "pass", 0),
        (RATED, [], "annotate", 0),
        ("SELECT nope FROM bill", [], "annotate", 1),
        ("SELECT nope FROM bill", ["--fail-on", "never"], "annotate", 0),
        ("SELECT nope FROM bill", ["--allow", "unknown_column"], "undecided", 0),
        ("SELECT 1 FROM nowhere", [], "annotate", 1),
        ("SELECT", [], "annotate", 1),
        ("SELECT amount FRM bill b", [], "annotate", 1),
        ("SELECT amount FRM bill b", ["--fail-on", "never"], "annotate", 1),
        ("SELECT 1 FROM bill WHERE amount ISNULL COLLATE x", [], "undecided", 0),
        ("DELETE FROM bill", [], "undecided", 0),
        ("", [], "annotate", 1),
        ("", ["--fail-on", "never"], "annotate", 1),
        ("-- nothing", [], "annotate", 1),
        ("", ["--allow", "no_sql"], "annotate", 1),
        ("SELECT 1; SELECT 2", [], "refuse", 1),
        ("SELECT 1; SELECT 2", ["--fail-on", "never"], "refuse", 1),
    ],
)
def test_verdict_and_exit_status_are_the_same_in_both_formats(
    check: Run, schema: dict[str, Any], sql: str, options: list[str], verdict: str, status: int
) -> None:
    ran = check(sql, *options, "--format", "json")
    printed = json.loads(ran.stdout)
    assert (printed["verdict"], ran.returncode, ran.stderr) == (verdict, status, "")
    Draft202012Validator(schema).validate(printed)
    ran = check(sql, *options)
    assert (ran.stdout.split()[0], ran.returncode, ran.stderr) == (verdict.upper(), status, "")


@pytest.fixture
def schema(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("schema", "check").stdout)
    return found


def test_the_object_is_that_of_guard_without_what_a_run_tells(
    run: Run, check: Run, shop: Path
) -> None:
    guarded = json.loads(run("guard", shop, "SELECT 1", "--format", "json").stdout)
    printed = in_json(check, TOTAL)
    assert list(printed) == [k for k in guarded if k not in ("probe", "rows", "columns")]
    assert set(printed["timing_ms"]) == set(guarded["timing_ms"])
    assert printed["timing_ms"]["analyse"] > 0 == printed["timing_ms"]["execute"]
    assert (printed["sql"], printed["final_sql"], printed["applied"]) == (TOTAL, TOTAL, [])
    (finding,) = printed["findings"]
    assert (finding["rule"], finding["severity"]) == ("fan_out_sum", "error")
    assert (finding["evidence"], finding["measured"], finding["repairs"]) == ("enforced", {}, [])
    assert finding["tables"] == ["bill", "payment"]
    assert finding["cause"] == "JOIN payment p ON p.bill = b.id"


def test_text_is_the_verdict_and_the_findings(check: Run) -> None:
    verdict, rule, message = check(TOTAL).stdout.splitlines()
    assert verdict == "ANNOTATE  1 error"
    assert rule == "error fan_out_sum  line 1, column 8"
    assert message.startswith("  SUM(b.amount) adds a row of bill once for each row of payment")
    assert check(FINE).stdout == "PASS  nothing found\n"


def test_what_only_the_data_can_tell_is_a_question(check: Run) -> None:
    (finding,) = in_json(check, RATED)["findings"]
    assert (finding["rule"], finding["severity"]) == ("fan_out_sum", "info")
    assert finding["evidence"] == "assumed"
    assert "may add" in finding["message"]


def test_a_key_file_settles_what_the_schema_leaves_open(check: Run, tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text('[tables.rate]\nprimary_key = ["day"]\n')
    assert rules(check, RATED) == [("fan_out_sum", "info")]
    assert in_json(check, RATED, "--keys", "keys.toml")["verdict"] == "pass"


def test_what_a_key_file_says_of_unknown_tables_is_noted(check: Run, tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text('[tables.bil]\nprimary_key = ["id"]\n')
    (note,) = in_json(check, FINE, "--keys", "keys.toml")["notes"]
    assert "no such table in schema.sql; did you mean bill?" in note
    assert note.startswith("bil: no such table")
    assert "did you mean bill?" in note


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "keys.toml is empty"),
        ("[tables.rate\n", "keys.toml is no TOML"),
        ("CREATE TABLE t(a)", "keys.toml is SQL, no key file"),
        ('[tables.rate]\nkey = ["day"]\n', "keys.toml: tables.rate"),
    ],
)
def test_a_key_file_that_cannot_be_used_is_named(
    run: Run, check: Run, tmp_path: Path, content: str, said: str
) -> None:
    (tmp_path / "keys.toml").write_text(content)
    given = [FINE, "--schema", "schema.sql", "--keys"]
    assert said in refusal(run, *given, "keys.toml")
    assert "no file at none.toml" in refusal(run, *given, "none.toml")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "creates no table"),
        (b"name,price\ntea,3\n", "creates no table that can be read as sqlite"),
        (b"SELECT 1;", "creates no table"),
        (b"SQLite format 3\0" + b"\0" * 80, "is a SQLite database, not text (write its schema out"),
        (b"PGDMP\1\2", "is a binary dump, not text"),
        (b"\x1f\x8b\x08", "is compressed, not text"),
        (bytes(range(256)), "creates no table"),
    ],
)
def test_a_schema_file_that_holds_no_table_is_named(
    run: Run, tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "odd.sql").write_bytes(content)
    line = refusal(run, FINE, "--schema", "odd.sql")
    assert f"odd.sql {said}" in line
    assert line.rstrip("\n").isprintable()


def test_a_schema_that_is_missing_or_a_folder_is_named(run: Run, tmp_path: Path) -> None:
    assert "no file at none.sql" in refusal(run, FINE, "--schema", "none.sql")
    assert f"{tmp_path} is a folder" in refusal(run, FINE, "--schema", tmp_path)
    assert "Missing option '--schema'" in refusal(run, FINE)
    ran = run("check", FINE, "--schema", "none.sql", "--format", "json")
    assert json.loads(ran.stdout)["error"]["kind"] == "not_found"


def test_the_dialect_is_that_of_query_and_schema(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pg.sql").write_text(
        "CREATE TABLE public.bill (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int);\n"
        "CREATE TABLE public.payment (bill bigint);\n"
    )
    sql = 'SELECT SUM(b.n)::int FROM "bill" b JOIN payment p ON p.bill = b.id WHERE b.n ILIKE $1'
    ran = run("check", sql, "--schema", "pg.sql", "--dialect", "postgres", "--format", "json")
    printed = json.loads(ran.stdout)
    assert (printed["dialect"], printed["notes"]) == ("postgres", [])
    assert [finding["rule"] for finding in printed["findings"]] == ["fan_out_sum"]
    (tmp_path / "my.sql").write_text("CREATE TABLE `bill` (`id` int PRIMARY KEY) ENGINE=InnoDB;")
    ran = run("check", "SELECT `id` FROM `bill`", "--schema", "my.sql", "--dialect", "mysql")
    assert ran.stdout == "PASS  nothing found\n"
    assert "'oracle' is not one of" in refusal(
        run, sql, "--schema", "pg.sql", "--dialect", "oracle"
    )


def test_the_dialects_of_the_option_are_those_of_the_service() -> None:
    (option,) = [p for p in command.params if p.name == "dialect"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == DIALECTS


def test_an_allow_comment_holds_for_its_line_and_the_next(check: Run) -> None:
    near = TOTAL.replace("SELECT", "SELECT -- modularsql: allow fan_out_sum\n")
    far = f"{TOTAL}\n\n-- modularsql: allow fan_out_sum"
    other = f"-- modularsql: allow chasm\n{TOTAL}"
    assert rules(check, near) == []
    assert rules(check, far) == [("fan_out_sum", "error")]
    assert rules(check, other) == [("fan_out_sum", "error")]
    assert rules(check, f"SELECT '-- modularsql: allow fan_out_sum', {TOTAL[7:]}") != []


def test_several_rules_may_be_allowed(check: Run) -> None:
    sql = f"Here:\n```sql\n{TOTAL}\n```"
    assert rules(check, sql) == [("sql_extracted", "info"), ("fan_out_sum", "error")]
    assert rules(check, sql, "--allow", "sql_extracted", "--allow", "fan_out_sum") == []


def test_an_unknown_rule_cannot_be_allowed(run: Run, check: Run, tmp_path: Path) -> None:
    check(FINE)  # writes the schema
    said = refusal(run, FINE, "--schema", "schema.sql", "--allow", "chsm")
    assert "--allow 'chsm' is no rule (nearest: chasm" in said
    (note,) = in_json(check, f"-- modularsql: allow chsm\n{FINE}")["notes"]
    assert "allow chsm silences nothing" in note


def test_names_that_the_schema_lacks_are_errors_said_once(check: Run) -> None:
    sql = "SELECT b.nope, b.nope + 1, x.a, amont FROM bill b\n JOIN nowhere x ON x.b = b.id"
    printed = in_json(check, sql)
    found = [(f["rule"], f["severity"], f["line"], f["column"]) for f in printed["findings"]]
    assert ("unknown_table", "error", 2, 7) in found
    assert ("unknown_column", "error", 1, 8) in found
    assert len(found) == 2  # `amont` may be a column of nowhere
    assert "not known: the column amont" in printed["notes"]
    assert "not known: the table nowhere" not in printed["notes"]
    text = check("SELECT amont FROM bill").stdout
    assert "No table read here has a column amont; did you mean amount?" in text


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT x.foo FROM bill b", "Nothing that is read here is called x, so it has no column"),
        ("SELECT bill.amount FROM bill b", "called bill, so it has no column amount; did you mean"),
        ("SELECT payment.id FROM bill b", "so it has no column id; did you mean b.id?"),
        ("SELECT payment.bill FROM bill b", "no column bill: join the table payment to read it."),
        (
            "SELECT 1 FROM bill b WHERE EXISTS (SELECT 1 FROM payment p WHERE b.nope = p.id)",
            "No table read here has a column b.nope",
        ),
    ],
)
def test_a_missing_source_is_told_from_a_missing_column(check: Run, sql: str, said: str) -> None:
    (found,) = in_json(check, sql)["findings"]
    assert found["rule"] == "unknown_column"
    assert said in found["message"]


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT name FROM sqlite_master", "sqlite"),
        ("SELECT rowid, oid FROM bill", "sqlite"),
        ("SELECT 1 FROM bill WHERE 'x' IN bill", "sqlite"),
        ('SELECT "word" FROM bill', "sqlite"),
        ("SELECT list_transform([1], x -> x + 1) FROM bill", "duckdb"),
        ("SELECT b FROM bill b", "duckdb"),
        ("SELECT * FROM 'a.parquet'", "duckdb"),
        ("SELECT ctid, current_user FROM bill", "postgres"),
        ("SELECT 1 FROM information_schema.tables", "postgres"),
        ("SELECT x.a FROM other.bill x", "postgres"),
        ("SELECT 1 FROM DUAL", "mysql"),
    ],
)
def test_what_an_engine_knows_by_itself_is_not_said_to_be_absent(
    check: Run, sql: str, dialect: str
) -> None:
    assert (
        not {"unknown_table", "unknown_column"}
        & dict(rules(check, sql, "--dialect", dialect)).keys()
    )


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql"])
def test_a_column_of_two_tables_is_an_error_that_names_them(check: Run, dialect: str) -> None:
    sql = "SELECT id FROM bill b JOIN bill c ON c.id = b.id ORDER BY amount"
    findings = in_json(check, sql, "--dialect", dialect)["findings"]
    (found,) = (f for f in findings if f["rule"] == "ambiguous_column")
    assert (found["severity"], found["line"], found["column"]) == ("error", 1, 8)
    assert found["message"] == "bill (b) and bill (c) have a column id; write b.id or c.id."


def test_a_schema_that_was_not_read_to_its_end_proves_no_absence(
    check: Run, tmp_path: Path
) -> None:
    (tmp_path / "schema.sql").write_text(f"{SCHEMA}CREATE TABLE late (id INT, x(;\n")
    printed = in_json(check, "SELECT nope FROM bill")
    assert (printed["verdict"], printed["findings"]) == ("undecided", [])
    assert "not known: the column nope" in printed["notes"]


def test_the_parser_of_the_engine_decides_where_ours_stops(check: Run) -> None:
    (finding,) = in_json(check, "SELECT amount\nFRM bill b")["findings"]
    assert (finding["rule"], finding["severity"], finding["line"]) == ("syntax", "error", 2)
    assert 'near "bill": syntax error' in finding["message"]
    (finding,) = in_json(check, "SELECT amount FRM bill b", "--dialect", "duckdb")["findings"]
    assert (finding["rule"], finding["severity"]) == ("syntax", "error")
    (finding,) = in_json(check, "SELECT amount FRM bill b", "--dialect", "postgres")["findings"]
    assert (finding["rule"], finding["severity"]) == ("unparsed", "warning")
    assert finding["message"].startswith("Not analysed: ")
    (finding,) = in_json(check, FINE, MODULARSQL_MAX_PARSE_CHARS="5")["findings"]
    assert (finding["rule"], finding["severity"]) == ("unparsed", "info")


def test_other_statements_are_not_analysed_and_say_so(check: Run) -> None:
    printed = in_json(check, "DELETE FROM bill")
    assert printed["notes"] == ["statements of this kind are not analysed"]


def test_sql_taken_out_of_prose_is_told_and_analysed(check: Run) -> None:
    printed = in_json(check, f"Sure!\n```sql\n{TOTAL};\n```\nDone.")
    assert printed["final_sql"] == TOTAL
    found = [(f["rule"], f["line"]) for f in printed["findings"]]
    assert found == [("sql_extracted", 3), ("fan_out_sum", 3)]


def test_sql_is_read_from_standard_input_and_from_a_file(check: Run, tmp_path: Path) -> None:
    (tmp_path / "query.sql").write_bytes(b"\xef\xbb\xbf" + TOTAL.encode())
    assert rules(check, "-", stdin=TOTAL.encode()) == [("fan_out_sum", "error")]
    assert rules(check, "@query.sql") == [("fan_out_sum", "error")]
    assert rules(check, f"-- why not\n{TOTAL}") == [("fan_out_sum", "error")]


def test_sql_that_cannot_be_read_is_named(run: Run, check: Run, tmp_path: Path) -> None:
    (tmp_path / "latin.sql").write_bytes(b"SELECT 'caf\xe9'")
    for sql, said in (
        ("@none.sql", "cannot read the SQL from none.sql: No such file or directory"),
        ("@latin.sql", "latin.sql is not UTF-8 text (byte 11)"),
    ):
        assert said in refusal(run, sql, "--schema", "schema.sql")


def test_nothing_is_written_anywhere(check: Run, tmp_path: Path) -> None:
    check(FINE)
    assert [path.name for path in tmp_path.iterdir()] == ["schema.sql"]


def test_the_settings_decide_what_fails(check: Run) -> None:
    assert check(TOTAL, MODULARSQL_FAIL_ON="never").returncode == 0
    assert check(TOTAL, "--fail-on", "warning", MODULARSQL_FAIL_ON="never").returncode == 1


@pytest.mark.parametrize("sql", ["SELECT nope -- {}", "{}", 'SELECT * FROM "{}"', "SELECT 1; {}"])
def test_sql_cannot_command_the_terminal(check: Run, sql: str) -> None:
    ran = check(sql.format("\x1b]0;owned\x07\x1b[2J\x9b2J\u202e\rPASS"))
    assert all(line.isprintable() for line in ran.stdout.splitlines())
