"""Candidate pools: JSONL, a list for one query, DeepEye-SQL snapshots; what is none is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from modularsql.errors import InputError
from modularsql.evaluation.datasets import Dataset, read_dataset
from modularsql.evaluation.pools import read_candidates, read_pools


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(json.dumps({"id": f"{i}", "db": "shop"}) for i in range(3)))
    return read_dataset(str(path))


def written(path: Path, *values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(value) for value in values))
    return path


def test_a_pool_is_found_by_its_id_and_questions_may_go_without(
    tmp_path: Path, dataset: Dataset
) -> None:
    lines = [{"id": "2", "candidates": ["SELECT 1", "SELECT 2"]}, {"id": 0, "candidates": []}]
    pools = read_pools(written(tmp_path / "pools.jsonl", *lines), dataset)
    assert pools == {"2": ("SELECT 1", "SELECT 2"), "0": ()}


def test_candidates_that_are_no_text_keep_their_place(tmp_path: Path, dataset: Dataset) -> None:
    line = {"id": "1", "candidates": ["SELECT 1", None, {"sql": "SELECT 2"}, 5]}
    pools = read_pools(written(tmp_path / "pools.jsonl", line), dataset)
    assert pools["1"] == ("SELECT 1", "", "SELECT 2", "")


@pytest.mark.parametrize("as_folder", [False, True])
def test_a_snapshot_gives_the_candidates_of_its_last_stage(
    tmp_path: Path, dataset: Dataset, as_folder: bool
) -> None:
    generated = {"sql_candidates": ["SELECT 1"]}
    revised = {"sql_candidates_after_revision": ["SELECT 2", "SELECT 3"]}
    items = [
        {
            "input": {"question_id": 0},
            "pipeline_artifacts": {"sql_generation": generated, "sql_revision": revised},
        },
        {"input": {"question_id": 1}, "pipeline_artifacts": {"sql_generation": generated}},
        {"input": {"question_id": 2}, "pipeline_artifacts": {}},
    ]
    path = written(tmp_path / "run" / "dev.snapshot.data" / "items.jsonl", *items)
    pools = read_pools(tmp_path / "run" if as_folder else path, dataset)
    assert pools == {"0": ("SELECT 2", "SELECT 3"), "1": ("SELECT 1",), "2": ()}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([{"id": "9", "candidates": []}], "1 pools, 1 of them for no question"),
        ([{"id": "1", "candidates": []}] * 2, "two pools for id 1"),
        ([{"candidates": ["SELECT 1"]}], "pool 1 has no id"),
        ([{"id": "1", "candidates": "SELECT 1"}], "no list"),
        ([{"id": "1", "sql": "SELECT 1"}], "no file of candidates"),
        ([5], "no file of candidates"),
        (["SELECT 1"], "no file of candidates"),
    ],
)
def test_what_is_no_pool_is_refused(
    tmp_path: Path, dataset: Dataset, values: list[Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read_pools(written(tmp_path / "pools.jsonl", *values), dataset)


def test_a_folder_without_a_snapshot_is_refused(tmp_path: Path, dataset: Dataset) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no file items\.jsonl"):
        read_pools(tmp_path / "empty", dataset)


@pytest.mark.parametrize(
    "values",
    [
        [["SELECT 1", "SELECT 2"]],
        [{"id": "x", "candidates": ["SELECT 1", "SELECT 2"]}],
        [[{"candidates": ["SELECT 1", "SELECT 2"]}]],
    ],
)
def test_the_candidates_of_one_query(tmp_path: Path, values: list[Any]) -> None:
    found = read_candidates(written(tmp_path / "c.json", *values))
    assert found == ("SELECT 1", "SELECT 2")


def test_for_one_query_one_pool_is_wanted(tmp_path: Path) -> None:
    pool = {"id": "x", "candidates": ["SELECT 1"]}
    with pytest.raises(InputError, match="2 pools"):
        read_candidates(written(tmp_path / "c.jsonl", pool, pool))
