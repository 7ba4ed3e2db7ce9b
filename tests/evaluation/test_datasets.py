"""Data sets: what is read, how the kind is told, and what each refusal says."""

import json
from pathlib import Path
from typing import Any

import pytest

from modularsql.errors import InputError
from modularsql.evaluation.datasets import Question, database_file, database_files, read_dataset

DATA = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data beside the checkout")

BIRD = {
    "question_id": 7,
    "db_id": "shop",
    "question": "How many?",
    "evidence": "count rows",
    "SQL": "SELECT COUNT(*) FROM t",
    "difficulty": "simple",
}
SPIDER = {"db_id": "shop", "question": "How many?", "query": "SELECT COUNT(*) FROM t"}
OURS = {"id": "a", "db": "shop"}


def put(path: Path, content: Any) -> str:
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return str(path)


def refusal(spec: str) -> str:
    with pytest.raises(InputError) as caught:
        read_dataset(spec)
    message = str(caught.value)
    assert caught.value.hint
    assert "\n" not in message
    return message


def test_bird_is_told_by_its_fields_whatever_the_name(tmp_path: Path) -> None:
    dataset = read_dataset(put(tmp_path / "some.txt", [BIRD]))
    assert (dataset.kind, dataset.path) == ("bird", tmp_path / "some.txt")
    assert dataset.questions == (
        Question(
            id="7",
            db="shop",
            question="How many?",
            hint="count rows",
            gold="SELECT COUNT(*) FROM t",
            difficulty="simple",
        ),
    )


def test_spider_json_is_numbered_by_position(tmp_path: Path) -> None:
    dataset = read_dataset(put(tmp_path / "dev.json", [SPIDER, SPIDER]))
    assert dataset.kind == "spider"
    assert [q.id for q in dataset.questions] == ["0", "1"]
    assert dataset.questions[1].hint == ""
    assert dataset.questions[1].difficulty is None


def test_gold_text_gives_sql_and_database_without_a_question(tmp_path: Path) -> None:
    text = "SELECT 'a\tb' FROM t\tshop\r\nSELECT 2\tother\r\n\r\n"
    dataset = read_dataset(put(tmp_path / "dev_gold.sql", text))
    assert dataset.kind == "spider"
    assert [(q.db, q.gold, q.question) for q in dataset.questions] == [
        ("shop", "SELECT 'a\tb' FROM t", ""),
        ("other", "SELECT 2", ""),
    ]


def test_our_lines_need_only_an_id_and_a_database(tmp_path: Path) -> None:
    lines = [OURS, {**OURS, "id": 3, "gold": "SELECT 1", "hint": None}]
    spec = put(tmp_path / "set.jsonl", "\r\n".join(map(json.dumps, lines)))
    dataset = read_dataset(spec)
    assert dataset.kind == "jsonl"
    assert [(q.id, q.gold, q.hint) for q in dataset.questions] == [
        ("a", None, ""),
        ("3", "SELECT 1", ""),
    ]


def test_spider2_lite_has_its_gold_in_files_of_their_own(tmp_path: Path) -> None:
    folder = tmp_path / "evaluation_suite" / "gold" / "sql"
    folder.mkdir(parents=True)
    put(folder / "local1.sql", "SELECT 1;\n")
    put(tmp_path / "gold.sql", "SELECT 'not meant'")
    lines = [
        {"instance_id": name, "db": "shop", "question": "How many?", "external_knowledge": None}
        for name in ("local1", "local2", "../../../gold")
    ]
    spec = put(tmp_path / "spider2-lite.jsonl", "\n".join(map(json.dumps, lines)))
    for dataset in (read_dataset(spec), read_dataset(str(tmp_path))):
        assert (dataset.kind, dataset.gold) == ("spider2", (folder,))
        assert [(q.id, q.gold) for q in dataset.questions] == [
            ("local1", "SELECT 1;"),
            ("local2", None),
            ("../../../gold", None),
        ]


@pytest.mark.parametrize("content", [json.dumps([BIRD]), "SELECT 1\tshop\n", json.dumps(OURS)])
def test_a_byte_order_mark_changes_nothing(tmp_path: Path, content: str) -> None:
    plain = read_dataset(put(tmp_path / "plain", content))
    marked = read_dataset(put(tmp_path / "marked", "\ufeff" + content))
    assert marked.questions == plain.questions


def test_bird_without_ids_is_numbered_and_without_gold_has_none(tmp_path: Path) -> None:
    train = {k: v for k, v in BIRD.items() if k != "question_id"}
    assert [q.id for q in read_dataset(put(tmp_path / "a", [train, train])).questions] == ["0", "1"]
    blind = {k: v for k, v in BIRD.items() if k != "SQL"}
    assert read_dataset(put(tmp_path / "b", [blind])).questions[0].gold is None


def test_a_prefix_forces_the_kind(tmp_path: Path) -> None:
    both = put(tmp_path / "dev.json", [{**BIRD, "query": "SELECT 2"}])
    assert read_dataset(both).questions[0].gold == BIRD["SQL"]
    forced = read_dataset(f"spider:{both}")
    assert (forced.kind, forced.questions[0].gold) == ("spider", "SELECT 2")
    assert "no id" in refusal(f"jsonl:{both}")


def test_a_folder_gives_dev_json_before_gold_text_before_lines(tmp_path: Path) -> None:
    put(tmp_path / "x.jsonl", OURS)
    assert read_dataset(str(tmp_path)).path.name == "x.jsonl"
    put(tmp_path / "dev_gold.sql", "SELECT 1\tshop\n")
    assert read_dataset(str(tmp_path)).path.name == "dev_gold.sql"
    put(tmp_path / "dev.json", [SPIDER])
    assert read_dataset(str(tmp_path)).path.name == "dev.json"
    assert read_dataset(f"jsonl:{tmp_path}").path.name == "x.jsonl"


def test_a_folder_with_two_different_candidates_names_them(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", OURS)
    put(tmp_path / "b.jsonl", OURS)
    assert read_dataset(str(tmp_path)).path.name == "a.jsonl"
    put(tmp_path / "b.jsonl", {**OURS, "id": "b"})
    assert "a.jsonl, b.jsonl" in refusal(str(tmp_path))


def test_a_folder_with_nothing_says_what_it_looked_for(tmp_path: Path) -> None:
    assert "dev.json, *_gold.sql, *.jsonl" in refusal(str(tmp_path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no question"),
        ("\ufeff \n", "holds no question"),
        ("[]", "holds no question"),
        ('[{"db_id": "shop", ', "is no valid JSON"),
        ("[" * 100_000, "is no valid JSON"),
        ("[1]", "position 0: no object"),
        ([{"db_id": "shop", "question": "?"}], "position 0 has: db_id, question"),
        ([SPIDER, {**SPIDER, "db_id": ""}], "position 1: no db_id"),
        ([SPIDER, {"db_id": "shop", "question": "?"}], "position 1: no query"),
        ([BIRD, {**BIRD, "question_id": None}], "position 1: no question_id"),
        ([{**BIRD, "question_id": 1.5}], "position 0: question_id is no text"),
        ([{**SPIDER, "query": ["SELECT"]}], "position 0: query is no text"),
        ([OURS, OURS], "position 1: id a stands at 0 too"),
        ("SELECT 1\tshop\nSELECT 2\n", "line 2: neither JSON nor SQL, a tab and a database"),
        ("SELECT 1\tshop\n\nSELECT 2\tshop\n", "line 2"),
    ],
)
def test_a_refusal_names_the_file_and_the_position(tmp_path: Path, content: Any, said: str) -> None:
    message = refusal(put(tmp_path / "set.json", content))
    assert str(tmp_path / "set.json") in message
    assert said in message


def test_repeated_bird_ids_give_way_to_positions_and_the_set_says_so(tmp_path: Path) -> None:
    others = [{**BIRD, "question_id": at} for at in (8, 9, 10)]
    dataset = read_dataset(put(tmp_path / "mini.json", [BIRD, *others, *others, BIRD, BIRD]))
    assert [question.id for question in dataset.questions] == [str(at) for at in range(9)]
    assert dataset.own_ids == ("7", "8", "9", "10", "8", "9", "10", "7", "7")
    assert dataset.note is not None
    assert "question_id repeats (7, 8, 9 and 1 more)" in dataset.note
    assert read_dataset(put(tmp_path / "dev.json", others)).note is None


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_bytes(b'[{"db_id": "caf\xe9"}]')
    assert "is not UTF-8 (byte 15)" in refusal(str(tmp_path / "dev.json"))


def test_a_name_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    assert "cannot read" in refusal(str(tmp_path / "none.json"))
    assert "cannot read" in refusal("x" * 5000)
    assert "cannot read" in refusal("bird:a\0b")
    assert "no data set was named" in refusal("spider:")
    assert "unknown kind of data set: wiki" in refusal("wiki:dev.json")


@pytest.mark.parametrize(
    "name",
    ["s/s.sqlite", "s/s.db", "s/s.duckdb", "s.sqlite", "s.db", "s.duckdb"],
)
def test_a_database_is_found_in_its_folder_or_beside_it(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.touch()
    assert database_file(tmp_path, "s") == file
    assert database_file(tmp_path, "t") is None


def test_the_folder_of_a_database_comes_before_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    for name in ("s.sqlite", "s/s.duckdb", "s/s.db"):
        (tmp_path / name).touch()
    assert database_file(tmp_path, "s") == tmp_path / "s" / "s.db"


@pytest.mark.parametrize(
    "db",
    ["../s", "..", ".", "", "a/../../s", "..\\s", "C:s", "/etc/s", "s\0", "s" * 5000, "\ud800"],
)
def test_a_database_name_cannot_leave_its_root(tmp_path: Path, db: str) -> None:
    (tmp_path / "s.sqlite").touch()
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "s.sqlite").touch()
    (tmp_path / "root" / "a").mkdir(parents=True)
    assert database_file(tmp_path / "root", db) is None


def test_further_files_of_a_database_stand_in_a_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for name in ("shop/a.sqlite", "shop/shop.sqlite", "shop/.b.sqlite", "shop/n.txt", "x.sqlite"):
        (tmp_path / name).touch()
    names = [file.name for file in database_files(tmp_path, "shop")]
    assert names == ["shop.sqlite", "a.sqlite"]
    assert database_files(tmp_path, "x") == (tmp_path / "x.sqlite",)
    assert database_files(tmp_path, "gone") == ()


@pytest.mark.parametrize(
    ("gold", "golds"),
    [
        (["SELECT 1", "SELECT 2"], ("SELECT 1", "SELECT 2")),
        (["", "SELECT 2"], ("SELECT 2",)),
        ([], (None,)),
        ("SELECT 1", ("SELECT 1",)),
        (None, (None,)),
    ],
)
def test_our_jsonl_may_have_several_golds(
    tmp_path: Path, gold: object, golds: tuple[object, ...]
) -> None:
    spec = put(tmp_path / "set.jsonl", json.dumps({"id": 1, "db": "d", "gold": gold}))
    (question,) = read_dataset(spec).questions
    assert question.golds == golds


@pytest.mark.parametrize("gold", [[7], [["SELECT 1"]], {"a": 1}])
def test_a_gold_that_is_no_text_is_said(tmp_path: Path, gold: object) -> None:
    spec = put(tmp_path / "set.jsonl", json.dumps({"id": 1, "db": "d", "gold": gold}))
    with pytest.raises(InputError, match="gold is no text"):
        read_dataset(spec)


def test_an_absolute_database_name_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "s.sqlite").touch()
    (tmp_path / "root").mkdir()
    assert database_file(tmp_path / "root", str(tmp_path / "s")) is None


@needs_data
@pytest.mark.parametrize(
    ("name", "kind", "count"),
    [
        ("spider", "spider", 1034),
        ("spider/dev_gold.sql", "spider", 1034),
        ("spider/train_gold.sql", "spider", 8659),
        ("bird", "bird", 1534),
        ("bird/minidev/mini_dev_sqlite.json", "bird", 500),
        ("bird/minidev/mini_dev_mysql.json", "bird", 500),
        ("bird/minidev/mini_dev_postgresql.json", "bird", 500),
    ],
)
def test_the_public_sets_are_read_whole(name: str, kind: str, count: int) -> None:
    dataset = read_dataset(str(DATA / name))
    assert (dataset.kind, len(dataset.questions)) == (kind, count)
    assert all(question.gold for question in dataset.questions)


@needs_data
def test_the_gold_text_of_spider_agrees_with_its_json() -> None:
    text = read_dataset(str(DATA / "spider" / "dev_gold.sql")).questions
    full = read_dataset(str(DATA / "spider" / "dev.json")).questions
    assert [(q.id, q.db, q.gold) for q in text] == [(q.id, q.db, q.gold) for q in full]


@needs_data
def test_databases_of_the_public_sets_are_found() -> None:
    superhero = DATA / "bird" / "databases" / "superhero" / "superhero.sqlite"
    assert database_file(DATA / "bird" / "databases", "superhero") == superhero
    assert database_file(DATA / "spider" / "database", "concert_singer") is not None
