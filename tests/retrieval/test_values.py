"""The value index: what is taken in, what is found, and what a second run leaves alone."""

from pathlib import Path

import pytest
from tests.conftest import OpenDatabase

from modularsql.errors import InputError
from modularsql.records import Limits
from modularsql.retrieval.extraction import Extracted, extract
from modularsql.retrieval.lexical import LexicalIndex, folded, likeness

SETUP = """
CREATE TABLE film(id INTEGER PRIMARY KEY, title TEXT, code VARCHAR(40), token TEXT, year TEXT,
  plot TEXT, rating REAL, note);
INSERT INTO film VALUES
 (1, 'Amélie', '550e8400-e29b-41d4-a716-446655440000',
  'deadbeefdeadbeef00', '2001', 'x', 8.3, 'a'),
 (2, 'The Third Man', '550e8400-e29b-41d4-a716-446655440001',
  'deadbeefdeadbeef01', '1949', 'y', 8, 5),
 (3, 'The Third Man', '550e8400-e29b-41d4-a716-446655440002',
  'deadbeefdeadbeef02', '1950', 'z', 7, 'b');
UPDATE film SET plot = printf('%.*c', 500, 'x');
"""


@pytest.fixture
def parts(open_database: OpenDatabase) -> dict[str, Extracted]:
    engine = open_database("sqlite", SETUP)
    return {part.column: part for part in extract(engine, (), 100, Limits())}


def test_distinct_values_come_with_their_counts(parts: dict[str, Extracted]) -> None:
    assert parts["title"].values == (("The Third Man", 2), ("Amélie", 1))
    assert parts["note"].values == (("a", 1), ("b", 1))


@pytest.mark.parametrize(
    ("column", "why"),
    [("code", "UUIDs"), ("token", "hashes"), ("year", "numbers or dates"), ("plot", "long texts")],
)
def test_what_nobody_asks_by_is_left_out(
    parts: dict[str, Extracted], column: str, why: str
) -> None:
    assert parts[column].skipped == f"it holds {why}"
    assert parts[column].values == ()


def test_numbers_are_not_looked_at(parts: dict[str, Extracted]) -> None:
    assert "rating" not in parts
    assert "id" not in parts


def test_bytes_of_another_encoding_are_left_out(
    open_database: OpenDatabase, tmp_path: Path
) -> None:
    setup = "CREATE TABLE t(x TEXT); INSERT INTO t VALUES ('tea'), (CAST(x'636166e9' AS TEXT));"
    [part] = extract(open_database("sqlite", setup), (), 10, Limits())
    assert part.values == (("tea", 1),)
    assert LexicalIndex(tmp_path / "values.sqlite").put(part) == 1


def test_tables_of_any_schema_are_looked_at(open_database: OpenDatabase) -> None:
    setup = "CREATE SCHEMA far; CREATE TABLE far.t(x TEXT); INSERT INTO far.t VALUES ('tea');"
    [part] = extract(open_database("duckdb", setup), (), 10, Limits())
    assert (part.skipped, part.values) == (None, (("tea", 1),))


def test_the_user_leaves_columns_out(open_database: OpenDatabase) -> None:
    engine = open_database("sqlite", SETUP)
    assert list(extract(engine, ("FILM.*",), 10, Limits())) == []


def test_of_many_values_the_most_frequent_stay(open_database: OpenDatabase) -> None:
    engine = open_database("sqlite", SETUP)
    title = next(p for p in extract(engine, (), 1, Limits()) if p.column == "title")
    assert title.values == (("The Third Man", 2),)
    assert title.sampled


@pytest.fixture
def index(tmp_path: Path, parts: dict[str, Extracted]) -> LexicalIndex:
    made = LexicalIndex(tmp_path / "values.sqlite")
    for part in parts.values():
        made.put(part)
    return made


@pytest.mark.parametrize(
    ("keyword", "value", "how"),
    [
        ("Amélie", "Amélie", "exact"),
        ("amelie", "Amélie", "folded"),
        ("THE  THIRD MAN", "The Third Man", "folded"),
        ("the thrid man", "The Third Man", "fuzzy"),
        ("amelei", "Amélie", "fuzzy"),
        ("third", "The Third Man", "fuzzy"),
    ],
)
def test_values_are_found_as_they_are_folded_and_misspelt(
    index: LexicalIndex, keyword: str, value: str, how: str
) -> None:
    match = index.search([keyword], 5)[0]
    assert (match.value, match.how, match.keyword) == (value, how, keyword)
    assert match.score == (1.0 if how != "fuzzy" else pytest.approx(match.score, abs=0.999))


@pytest.mark.parametrize("keyword", ["", "x", "%", '"', "' OR 1=1 --", "zzzzzz", "NEAR(", "*" * 50])
def test_odd_keywords_find_nothing_and_break_nothing(index: LexicalIndex, keyword: str) -> None:
    assert index.search([keyword], 5) == []


def test_a_column_that_did_not_change_is_left_alone(
    index: LexicalIndex, parts: dict[str, Extracted]
) -> None:
    assert not index.put(parts["title"])
    changed = Extracted(table="film", column="title", values=(("Metropolis", 1),))
    assert index.put(changed)
    assert [m.value for m in index.search(["metropolis", "amelie"], 5)] == ["Metropolis"]


def test_a_column_that_is_gone_is_dropped(index: LexicalIndex) -> None:
    assert index.keep_only([("film", "note")]) == 5
    assert index.search(["amelie"], 5) == []


def test_a_file_that_is_no_index_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_text("something else, long enough to be no database header at all")
    with pytest.raises(InputError, match="no value index"):
        LexicalIndex(path)


def test_likeness_is_1_only_for_the_same() -> None:
    assert likeness("lamp", "lamp") == 1
    assert likeness("lamp", "red lamp") == pytest.approx(0.9)
    assert likeness("lamp", "rug") == 0
    assert folded("  Ça  VA ") == "ca va"


def test_a_long_keyword_with_a_typo_is_found(tmp_path: Path) -> None:
    index = LexicalIndex(tmp_path / "long.sqlite")
    value = "The very long and winding title of a film about a road that never ends, volume two"
    others = tuple((f"{value} and {n} others of its kind", 1) for n in range(50))
    index.put(Extracted(table="film", column="title", values=((value, 1), *others)))
    for at in (0, 20, 40, 60, len(value) - 1):
        (match,) = index.search([value[:at] + value[at + 1 :]], 1)
        assert (match.value, match.how) == (value, "fuzzy")
    index.close()
