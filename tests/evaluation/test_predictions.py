"""Prediction files: every shape is read, aligned or refused, and written back as it was."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modularsql.errors import InputError
from modularsql.evaluation.datasets import Dataset, Question, read_dataset
from modularsql.evaluation.predictions import (
    BIRD_MARK,
    Predictions,
    read_predictions,
    write_predictions,
)

DATA = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data beside the checkout")


def asked(*ids: str, db: str = "shop") -> Dataset:
    questions = tuple(
        Question(id=name, db=db, question="?", hint="", gold=None, difficulty=None) for name in ids
    )
    return Dataset(kind="jsonl", path=Path("set.jsonl"), questions=questions)


def read(path: Path, content: Any, dataset: Dataset) -> Predictions:
    path.write_bytes((content if isinstance(content, str) else json.dumps(content)).encode())
    return read_predictions(path, dataset)


def written(predictions: Predictions, sqls: dict[str, str]) -> str:
    out = predictions.path.with_name("out")
    write_predictions(predictions, sqls, out)
    return out.read_bytes().decode()


def sqls(predictions: Predictions) -> dict[str, str | None]:
    return {item.id: item.sql for item in predictions.items}


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.hint
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ('{"b": " S2", "a": "S1"}', "json-object"),
        ('["S1", "S2"]', "json-list"),
        ('[{"id": "b", "sql": "S2"}, {"id": "a", "sql": "S1"}]', "json-list"),
        ('{"b": {"sql": "S2"}, "a": {"sql": "S1"}}', "json-object"),
        ('{"id": "b", "sql": "S2"}\n{"id": "a", "sql": "S1"}\n', "jsonl"),
        ('\ufeff{"question_id": "a", "SQL": "S1"}\r\n{"id": "b", "prediction": "S2"}', "jsonl"),
        ("S1\nS2", "lines"),
        ("   S1 \r\nS2\tshop\r\n\r\n\r\n", "lines"),
        ("\ufeffS1\nS2\n", "lines"),
    ],
)
def test_each_shape_is_told_by_its_content(tmp_path: Path, content: str, kind: str) -> None:
    predictions = read(tmp_path / "file", content, asked("a", "b"))
    assert predictions.kind == kind
    assert list(sqls(predictions).items()) == [("a", "S1"), ("b", "S2")]


def test_one_record_alone_is_a_line_of_records(tmp_path: Path) -> None:
    predictions = read(tmp_path / "file", {"id": 0, "sql": "S"}, asked("0"))
    assert (predictions.kind, sqls(predictions)) == ("jsonl", {"0": "S"})


def test_a_predicted_sql_wins_over_the_gold_beside_it(tmp_path: Path) -> None:
    record = {"question_id": 0, "SQL": "gold", "predicted_sql": "ours"}
    assert sqls(read(tmp_path / "file", [record], asked("0"))) == {"0": "ours"}


def test_records_without_ids_go_by_position(tmp_path: Path) -> None:
    predictions = read(tmp_path / "file", [{"sql": "S1"}, {"sql": "S2"}], asked("a", "b"))
    assert sqls(predictions) == {"a": "S1", "b": "S2"}


def test_the_database_is_split_off(tmp_path: Path) -> None:
    lines = read(tmp_path / "lines", "SELECT\t1\tshop\nSELECT\t2\n", asked("a", "b"))
    assert [(i.sql, i.db) for i in lines.items] == [("SELECT\t1", "shop"), ("SELECT\t2", None)]
    bird = read(tmp_path / "bird", {"a": f"SELECT 1{BIRD_MARK}shop"}, asked("a"))
    assert [(i.sql, i.db) for i in bird.items] == [("SELECT 1", "shop")]
    unnamed = read(tmp_path / "unnamed", {"a": f"SELECT 1{BIRD_MARK}"}, asked("a"))
    assert [(i.sql, i.db) for i in unnamed.items] == [("SELECT 1", None)]


def test_entries_that_are_no_text_say_what_they_are(tmp_path: Path) -> None:
    entries = {"a": 0, "b": None, "c": ["S"], "d": "S"}
    predictions = read(tmp_path / "file", entries, asked(*entries))
    assert [item.problem for item in predictions.items] == [
        "no SQL text but 0",
        "no SQL text but null",
        'no SQL text but ["S"]',
        None,
    ]
    assert predictions.items[0].sql is None


def test_keys_that_are_positions_go_by_position(tmp_path: Path) -> None:
    predictions = read(tmp_path / "file", {"1": "S2", "0": "S1"}, asked("1471", "1472"))
    assert sqls(predictions) == {"1471": "S1", "1472": "S2"}


def repeating(*own: str) -> Dataset:
    dataset = asked(*(str(at) for at in range(len(own))))
    return replace(dataset, own_ids=own, note="question_id 7 stands there twice")


def test_records_with_the_repeated_ids_of_their_set_go_by_position(tmp_path: Path) -> None:
    records = [{"question_id": name, "sql": f"S{at}"} for at, name in enumerate((7, 8, 7))]
    predictions = read(tmp_path / "file", records, repeating("7", "8", "7"))
    assert sqls(predictions) == {"0": "S0", "1": "S1", "2": "S2"}
    assert sqls(read(tmp_path / "file", {"2": "S", "0": "T", "1": ""}, repeating("7", "8", "7")))


def test_a_mismatch_with_repeated_ids_says_what_the_ids_are(tmp_path: Path) -> None:
    message = refusal(lambda: read(tmp_path / "f", {"7": "S", "8": "S"}, repeating("7", "8", "7")))
    assert "predictions: 2 entries, data set: 3 questions" in message
    assert "question_id 7 stands there twice" in message


def test_ids_come_before_positions(tmp_path: Path) -> None:
    predictions = read(tmp_path / "file", {"0": "S0", "1": "S1"}, asked("1", "0"))
    assert sqls(predictions) == {"1": "S1", "0": "S0"}


def test_a_blank_line_in_the_middle_is_an_empty_answer(tmp_path: Path) -> None:
    predictions = read(tmp_path / "file", "S1\n\nS3\n\n \n", asked("a", "b", "c"))
    assert sqls(predictions) == {"a": "S1", "b": "", "c": "S3"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("S1\nS2\n", "predictions: 2 entries, data set: 3 questions; missing: c"),
        ("", "predictions: 0 entries, data set: 3 questions; missing: a, b, c"),
        ("1\n2\n\n4\n", "predictions: 4 entries, data set: 3 questions; unknown: position 3"),
        ("{}", "0 entries"),
        ({"a": "S", "b": "S"}, "predictions: 2 entries, data set: 3 questions; missing: c"),
        ({"a": "S", "b": "S", "z": "S"}, "missing: c; unknown: z"),
        (["S"] * 8, "unknown: position 3, position 4, position 5 and more"),
        ('{"a": "S", "b": "S", "a": "S"}', "id a has 2 entries"),
        ([{"id": "a", "sql": "S"}, "S", "S"], "position 1: no id"),
        ([{"id": "a", "answer": "S"}], "no entry has SQL"),
        ('{"a": "S", "b": ', "is no valid JSON"),
        ('["a"', "is no valid JSON"),
        (f"S\nS{BIRD_MARK}bar\nS\n", "the entry for id b names database bar, not shop"),
        ({"a\nb": "S"}, r"unknown: 'a\nb'"),
    ],
)
def test_a_mismatch_is_refused_with_both_numbers(tmp_path: Path, content: Any, said: str) -> None:
    message = refusal(lambda: read(tmp_path / "file", content, asked("a", "b", "c")))
    assert str(tmp_path / "file") in message
    assert said in message


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    assert "cannot read" in refusal(lambda: read_predictions(tmp_path / "none", asked("a")))
    assert "0 entries" in refusal(lambda: read_predictions(tmp_path, asked("a")))


def test_only_the_named_entries_change(tmp_path: Path) -> None:
    text = f'{{\n  "b": "old{BIRD_MARK}shop",\n  "a": " é  {BIRD_MARK}shop",\n  "c": 0\n}}'
    text = text.replace("\t", "\\t")
    predictions = read(tmp_path / "file", text, asked("a", "b", "c"))
    assert written(predictions, {"b": 'SELECT\n"ü"'}) == text.replace("old", r"SELECT\n\"ü\"")
    assert written(predictions, {"a": "é"}) == text
    assert written(predictions, {"c": "S"}) == text.replace(
        '"c": 0', f'"c": "S{BIRD_MARK}shop"'.replace("\t", "\\t")
    )


def test_ascii_files_stay_ascii(tmp_path: Path) -> None:
    predictions = read(tmp_path / "file", {"a": "S"}, asked("a"))
    assert written(predictions, {"a": "SELECT 'ü'"}) == '{"a": "SELECT \'\\u00fc\'"}'


def test_records_keep_their_other_fields(tmp_path: Path) -> None:
    text = '{"SQL":"gold" , "id": 1,"sql":"S1"}\r\n{"id": 2, "sql": null}'
    predictions = read(tmp_path / "file", text, asked("1", "2"))
    assert written(predictions, {"1": "NEW"}) == text.replace("S1", "NEW")


def test_lines_keep_their_ends_and_their_database(tmp_path: Path) -> None:
    text = "  one\tshop\r\n\r\nthree\tshop \r\nfour\tshop"
    predictions = read(tmp_path / "file", text, asked("a", "b", "c", "d"))
    assert written(predictions, {"a": "NEW"}) == text.replace("  one", "NEW")
    assert written(predictions, {"b": "NEW"}) == text.replace("\r\n\r\n", "\r\nNEW\tshop\r\n")
    assert written(predictions, {"d": "NEW"}) == text.replace("four", "NEW")


def test_sql_on_several_lines_is_joined_by_its_meaning(tmp_path: Path) -> None:
    predictions = read(tmp_path / "file", "S1\nS2\n", asked("a", "b"))
    sql = "SELECT a -- not b\nFROM t\r\nWHERE c = 'x -- y';\n-- done"
    assert written(predictions, {"a": sql}) == "SELECT a FROM t WHERE c = 'x -- y'\nS2\n"


@pytest.mark.parametrize("sql", ["SELECT 'a\nb'", "SELECT (\n", "SELECT 1;\nSELECT 2", "\n"])
def test_sql_that_fits_no_line_is_refused_and_nothing_is_written(tmp_path: Path, sql: str) -> None:
    predictions = read(tmp_path / "file", "S1\nS2\n", asked("a", "b"))
    message = refusal(lambda: written(predictions, {"b": sql}))
    assert "the SQL for id b cannot be written on one line" in message
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_unknown_id_is_refused(tmp_path: Path) -> None:
    predictions = read(tmp_path / "file", ["S"], asked("a"))
    assert "id b" in refusal(lambda: written(predictions, {"b": "S"}))


def test_a_folder_goes_to_a_folder(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.sql").write_bytes(b"\xef\xbb\xbf\nSELECT\n 1;\n")
    (source / "b.sql").write_bytes(b"")
    (source / "notes.txt").touch()
    (source / "._a.sql").write_bytes(b"\xff")
    predictions = read_predictions(source, asked("b", "a"))
    assert list(sqls(predictions).items()) == [("b", ""), ("a", "SELECT\n 1;")]
    out = tmp_path / "new" / "out"
    write_predictions(predictions, {"b": "SELECT\n2"}, out)
    assert sorted(path.name for path in out.iterdir()) == ["a.sql", "b.sql"]
    assert (out / "a.sql").read_bytes() == (source / "a.sql").read_bytes()
    assert (out / "b.sql").read_text("utf-8") == "SELECT\n2"


def test_a_crash_while_writing_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    predictions = read(tmp_path / "file", ["S"], asked("a"))

    def full(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    message = refusal(lambda: write_predictions(predictions, {"a": "T"}, predictions.path))
    assert "No space left on device" in message
    assert predictions.path.read_text("utf-8") == '["S"]'
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    predictions = read(tmp_path / "file", "S\n", asked("a"))
    for out in (tmp_path, tmp_path / "file" / "below", Path("a\0b"), Path("x" * 5000)):
        refusal(partial(write_predictions, predictions, {}, out))
    refusal(lambda: write_predictions(predictions, {"a": "\ud800"}, tmp_path / "out"))


def plain(text: str) -> bool:
    return BIRD_MARK.strip() not in text  # hypothesis tries constants of the code it tests


TEXT = st.text(st.characters(codec="utf-8"), max_size=20).filter(plain)
LINE = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=20).filter(plain)
JSON = st.one_of(TEXT, TEXT.map(lambda sql: f"{sql}{BIRD_MARK}shop"), st.none(), st.integers())
quiet = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def as_lines(ids: Sequence[str], texts: Sequence[Any]) -> str:
    return "".join(
        json.dumps({"id": name, "sql": text}) + "\n" for name, text in zip(ids, texts, strict=True)
    )


@quiet
@given(st.lists(JSON, min_size=1, max_size=5), st.sampled_from([None, 0, 2, 4, "\t"]), st.data())
def test_json_that_is_read_and_written_stays_the_same(
    tmp_path: Path, texts: list[Any], indent: int | str | None, data: st.DataObject
) -> None:
    ids = [f"q{at}" for at in range(len(texts))]
    ascii_only = data.draw(st.booleans())
    by_id = dict(data.draw(st.permutations(list(zip(ids, texts, strict=True)))))
    shapes = [
        json.dumps(by_id, indent=indent, ensure_ascii=ascii_only),
        json.dumps(texts, indent=indent, ensure_ascii=ascii_only),
        as_lines(list(by_id), list(by_id.values())),
    ]
    for text in shapes:
        assert_round_trip(tmp_path, text, asked(*ids), data)


@quiet
@given(
    st.lists(LINE, max_size=5),
    LINE.filter(
        lambda line: line.strip(" \t\r\ufeff") and line.lstrip("\ufeff \t\r")[0] not in "[{"
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.data(),
)
def test_lines_that_are_read_and_written_stay_the_same(
    tmp_path: Path, lines: list[str], first: str, end: str, data: st.DataObject
) -> None:
    # A file that lacks its last newline has a last line that is not empty.
    last = end if not [first, *lines][-1].strip("\r") or data.draw(st.booleans()) else ""
    text = end.join([first, *lines]) + last
    assert_round_trip(tmp_path, text, asked(*(f"q{at}" for at in range(len(lines) + 1))), data)


def assert_round_trip(tmp_path: Path, text: str, dataset: Dataset, data: st.DataObject) -> None:
    """Unchanged bytes without a change; with one, that answer is new and all others are not."""
    predictions = read(tmp_path / "file", text, dataset)
    assert written(predictions, {}) == text
    kept = {item.id: item.sql for item in predictions.items if item.sql is not None}
    assert written(predictions, kept) == text
    changed = data.draw(st.sampled_from([question.id for question in dataset.questions]))
    written(predictions, {changed: "SELECT 'é'"})
    again = read_predictions(tmp_path / "out", dataset)
    assert sqls(again) == {**sqls(predictions), changed: "SELECT 'é'"}


@needs_data
@pytest.mark.parametrize(
    ("name", "folder"), [("spider", "predictions_dev"), ("bird", "predictions")]
)
def test_the_public_predictions_are_read_and_written_whole(
    tmp_path: Path, name: str, folder: str
) -> None:
    dataset = read_dataset(str(DATA / name))
    files = sorted((DATA / name / folder).iterdir())
    assert files
    for file in files:
        predictions = read_predictions(file, dataset)
        assert len(predictions.items) == len(dataset.questions)
        write_predictions(predictions, {}, tmp_path / file.name)
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


@needs_data
def test_the_numbers_in_a_public_file_are_reported_not_dropped() -> None:
    dataset = read_dataset(str(DATA / "bird" / "dev.json"))
    file = DATA / "bird" / "predictions" / "gpt-3.5-turbo-kg.json"
    problems = [item.problem for item in read_predictions(file, dataset).items if item.problem]
    assert problems == ["no SQL text but 0"] * 14
