"""Verdict and exit status of `guard`: one test for each row of the table in docs/interfaces.md."""

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

COPIES = "SELECT c.name FROM customer c JOIN orders o ON o.customer = c.id"
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


def in_json(run: Run, *arguments: object, **more: Any) -> tuple[int, dict[str, Any]]:
    """Exit status and printed object; nothing else may be printed."""
    ran = run(*arguments, "--format", "json", **more)
    assert ran.stderr == ""
    printed: dict[str, Any] = json.loads(ran.stdout)
    assert printed["schema_version"] == 1
    return ran.returncode, printed


def in_text(run: Run, *arguments: object, **more: Any) -> tuple[int, str]:
    """Exit status and text; the verdict stands first."""
    ran = run(*arguments, **more)
    assert ran.stderr == ""
    assert not [line for line in ran.stdout.splitlines() if line != line.rstrip()]
    return ran.returncode, ran.stdout


@pytest.mark.parametrize(
    ("sql", "options", "verdict", "status"),
    [
        ("SELECT name FROM customer", [], "pass", 0),
        ("SELECT name FROM customer WHERE id = 3", [], "annotate", 0),
        ("SELECT customer FROM orders", [], "annotate", 0),
        (COPIES, [], "annotate", 1),
        (COPIES, ["--fail-on", "error"], "annotate", 0),
        (COPIES, ["--fail-on", "never"], "annotate", 0),
        (COPIES, ["--fix"], "repair", 0),
        (COPIES, ["--fix", "--policy", "off"], "annotate", 1),
        (COPIES + " LIMIT 10", ["--fix"], "annotate", 1),
        (COPIES, ["--allow", "duplicate_rows"], "annotate", 1),
        (COPIES, ["--allow", "duplicate_rows", "--allow", "fan_out_rows"], "pass", 0),
        (f"-- modularsql: allow duplicate_rows, fan_out_rows\n{COPIES}", [], "pass", 0),
        ("SELECT name FROM customer WHERE id = ?", [], "undecided", 0),
        ("SELECT name FROM customer WHERE id = ?", ["--param", "1=2"], "pass", 0),
        ("SELECT name FROM customer", ["--no-execute"], "undecided", 0),
        ("SELECT nme FROM customer", [], "annotate", 1),
        ("SELECT nme FROM customer", ["--fail-on", "never"], "annotate", 1),
        ("SELECT name FROM", [], "annotate", 1),
        ("DELETE FROM customer", [], "refuse", 1),
        ("DELETE FROM customer", ["--fail-on", "never"], "refuse", 1),
        ("SELECT 1; SELECT 2", [], "refuse", 1),
        ("SELECT load_extension('x')", [], "refuse", 1),
        ("ATTACH 'new.sqlite' AS new", [], "refuse", 1),
    ],
)
def test_the_exit_status_follows_the_verdict_in_both_formats(
    run: Run, shop: Path, sql: str, options: list[str], verdict: str, status: int
) -> None:
    before = shop.read_bytes()
    code, printed = in_json(run, "guard", shop, sql, *options)
    assert (printed["verdict"], code) == (verdict, status)
    code, text = in_text(run, "guard", shop, sql, *options)
    assert (text.split()[0], code) == (verdict.upper(), status)
    assert shop.read_bytes() == before
    assert [path.name for path in shop.parent.iterdir()] == [shop.name]


TOTAL = "SELECT SUM(b.amount) AS paid FROM bill b JOIN payment p ON p.bill = b.id"
ONCE = (
    "SELECT SUM(b.amount) AS paid FROM bill b "
    "WHERE EXISTS (SELECT 1 FROM payment p WHERE p.bill = b.id)"
)
MELTED = "SELECT DISTINCT name FROM member"

Expected = tuple[str, int, list[str]]
"""Verdict, exit status and repairs with --fix."""

BY_POLICY: dict[str, dict[str, Expected]] = {
    "grain": {
        TOTAL: ("repair", 0, ["semi_join"]),
        COPIES: ("repair", 0, ["semi_join"]),
        "SELECT customer FROM orders": ("annotate", 0, []),
        MELTED: ("repair", 0, ["remove_distinct"]),
        COPIES + " LIMIT 10": ("annotate", 1, []),
    },
    "paper": {
        TOTAL: ("pass", 0, []),
        COPIES: ("repair", 0, ["inject_distinct"]),
        "SELECT customer FROM orders": ("repair", 0, ["inject_distinct"]),
        MELTED: ("repair", 0, ["remove_distinct"]),
        COPIES + " LIMIT 10": ("annotate", 1, []),
    },
    "p1": {
        TOTAL: ("pass", 0, []),
        COPIES: ("repair", 0, ["inject_distinct"]),
        "SELECT customer FROM orders": ("repair", 0, ["inject_distinct"]),
        MELTED: ("pass", 0, []),
        COPIES + " LIMIT 10": ("annotate", 1, []),
    },
    "off": {
        TOTAL: ("pass", 0, []),
        COPIES: ("annotate", 1, []),
        "SELECT customer FROM orders": ("annotate", 1, []),
        MELTED: ("pass", 0, []),
        COPIES + " LIMIT 10": ("annotate", 1, []),
    },
}
BY_POLICY["p1-p2"] = BY_POLICY["paper"]


@pytest.mark.parametrize(
    ("policy", "sql"), [(policy, sql) for policy, table in BY_POLICY.items() for sql in table]
)
def test_each_policy_repairs_what_it_knows(run: Run, books: Path, policy: str, sql: str) -> None:
    verdict, status, applied = BY_POLICY[policy][sql]
    code, printed = in_json(run, "guard", books, sql, "--fix", "--policy", policy)
    assert (printed["verdict"], code, printed["applied"]) == (verdict, status, applied)
    assert (printed["final_sql"] == sql) == (applied == [])


def test_an_inflated_sum_is_an_error_and_added_once_after_the_repair(run: Run, books: Path) -> None:
    code, printed = in_json(run, "guard", books, TOTAL)
    (finding,) = printed["findings"]
    assert (finding["rule"], finding["severity"], code) == ("fan_out_sum", "error", 1)
    contract = {"rows_before": 2, "rows_after": 3, "factor": 1.5}
    assert finding["measured"].items() >= contract.items()
    assert (finding["measured"]["value_now"], finding["measured"]["value_at_grain"]) == (650, 350)
    assert finding["repairs"] == [{"name": "semi_join", "safety": "proven", "sql": ONCE}]
    assert (printed["rows"], printed["final_sql"]) == ([[650]], TOTAL)
    code, printed = in_json(run, "guard", books, TOTAL, "--fix")
    assert (printed["rows"], printed["final_sql"], code) == ([[350]], ONCE, 0)


def test_equal_values_of_one_table_are_a_remark(run: Run, books: Path) -> None:
    sql = "SELECT customer FROM orders"
    code, printed = in_json(run, "guard", books, sql, "--fix")
    (finding,) = printed["findings"]
    assert (finding["rule"], finding["severity"], code) == ("duplicate_rows", "info", 0)
    assert finding["message"].endswith("No join repeats rows here: equal values are no fault.")
    assert (finding["repairs"], len(printed["rows"])) == ([], 11)


def test_a_question_for_different_values_makes_copies_a_fault(run: Run, books: Path) -> None:
    sql = "SELECT customer FROM orders"
    asked = ["--fix", "--question", "Which different customers have ordered?"]
    code, printed = in_json(run, "guard", books, sql, *asked)
    assert (printed["applied"], printed["rows"], code) == (["inject_distinct"], [[1], [2]], 0)
    code, printed = in_json(run, "guard", books, sql, *asked, "--policy", "off")
    assert (printed["applied"], len(printed["rows"])) == ([], 11)


def test_a_question_that_speaks_for_the_copies_leaves_a_suggestion(run: Run, books: Path) -> None:
    asked = ["--fix", "--question", "The customer of each of the orders: for each order its name"]
    code, printed = in_json(run, "guard", books, COPIES, *asked)
    assert (printed["verdict"], printed["applied"], code) == ("annotate", [], 1)
    (finding,) = [f for f in printed["findings"] if f["rule"] == "fan_out_rows"]
    assert [(r["name"], r["safety"]) for r in finding["repairs"]] == [("semi_join", "suggested")]
    _, text = in_text(run, "guard", books, COPIES, *asked)
    assert "  a possible repair, semi_join:\n" in text


def test_sql_that_runs_but_is_not_parsed_is_undecided(run: Run, shop: Path) -> None:
    sql = "SELECT name FROM customer WHERE id = 1"
    unread = {"MODULARSQL_MAX_PARSE_CHARS": "5"}
    code, printed = in_json(run, "guard", shop, sql, **unread)
    assert (printed["verdict"], code) == ("undecided", 0)
    assert printed["rows"] == [["Ann"]]
    assert [finding["rule"] for finding in printed["findings"]] == ["unparsed"]
    code, text = in_text(run, "guard", shop, sql, **unread)
    assert (text.splitlines()[0], code) == ("UNDECIDED  not analysed", 0)


def test_an_answer_in_text_says_all_that_was_seen(run: Run, shop: Path) -> None:
    code, text = in_text(run, "guard", shop, COPIES, "--fix")
    head, rows, ran = text.split("\n\n")
    assert code == 0
    verdict, rule, message, *repair = head.splitlines()
    assert verdict == "REPAIR  repaired by semi_join"
    assert rule == "warning duplicate_rows  line 1, column 1"
    assert re.fullmatch(r"  11 rows .*81\.8%.*\.", message)
    cause, words, *joins, below = repair[2:]
    assert repair[:2] == [
        "  repaired by semi_join (proven):",
        "    SELECT c.name FROM customer c "
        "WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
    ]
    assert cause == "warning fan_out_rows  line 1, column 8"
    assert words.endswith(" Here 2 become 11: 5.5 times on average.")
    assert joins == [
        "  rows before │ after │ different customer │ join",
        "  ────────────┼───────┼────────────────────┼───────────────────────────────────",
        "            2 │    11 │                  2 │ JOIN orders o ON o.customer = c.id",
        "  most often: id 1: 10 times",
    ]
    assert below == "  repaired by semi_join (proven): the same, above"
    assert rows.splitlines() == ["name", "────", "Ann", "Bob"]
    assert ran.startswith("sqlite: 11 rows, 2 distinct, dup ratio 0.82, 2 rows after the repair; ")


def test_without_fix_the_repair_is_on_offer_and_the_rows_are_those_of_the_query(
    run: Run, shop: Path
) -> None:
    _, text = in_text(run, "guard", shop, COPIES)
    assert text.startswith("ANNOTATE  2 warnings\n")
    assert text.count("  repair on offer with --fix, semi_join (proven):\n") == 1
    assert text.count("\nAnn\n") + text.count("\nAnn") >= 10


def test_a_query_over_its_time_is_stopped_with_status_1(run: Run, shop: Path) -> None:
    code, printed = in_json(run, "guard", shop, ENDLESS, "--timeout", "0.2")
    assert (printed["verdict"], printed["probe"]["status"], code) == ("annotate", "timeout", 1)
    code, text = in_text(run, "guard", shop, ENDLESS, "--timeout", "0.2")
    assert code == 1
    assert "0.2 s" in text


def test_a_result_beyond_the_row_cap_is_cut_and_says_so(run: Run, shop: Path) -> None:
    code, printed = in_json(run, "guard", shop, "SELECT id FROM orders", "--max-rows", "3")
    assert (len(printed["rows"]), printed["truncated"], code) == (3, True, 0)
    assert printed["probe"]["rows"] == 11


def failed(run: Run, *arguments: object, **more: Any) -> dict[str, str]:
    """The error object of a call that could not start; its text form is one line."""
    ran = run(*arguments, **more)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("modularsql: ")
    assert ran.stderr.count("\n") == 1
    assert "bug" not in ran.stderr
    code, printed = in_json(run, *arguments, **more)
    assert code == 2
    assert set(printed) == {"schema_version", "error"}
    error: dict[str, str] = printed["error"]
    assert error["message"] in ran.stderr or "\\x" in ran.stderr
    return error


def test_a_database_that_is_not_there_is_not_made(run: Run, tmp_path: Path) -> None:
    for target in (tmp_path / "no.sqlite", f"sqlite:///{tmp_path / 'no.duckdb'}"):
        assert failed(run, "guard", target, "SELECT 1")["kind"] == "not_found"
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_database_is_answered_with_the_file_that_is_there(run: Run, shop: Path) -> None:
    assert failed(run, "guard", "shp.sqlite", "SELECT 1")["hint"] == "did you mean shop.sqlite?"
    near = shop.with_name("shop.sqlit")
    assert failed(run, "guard", near, "SELECT 1")["hint"] == f"did you mean {shop}?"
    assert failed(run, "guard", "other.sqlite", "SELECT 1")["hint"] == "check the path"


@pytest.mark.parametrize("content", [b"", b"name,price\n", b"SQLite format 3\0" + b"\xff" * 100])
def test_a_file_that_is_no_database_is_named(run: Run, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "prices"
    path.write_bytes(content)
    error = failed(run, "guard", path, "SELECT 1")
    assert error["kind"] == "not_a_database"
    assert str(path) in error["message"]
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("prices.csv", "CREATE TABLE t AS FROM 'prices.csv'"),
        ("prices.PARQUET", "CREATE TABLE t AS FROM 'prices.PARQUET'"),
        ("shop.sql", "sqlite3 new.sqlite < shop.sql"),
        ("shop.xyz", "give a database file"),
    ],
)
def test_data_in_another_file_is_answered_with_how_to_load_it(
    run: Run, tmp_path: Path, name: str, hint: str
) -> None:
    (tmp_path / name).write_text("name,price\n")
    assert hint in failed(run, "guard", name, "SELECT 1")["hint"]


def test_a_folder_is_no_database(run: Run, tmp_path: Path) -> None:
    assert str(tmp_path) in failed(run, "guard", tmp_path, "SELECT 1")["message"]


@pytest.mark.parametrize("url", ["postgresql://127.0.0.1:1/shop", "mysql://127.0.0.1:1/shop"])
def test_a_server_that_does_not_answer_is_named(run: Run, url: str) -> None:
    error = failed(run, "guard", url, "SELECT 1")
    assert error["kind"] == "unreachable"
    assert url in error["message"]
    assert "?" not in error["message"]  # what to look at is said once
    assert "is the server running" in error["hint"]


def test_a_url_that_nothing_opens_says_what_is_missing(run: Run) -> None:
    error = failed(run, "guard", "nosuch://host/shop", "SELECT 1")
    assert "nosuch://" in error["message"]
    assert error["hint"]


def test_a_wrong_option_is_an_error_object_too(run: Run, shop: Path) -> None:
    assert failed(run, "guard", shop, "SELECT 1", "--timeout", "soon")["kind"] == "usage"
    for value in ("0", "-1", "nan", "inf", "1e9"):
        error = failed(run, "guard", shop, "SELECT 1", "--timeout", value)
        assert "--timeout must be from 0.001 to 604,800" in error["message"]
    assert failed(run, "guard", shop, "SELECT 1", "--policy", "best")["kind"] == "policy"
    ran = run("guard", shop, "SELECT 1", "--format=json", "--nope")
    assert json.loads(ran.stdout)["error"]["kind"] == "usage"


LOCK = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""
OPEN = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def locked(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A database that another process has for itself."""
    path = tmp_path / "locked.db"
    if request.param == LOCK:
        sqlite3.connect(path).execute("CREATE TABLE t(a)").connection.close()
    else:
        duckdb.connect(str(path)).close()
    holder = subprocess.Popen(
        [sys.executable, "-c", request.param, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"locked\n"
    yield path
    holder.communicate()


@pytest.mark.parametrize("locked", [LOCK, OPEN], ids=["sqlite", "duckdb"], indirect=True)
def test_a_locked_database_is_waited_for_and_then_named(run: Run, locked: Path) -> None:
    error = failed(run, "guard", locked, "SELECT 1", "--timeout", "0.3")
    assert error["kind"] == "locked"
    assert str(locked) in error["message"]


def test_a_database_that_is_locked_after_it_was_opened_could_not_start_either(
    run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from modularsql.engines.sqlite import SqliteEngine
    from modularsql.records import Failure, FailureKind

    def busy(*_: object, **__: object) -> Failure:
        return Failure(kind=FailureKind.LOCKED, message="the database is locked")

    monkeypatch.setattr(SqliteEngine, "execute", busy)
    assert failed(run, "guard", shop, "SELECT 1")["kind"] == "locked"


def test_a_mistake_of_ours_is_one_line_that_asks_for_a_report(
    run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("modularsql.guard.run.Guard.run", broken)
    ran = run("guard", shop, "SELECT 1")
    assert ran.returncode == 2
    assert ran.stderr.startswith("modularsql: ZeroDivisionError: division by zero (this is a bug")
    ran = run("guard", shop, "SELECT 1", "--format", "json")
    assert json.loads(ran.stdout)["error"]["kind"] == "bug"
    assert "Traceback" in run("guard", shop, "SELECT 1", "--verbose").stderr
