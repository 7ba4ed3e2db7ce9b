"""Text for people: readable at any width, and nothing of the data commands the terminal."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from modularsql import Answer, Verdict
from modularsql.cli.screen import Screen
from modularsql.cli.text import print_answer
from modularsql.records import Probe

Run = Callable[..., "subprocess.CompletedProcess[str]"]

WIDE = "SELECT " + ", ".join(f"'value {i}' AS column_{i}" for i in range(30))
LONG = f"SELECT 1 AS n, '{'word ' * 60}' AS text, 12345678 AS number"


def table(run: Run, shop: Path, sql: str, **environ: str) -> list[str]:
    """The lines of the rows: what stands between verdict and footer."""
    ran = run("guard", shop, sql, "--allow", "duplicate_rows", **environ)
    assert ran.stderr == ""
    lines: list[str] = ran.stdout.split("\n\n", 1)[1].rpartition("\n\n")[0].splitlines()
    return lines


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
@pytest.mark.parametrize(
    "sql", ["SELECT * FROM customer", WIDE, LONG, "SELECT 'a' AS " + "n" * 300]
)
def test_rows_fit_the_width(run: Run, shop: Path, sql: str, width: int) -> None:
    lines = table(run, shop, sql, COLUMNS=str(width))
    assert max(map(cell_len, lines)) <= width
    assert len(lines) <= 45


def test_a_narrow_result_is_a_table_with_numbers_to_the_right(run: Run, shop: Path) -> None:
    assert table(run, shop, "SELECT id * 100 AS id, name FROM customer", COLUMNS="40") == [
        " id │ name",
        "────┼─────",
        "100 │ Ann",
        "200 │ Bob",
    ]


def test_long_text_gives_way_and_numbers_do_not(run: Run, shop: Path) -> None:
    head, _, row = table(run, shop, LONG, COLUMNS="40")
    assert row.startswith("1 │ word word")
    assert row.endswith("… │ 12345678")
    assert head.endswith("   number")


def test_a_result_too_wide_for_a_table_is_shown_column_below_column(run: Run, shop: Path) -> None:
    lines = table(run, shop, WIDE, COLUMNS="60")
    assert lines[:3] == ["row 1 of 1", "  column_0   value 0", "  column_1   value 1"]
    assert len(lines) == 31


def test_hundreds_of_columns_are_counted_not_shown(run: Run, shop: Path) -> None:
    sql = "SELECT " + ", ".join(f"{i} AS c{i}" for i in range(1999))
    assert table(run, shop, sql, COLUMNS="80")[-1] == "  … 1,949 more columns"


def test_in_a_pipe_nothing_is_wrapped_and_only_long_cells_are_cut(run: Run, shop: Path) -> None:
    head, _, row = table(run, shop, WIDE)
    assert head.count("│") == row.count("│") == 29
    assert "value 29" in row
    assert len(table(run, shop, LONG)[2]) < 140
    ran = run("guard", shop, "SELECT c.name FROM customer c JOIN orders o ON o.customer = c.id")
    assert max(map(len, ran.stdout.splitlines()[:3])) > 72


def test_sentences_are_wrapped_at_the_width_and_sql_is_not(run: Run, shop: Path) -> None:
    sql = "SELECT c.name FROM customer c JOIN orders o ON o.customer = c.id"
    lines = run("guard", shop, sql, COLUMNS="40").stdout.splitlines()
    whole = run("guard", shop, sql).stdout.splitlines()[4]
    start = next(at for at, line in enumerate(lines) if "fan_out_rows" in line) + 1
    assert max(map(len, lines[start : lines.index("  (proven):")])) <= 40
    end = lines.index("  row 1 of 1")
    assert " ".join(line.strip() for line in lines[start:end]) == whole.strip()
    exists = "EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)"
    assert f"    SELECT c.name FROM customer c WHERE {exists}" in lines


def test_more_rows_than_are_shown_are_counted(run: Run, shop: Path) -> None:
    sql = "SELECT a.id FROM orders a, orders b, orders c"
    lines = table(run, shop, sql, MODULARSQL_MAX_ROWS="1000")
    assert lines[-1] == "… 980 more rows (--format json has them)"


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("NULL", "NULL"),
        ("''", ""),
        ("x'00ff'", "<2 bytes>"),
        ("x'00'", "<1 byte>"),
        ("1e999", "inf"),
        ("2.50", "2.5"),
        ("123456789", "123456789"),
        ("'a' || char(10) || 'b'", "a⏎b"),
        ("'a' || char(13, 10) || 'b'", "a⏎b"),
        ("'a' || char(9) || 'b'", r"a\tb"),
        ("char(27) || '[2J'", r"\x1b[2J"),
        ("char(155) || '2J'", r"\x9b2J"),
        ("'a' || char(8238) || 'b'", r"a\u202eb"),
        ("char(0)", r"\x00"),
        ("CAST(x'41ff' AS TEXT)", r"A\xff"),
        ("'[red]x[/red] :smile:'", "[red]x[/red] :smile:"),
        ("'日本'", "日本"),
    ],
)
def test_a_cell_is_shown_as_what_it_is_on_one_line(
    run: Run, shop: Path, value: str, cell: str
) -> None:
    row = table(run, shop, f"SELECT 1 AS n, {value} AS v")[2]
    assert row == f"1 │ {cell}".rstrip()


def test_decimals_are_numbers(run: Run, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            """
            CREATE TABLE bill(id INTEGER PRIMARY KEY, amount DECIMAL(9, 2));
            CREATE TABLE payment(id INTEGER PRIMARY KEY, bill INTEGER REFERENCES bill);
            INSERT INTO bill VALUES (1, 3000), (2, 50.5);
            INSERT INTO payment VALUES (1, 1), (2, 1), (3, 2);
            """
        )
    lines = table(run, path, "SELECT 'x' AS n, amount FROM bill ORDER BY id")
    assert lines[2:4] == ["x │ 3000.00", "x │   50.50"]
    ran = run("guard", path, "SELECT SUM(amount) FROM bill b JOIN payment p ON p.bill = b.id")
    assert "value now 6,050.5, with each row of bill once 3,050.5" in ran.stdout
    sql = "SELECT SUM(amount) FROM bill b JOIN payment p ON p.bill = b.id WHERE b.id = 1"
    assert "value now 6,000, with each row of bill once 3,000" in run("guard", path, sql).stdout


def test_wide_characters_keep_the_columns_straight(run: Run, shop: Path) -> None:
    sql = "SELECT '日本語' AS v, 'x' AS w UNION ALL SELECT 'a', 'y'"
    assert table(run, shop, sql) == ["v      │ w", "───────┼──", "日本語 │ x", "a      │ y"]


def test_names_from_outside_cannot_command_the_terminal(run: Run, tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x9b2J\u202e\r"
    ran = run("guard", tmp_path / f"no{evil}.sqlite", "SELECT 1")
    assert ran.stderr.rstrip("\n").isprintable()


@pytest.mark.parametrize(
    "sql", ['SELECT 1 AS "{}"', "SELECT nope -- {}", "{}", 'SELECT * FROM "{}"']
)
def test_sql_cannot_command_the_terminal(run: Run, shop: Path, sql: str) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b2J\u202e\rPASS"
    for given in (sql.format(evil), "Look:\n```\n" + sql.format(evil) + "\n```"):
        ran = run("guard", shop, given, "--question", evil)
        assert all(line.isprintable() for line in ran.stdout.splitlines())


def test_errors_come_before_warnings_before_remarks(run: Run, shop: Path) -> None:
    sql = "SELECT a.name FROM customer a, orders b"
    lines = run("guard", shop, sql, "--max-rows", "5").stdout.splitlines()
    assert lines[0] == "ANNOTATE  1 error, 1 warning, 1 info"
    seen = [line.split()[0] for line in lines if "  line 1" in line]
    assert seen == ["error", "warning", "info"]


def test_a_ratio_never_rounds_to_all_or_nothing(run: Run, shop: Path) -> None:
    many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 999)"
    assert "dup ratio above 0.99" in run("guard", shop, f"{many} SELECT 1 FROM n").stdout
    once = run("guard", shop, f"{many} SELECT x FROM n UNION ALL SELECT 1")
    assert "dup ratio below 0.01" in once.stdout
    assert "dup ratio 0.00" in run("guard", shop, "SELECT 1").stdout


def test_an_estimate_of_distinct_rows_is_shown_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    probed = Probe(status="ok", rows=9_000, distinct_rows=400, dup_ratio=0.95, distinct_error=0.01)
    plain = replace(probed, distinct_error=0.0)
    for probe, shown in ((probed, "about 400 distinct"), (plain, "9,000 rows, 400 distinct")):
        of = {"sql": "s", "final_sql": "s", "dialect": "duckdb", "verdict": Verdict.PASS}
        print_answer(Screen(), Answer(**of, columns=("a",), rows=[(1,)], probe=probe))  # type: ignore[arg-type]
        assert shown in capsys.readouterr().out


def on_a_terminal(arguments: list[str], cwd: Path, **environ: str) -> str:
    """What a command writes when standard output is a terminal."""
    parent, child = pty.openpty()
    given = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "60", **environ}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        given = given if name in environ else {n: v for n, v in given.items() if n != name}
    process = subprocess.Popen(
        [sys.executable, "-m", "modularsql", *arguments],
        stdin=child,
        stdout=child,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=given,
    )
    os.close(child)
    written = b""
    with suppress(OSError):  # the end of a terminal is an error on Linux
        while part := os.read(parent, 65536):
            written += part
    os.close(parent)
    process.communicate()
    return written.decode()


def test_colours_are_for_terminals_that_want_them(shop: Path) -> None:
    arguments = ["guard", str(shop), "SELECT 1 AS a"]
    assert "\x1b[1;32mPASS" in on_a_terminal(arguments, shop.parent)
    assert "\x1b[1mPASS" in on_a_terminal(arguments, shop.parent, NO_COLOR="1")
    assert on_a_terminal(arguments, shop.parent, TERM="dumb").startswith("PASS")


def test_no_colour_reaches_a_pipe(really: Run, shop: Path) -> None:
    ran = really("guard", shop, "SELECT 1 AS a")
    assert ran.stdout.startswith("PASS  nothing found\n\na\n─\n1\n\nsqlite: 1 row, ")
