"""Candidate pools: what a system considered for each question, from JSONL or its snapshots."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from modularsql.errors import InputError
from modularsql.evaluation.datasets import Dataset
from modularsql.evaluation.texts import holds, json_values, read_utf8, shown

Pools = Mapping[str, tuple[str, ...]]
"""Candidates by question id, in the order of their file."""

_SNAPSHOT = "items.jsonl"
# DeepEye-SQL's stages, the last one first: where its artifacts keep candidates.
_STAGES = (
    ("sql_revision", "sql_candidates_after_revision"),
    ("sql_generation", "sql_candidates"),
)
_SQL_FIELDS = ("sql", "predicted_sql", "sql_query")
_FORM = '{"id": …, "candidates": ["SELECT …", …]} on each line, or a JSON list for one query'


def read_pools(path: Path, dataset: Dataset) -> Pools:
    """The pools at `path`: JSONL, or a DeepEye-SQL snapshot (its `items.jsonl` or its folder).

    Questions may go without a pool. Raises `InputError` for a file that is none, for ids that
    the data set does not have, and for an id that comes twice.
    """
    pools: dict[str, tuple[str, ...]] = {}
    for place, (id_, candidates) in enumerate(_entries(path), 1):
        if id_ is None:
            raise InputError(f"{path}: pool {place:,} has no id", f"write {_FORM}")
        if id_ in pools:
            raise InputError(f"{path}: two pools for id {shown(id_)}", "give each question one")
        pools[id_] = candidates
    known = {question.id for question in dataset.questions}
    strange = [id_ for id_ in pools if id_ not in known]
    if strange:
        raise InputError(
            f"{path} has {len(pools):,} pools, {len(strange):,} of them for no question of "
            f"{dataset.path} ({len(known):,} questions), the first for id {shown(strange[0])}",
            "use the ids of the data set, or 0-based positions where it has none",
        )
    return pools


def read_candidates(path: Path) -> tuple[str, ...]:
    """The candidates for one query: a JSON list of SQL, or JSONL with one pool."""
    pools = list(_entries(path))
    if len(pools) != 1:
        raise InputError(f"{path} holds {len(pools):,} pools", "give the pool of this query alone")
    return pools[0][1]


def _entries(path: Path) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    file = _snapshot(path) if holds(path.is_dir) else path
    values = [value.value for value in json_values(read_utf8(file), file)]
    if len(values) == 1 and isinstance(values[0], list) and not _are_pools(values[0]):
        yield None, _sqls(values[0], file)
        return
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    for value in values:
        yield _entry(value, file)


def _are_pools(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(v, dict) and "candidates" in v for v in values)


def _snapshot(folder: Path) -> Path:
    found = sorted(folder.rglob(_SNAPSHOT))
    if len(found) != 1:
        many = f"{len(found):,} files" if found else "no file"
        raise InputError(f"{folder} holds {many} {_SNAPSHOT}", "name the one that is meant")
    return found[0]


def _entry(value: Any, path: Path) -> tuple[str | None, tuple[str, ...]]:
    if isinstance(value, dict) and "candidates" in value:
        id_ = value.get("id", value.get("question_id"))
        return None if id_ is None else str(id_), _sqls(value["candidates"], path)
    if isinstance(value, dict) and isinstance(value.get("pipeline_artifacts"), dict):
        asked = value.get("input")
        id_ = asked.get("question_id") if isinstance(asked, dict) else None
        return None if id_ is None else str(id_), _sqls(_of_stages(value), path)
    raise InputError(f"{path} is no file of candidates", f"write {_FORM}")


def _of_stages(value: Mapping[str, Any]) -> Any:
    artifacts = value["pipeline_artifacts"]
    for stage, field in _STAGES:
        made = artifacts.get(stage)
        if isinstance(made, dict) and made.get(field):
            return made[field]
    return []


def _sqls(values: Any, path: Path) -> tuple[str, ...]:
    """The candidates that are SQL; an empty one keeps its place, since judges count places."""
    if not isinstance(values, list):
        raise InputError(f"{path}: candidates are no list", f"write {_FORM}")
    return tuple(_sql(value) for value in values)


def _sql(value: Any) -> str:
    if isinstance(value, dict):
        value = next((value[name] for name in _SQL_FIELDS if name in value), "")
    return value if isinstance(value, str) else ""
