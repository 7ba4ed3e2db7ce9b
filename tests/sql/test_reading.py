"""What a page cannot hold: odd characters, size, depth, and where notes in the SQL count."""

import time

import pytest

from modularsql.sql.allow import allowances
from modularsql.sql.parse import Unparsed, line_column
from modularsql.sql.statement import Many, NoSql, Statement, read_statement

MOST = 100_000


def read(text: str, dialect: str = "sqlite", most: int = MOST) -> Statement:
    statement = read_statement(text, dialect, most)
    assert isinstance(statement, Statement)
    return statement


def problem(text: str, dialect: str = "sqlite", most: int = MOST) -> str:
    tree = read(text, dialect, most).tree
    assert isinstance(tree, Unparsed)
    return tree.reason


@pytest.mark.parametrize("text", ["", "  \n\t", ";", " ; \n ;", "\ufeff", "\ufeff\n"])
def test_text_without_a_word_is_empty(text: str) -> None:
    assert read_statement(text, "sqlite", MOST) == NoSql(reason="the text is empty")


def test_a_nul_character_is_named_with_its_place() -> None:
    found = read_statement("SELECT 1\0; DROP TABLE t", "sqlite", MOST)
    assert found == NoSql(reason="the text holds a NUL character at position 9")


def test_half_of_a_surrogate_pair_is_named_with_its_place() -> None:
    found = read_statement("SELECT '\ud83d'", "duckdb", MOST)
    assert found == NoSql(reason="the text holds half a character at position 9")


def test_a_byte_order_mark_is_no_part_of_the_statement() -> None:
    statement = read("\ufeffSELECT a FROM t;")
    assert (statement.text, statement.extracted) == ("SELECT a FROM t", None)
    assert statement.with_text("SELECT 1") == "\ufeffSELECT 1;"


@pytest.mark.parametrize("space", [" ", "\n", "\r\n", "\t", "\f", "\v", "\u00a0", "\u2003"])
def test_any_white_space_may_stand_around(space: str) -> None:
    statement = read(f"{space}SELECT{space}1{space};{space}")
    assert statement.text.strip() == f"SELECT{space}1"
    assert statement.extracted is None


def test_a_megabyte_is_run_as_it_is_without_its_semicolons() -> None:
    text = "SELECT '" + "x" * 1_000_000 + "' ;; \n"
    assert problem(text) == "it is longer than 100,000 characters"
    assert read(text).text == text.rstrip("; \n")
    assert read(text).with_text("SELECT 1") == "SELECT 1 ;; \n"


def test_a_text_of_exactly_the_longest_length_is_parsed() -> None:
    text = "SELECT 12345"
    assert not isinstance(read(text, most=len(text)).tree, Unparsed)
    assert problem(text, most=len(text) - 1) == "it is longer than 11 characters"


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 30_000 + "1" + ")" * 30_000,
        "SELECT " + "(" * 30_000,
        "SELECT a FROM " + "(SELECT a FROM " * 5_000 + "t" + ")" * 5_000,
        "SELECT " + "f(" * 20_000 + "1" + ")" * 20_000,
        "SELECT a FROM t WHERE " + "EXISTS (SELECT 1 WHERE " * 3_000 + "1" + ")" * 3_000,
    ],
    ids=["parentheses", "open ones", "subqueries", "calls", "EXISTS"],
)
def test_deep_nesting_is_a_reason_not_a_crash(text: str, dialect: str) -> None:
    assert problem(text, dialect) == "it is nested too deeply for our parser"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t " + "JOIN t " * 40,
        "SELECT a FROM t " + "LEFT JOIN (SELECT 1) AS x " * 40,
        "SELECT a FROM t " + "JOIN NATURAL " * 40,
        "SELECT " + "date(" * 40 + "a" + ")" * 40,
        "SELECT " + "STRUCT(" * 40 + "a" + ")" * 40,
        "SELECT " + "~ IF " * 40,
    ],
    ids=["joins", "outer joins", "natural ones", "dates", "structs", "ifs"],
)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_what_the_parser_would_read_in_too_many_ways_is_not_parsed(text: str, dialect: str) -> None:
    start = time.process_time()
    statement = read(text, dialect)
    assert time.process_time() - start < 5
    assert isinstance(statement.tree, Unparsed)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t " + "JOIN t ON t.a = t.a " * 60,
        "SELECT a FROM t " + "CROSS JOIN t " * 60,
        "SELECT a FROM t " + "NATURAL JOIN t " * 60,
        "SELECT a FROM t " + ", t " * 200,
        "SELECT a FROM t " + "JOIN t " * 8,
        "SELECT " + ", ".join(["date(a), datetime(date(a))"] * 100),
        "SELECT " + "((((((((((((((((((((1))))))))))))))))))))",
        " UNION ALL ".join(["SELECT a FROM t JOIN u USING (a)"] * 200),
        "SELECT a FROM t WHERE a IN (" + ", ".join(["1"] * 20_000) + ")",
        "SELECT " + " + ".join(["a"] * 5_000),
    ],
)
def test_long_but_plain_queries_are_parsed(text: str) -> None:
    assert not isinstance(read(text).tree, Unparsed)


@pytest.mark.parametrize(
    "text",
    [
        "/**/ " * 30_000 + "x",
        "/* " * 30_000,
        "-- x\n" * 20_000,
        "SELECT " * 10_000,
        "select\n" * 10_000,
        "a: select\n" * 190,
        "x\n" * 100 + "select a,\n" * 90,
        "(" * 90_000,
        "with " * 20_000,
        "from " * 20_000,
        "```\n" * 20_000,
        "`select a` " * 9_000,
        "> " * 45_000 + "select 1",
        "* " * 45_000,
        "SELECT 1" + ";" * 90_000,
        "SELECT '" + ";" * 90_000,
        "SELECT a FROM t b c" + "\n\nFROM" * 10_000,
        "SELECT a FROM t b c" + "\n\nx" * 10_000,
        "SELECT a FROM t b c '" + "\n\nx;" * 10_000,
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_no_text_is_slow_to_read(text: str, dialect: str) -> None:
    start = time.process_time()
    read_statement(text, dialect, MOST)
    assert time.process_time() - start < 8


@pytest.mark.parametrize("comment", ["/* x */", "-- x\n", "/* it's */", "--\n/**/"])
def test_a_comment_may_stand_between_any_two_words(comment: str) -> None:
    plain = "SELECT a FROM t LEFT JOIN u USING ( b ) WHERE a IS NOT NULL GROUP BY a ORDER BY a"
    text = plain.replace(" ", f" {comment} ")
    assert read(text).tree == read(plain).tree
    assert read(text).text == text


def test_nested_comments_are_one_comment_where_the_database_nests_them() -> None:
    text = "/* a /* b */ c */ SELECT 1"
    assert not isinstance(read(text, "duckdb").tree, Unparsed)
    assert isinstance(read_statement(text, "sqlite", MOST), NoSql)


def test_places_point_into_the_text_as_it_was_given() -> None:
    text = "Here:\n\n```sql\nSELECT a\nFROM t AS\n  qualify.x\n```\n"
    statement = read(text)
    assert isinstance(statement.tree, Unparsed)
    line, column = statement.place(statement.tree.at)
    assert text.splitlines()[line - 1][column - 1 :].startswith(".x")
    assert statement.place(0) == (4, 1)
    assert line_column("a\r\nb", 3) == (2, 1)


def test_lines_may_end_as_on_windows() -> None:
    statement = read("SELECT i\r\nFROM t\r\n\r\nThis isn't sorted.\r\n")
    assert statement.text.split() == ["SELECT", "i", "FROM", "t"]
    assert statement.extracted == "the text before the blank line"


def test_many_statements_are_shown_without_what_stands_between() -> None:
    found = read_statement("SELECT 1 ;; -- x\n ; SELECT 2; and so on", "sqlite", MOST)
    assert found == Many(texts=("SELECT 1", "SELECT 2"))


NOTE = "modularsql: allow r"
POSITIONS = [
    (f"-- {NOTE}\nSELECT a\nFROM t", (1, 3)),
    (f"/* {NOTE} */ SELECT a\nFROM t", (1, 2)),
    (f"/*\n{NOTE}\n*/\nSELECT a\nFROM t", (1, 5)),
    (f"\n\n-- x\n-- {NOTE}\nSELECT a", (1, 5)),
    (f"SELECT a -- {NOTE}\nFROM t\nWHERE a", (1, 2)),
    (f"SELECT a\n/* {NOTE} */ FROM t", (2, 3)),
    (f"SELECT a FROM t -- {NOTE}", (1, 2)),
    (f"SELECT a\nFROM t; -- {NOTE}", (2, 3)),
    (f"SELECT a\nFROM t\n\n-- {NOTE}\n", (4, 5)),
    (f"SELECT (--{NOTE}\na)", (1, 2)),
    (f"SELECT a FROM t AS qualify.x -- {NOTE}", (1, 2)),
    (f"SELECT a FROM t -- because {NOTE} and more", (1, 2)),
    (f"SELECT a FROM t\nORDER -- {NOTE}\nBY a", (2, 3)),
    ("SELECT a FROM t -- ModularSQL: ALLOW r", (1, 2)),
]


@pytest.mark.parametrize(("text", "lines"), POSITIONS)
def test_a_note_counts_in_a_comment_at_any_place(text: str, lines: tuple[int, int]) -> None:
    (note,) = allowances(read(text))
    assert (note.rule, note.first, note.last) == ("r", *lines)


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT '{NOTE}'",
        f"SELECT '-- {NOTE}\n'",
        f"SELECT '/* {NOTE} */'",
        f"SELECT 'it''s -- {NOTE}'",
        f'SELECT "{NOTE}" FROM t',
        f"SELECT `{NOTE}` FROM t",
        f"SELECT [{NOTE}] FROM t",
        f'SELECT a AS "-- {NOTE}"',
        f"SELECT a FROM t /* x */ WHERE b = '-- {NOTE}' -- y",
        f"SELECT x'-- {NOTE}'",
        f"SELECT a AS a/**/'-- {NOTE}'",
        "SELECT a -- modularsql: allow",
        "SELECT a -- modularsql: allowed r",
        "SELECT a -- xmodularsql: allow r",
    ],
)
def test_a_note_in_a_literal_or_a_name_does_not_count(text: str) -> None:
    assert allowances(read(text)) == ()


def test_a_dollar_quoted_string_is_a_literal_in_duckdb() -> None:
    assert allowances(read(f"SELECT $$ -- {NOTE} $$", "duckdb")) == ()


def test_a_note_may_name_several_rules() -> None:
    notes = allowances(read("-- modularsql: allow a, b ,c\nSELECT 1"))
    assert [note.rule for note in notes] == ["a", "b", "c"]


def test_a_note_outside_the_statement_of_a_reply_does_not_count() -> None:
    text = f"Put -- {NOTE} there:\n```sql\nSELECT a\n```\n-- {NOTE}\n"
    assert allowances(read(text)) == ()
    assert allowances(read(f"SELECT a; words -- {NOTE}")) == ()
