"""Published gold: which results belong to a question, how they are compared, what a CSV says."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.pairs import result

from modularsql.errors import InputError
from modularsql.evaluation.csv_rows import as_csv, read_csv, read_gold
from modularsql.evaluation.gold import GoldFile, GoldFolder
from modularsql.records import Failure
from modularsql.rows import Rows


def folder(home: Path, names: str, *standards: Mapping[str, Any]) -> GoldFolder:
    (home / "exec_result").mkdir(parents=True)
    for name in names.split():
        (home / "exec_result" / f"{name}.csv").write_text("a\n1\n")
    if standards:
        (home / "lite_eval.jsonl").write_text("\n".join(map(json.dumps, standards)))
    return GoldFolder(home)


def test_a_question_has_its_own_result_and_further_ones_by_letter(tmp_path: Path) -> None:
    gold = folder(tmp_path, "local1_b local1 local1_a local10 local1_12 local1_A")
    assert [Path(one.path).stem for one in gold.results("local1")] == [
        "local1",
        "local1_a",
        "local1_b",
    ]
    assert [Path(one.path).stem for one in gold.results("local1_a")] == ["local1_a"]
    assert gold.results("local2") == ()
    assert gold.results("../exec_result/local1") == ()


@pytest.mark.parametrize(
    ("given", "columns"),
    [
        ([], [(), ()]),
        (None, [(), ()]),
        ([[]], [(), ()]),
        ([0, 2], [(0, 2), (0, 2)]),
        ([[1], [0, 2]], [(1,), (0, 2)]),
        ([[1], [0], [5]], [(1,), (0,)]),
        ([[1]], [(1,), ()]),
    ],
)
def test_the_columns_that_count_are_those_of_all_results_or_of_each(
    tmp_path: Path, given: Any, columns: list[tuple[int, ...]]
) -> None:
    standard = {"instance_id": "q", "condition_cols": given, "ignore_order": False}
    found = folder(tmp_path, "q_a q", standard).results("q")
    assert [one.columns for one in found] == columns
    assert all(one.ordered for one in found)


@pytest.mark.parametrize("given", ["0", [-1], ["a"], [[0], [None]], [[0], 1], 3])
def test_what_is_no_list_of_columns_is_said(tmp_path: Path, given: Any) -> None:
    gold = folder(tmp_path, "q", {"instance_id": "q", "condition_cols": given})
    with pytest.raises(InputError, match="condition_cols of q"):
        gold.results("q")


def test_without_a_standard_any_order_will_do(tmp_path: Path) -> None:
    assert [one.ordered for one in folder(tmp_path, "q").results("q")] == [False]
    (tmp_path / "other_eval.jsonl").write_text("")
    (tmp_path / "lite_eval.jsonl").write_text("")
    with pytest.raises(InputError, match="2 files"):
        GoldFolder(tmp_path).results("q")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n1,x\n2,y\n", [(1, "x"), (2, "y")]),
        ("a\n1\n2.5\n", [(1.0,), (2.5,)]),
        ("a\n1\nx\n", [("1",), ("x",)]),  # one column, one type
        ("a,b\n,NULL\n007,1e3\n", [(None, None), (7, 1000.0)]),
        ("a\nTrue\nfalse\n", [(True,), (False,)]),
        ("a,b\nTrue,1\n,2\n", [(True, 1), (None, 2)]),
        ("a\n1_000\n", [("1_000",)]),
        ("a\n99999999999999999999999\n", [(1e23,)]),
        ('a,b\n"x, ""y""\nz",1\n', [('x, "y"\nz', 1)]),
        ("\ufeffa\n\n1\n", [(1,)]),
        ('a\n""\n1\n', [(None,), (1,)]),
        ("a,b\n1\n", [(1, None)]),
        ("a\n", []),
    ],
)
def test_a_column_of_a_file_has_the_type_of_all_its_cells(
    tmp_path: Path, text: str, rows: list[tuple[Any, ...]]
) -> None:
    file = tmp_path / "gold.csv"
    file.write_text(text)
    found = read_csv(file, 100)
    assert isinstance(found, Rows)
    assert found.rows == rows
    assert list(map(type, sum(found.rows, ()))) == list(map(type, sum(rows, ())))


def test_a_result_goes_the_same_way(tmp_path: Path) -> None:
    there = result(
        ("007", 1, None, Decimal("1.50"), datetime(2020, 1, 2), b"x"),
        ("8", "x", 2.5, float("nan"), date(2020, 1, 3), None),
    )
    assert as_csv(there).rows == [
        (7, "1", None, 1.5, "2020-01-02", "b'x'"),
        (8, "x", 2.5, None, "2020-01-03", None),
    ]


def test_more_rows_than_are_kept_are_said(tmp_path: Path) -> None:
    file = tmp_path / "gold.csv"
    file.write_text("a\n1\n2\n3\n")
    found = read_csv(file, 2)
    assert isinstance(found, Rows)
    assert (found.rows, found.truncated) == ([(1,), (2,)], True)


@pytest.mark.parametrize(
    ("content", "columns", "said"),
    [
        (b"", (), "is empty"),
        (b"a\n1,2\n", (), "more than 1 cells"),
        (b"a\n\xff\n", (), "cannot read"),
        (b"a\n1\n", (1,), "condition_cols names number 1"),
        (None, (), "No such file"),
    ],
)
def test_a_file_that_is_no_table_is_a_failure(
    tmp_path: Path, content: bytes | None, columns: tuple[int, ...], said: str
) -> None:
    file = tmp_path / "gold.csv"
    if content is not None:
        file.write_bytes(content)
    found = read_gold(GoldFile(path=str(file), columns=columns), 10)
    assert isinstance(found, Failure)
    assert said in found.message
