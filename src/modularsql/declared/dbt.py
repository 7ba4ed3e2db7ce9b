"""Keys as a dbt project tests and declares them: `target/manifest.json`, version 7 or later.

Taken are the tests `unique`, `not_null`, `relationships` and
`dbt_utils.unique_combination_of_columns` on models, seeds, snapshots and sources, and the
constraints of enforced model contracts. All of it is asserted: a test held when it last ran,
on the target it ran on. A disabled or filtered test, or one that tolerates failures, says less
than its name, so it is left out and listed; one that only warns is taken, and listed.

`unique` passes over NULLs, `unique_combination_of_columns` counts them as equal.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from modularsql.catalog import Catalog, ForeignKey
from modularsql.declared.dbt_names import (
    column_named,
    columns_named,
    config_of,
    is_table,
    needed_nodes,
    node_meant,
    said_of,
)
from modularsql.declared.facts import Declared, Said
from modularsql.errors import InputError
from modularsql.records import Evidence

_OLDEST = 7
_TESTS = ("unique", "not_null", "relationships", "unique_combination_of_columns")
_NAMESPACES = (None, "", "dbt", "dbt_utils")
_ANY_FAILURE = ("", "!=0", ">0", ">=1")


def is_manifest(value: Any) -> bool:
    """Whether JSON has the shape of a manifest."""
    return isinstance(value, dict) and isinstance(value.get("nodes"), dict)


def read_manifest(value: Mapping[str, Any], source: str) -> Declared:
    """What the project says of its tables. Raises `InputError` for a manifest too old."""
    _check_version(value, source)
    nodes = {**_section(value, "nodes"), **_section(value, "sources")}
    project = _Project(nodes=nodes)
    for id_, node in nodes.items():
        if is_table(node):
            project.said[id_] = said_of(node)
            _contract(node, project.said[id_], project)
    for id_, node in nodes.items():
        if isinstance(node, dict) and node.get("resource_type") == "test":
            _test(id_, node, project)
    for id_, copies in _section(value, "disabled").items():
        first = copies[0] if isinstance(copies, list) and copies else None
        if isinstance(first, dict) and _kind(first):
            project.problems.append(f"{_named(id_, first)}: disabled, so left out")
    tables = [said.table() for said in project.said.values()]
    return Declared(
        catalog=Catalog(dialect="", tables=tuple(t for t in tables if t.columns)),
        problems=tuple(project.problems),
    )


@dataclass(slots=True, kw_only=True)
class _Project:
    nodes: Mapping[str, Any]
    said: dict[str, Said] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def _check_version(value: Mapping[str, Any], source: str) -> None:
    metadata = value.get("metadata")
    stated = metadata.get("dbt_schema_version") if isinstance(metadata, dict) else None
    version = re.search(r"/v(\d+)", str(stated))
    if version and int(version[1]) < _OLDEST:
        raise InputError(
            f"{source} is a dbt manifest of version {version[1]}, {_OLDEST} is the oldest read",
            "run dbt parse with dbt 1.3 or later",
        )


def _section(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = value.get(name)
    return section if isinstance(section, dict) else {}


def _kind(node: Mapping[str, Any]) -> str:
    """Which of the tests read here the node is, empty for any other."""
    metadata = node.get("test_metadata")
    if not isinstance(metadata, dict) or metadata.get("namespace") not in _NAMESPACES:
        return ""
    name = metadata.get("name")
    return name if name in _TESTS else ""


def _arguments(node: Mapping[str, Any]) -> dict[str, Any]:
    """What the test was given; dbt 1.10 may nest it under `arguments`."""
    given = node["test_metadata"].get("kwargs")
    given = given if isinstance(given, dict) else {}
    nested = given.get("arguments")
    column = {"column_name": node.get("column_name")}
    return {**column, **given, **(nested if isinstance(nested, dict) else {})}


def _test(id_: str, node: Mapping[str, Any], project: _Project) -> None:
    kind = _kind(node)
    if not kind:
        return
    weaker = _weakness(config_of(node))
    if weaker:
        project.problems.append(f"{_named(id_, node)}: {weaker}, so left out")
        return
    arguments = _arguments(node)
    owner = _owner(node, arguments, project)
    said = project.said.get(owner or "")
    if said is None:
        project.problems.append(f"{_named(id_, node)}: what it tests has no table in the manifest")
        return
    problem = _take(kind, arguments, said, (node, project))
    if problem:
        project.problems.append(f"{_named(id_, node)}: {problem}")
    elif str(config_of(node).get("severity")).lower() == "warn":
        project.problems.append(
            f"{_named(id_, node)}: only warns when it fails; taken all the same"
        )


def _take(
    kind: str, given: Mapping[str, Any], said: Said, about: tuple[Mapping[str, Any], _Project]
) -> str:
    """Note what the test says; a reason where it says nothing that can be noted."""
    if kind == "unique_combination_of_columns":
        columns = columns_named(given.get("combination_of_columns"))
        if not columns:
            return "its columns are no plain names"
        said.whole.append(columns)
        return ""
    column = column_named(given.get("column_name"))
    if column is None:
        return f"{given.get('column_name')!r} is no plain column"
    if kind == "unique":
        said.unique.append((column,))
    elif kind == "not_null":
        said.not_null.append(column)
    else:
        return _relationship(column, given, said, about)
    return ""


def _relationship(
    column: str, given: Mapping[str, Any], said: Said, about: tuple[Mapping[str, Any], _Project]
) -> str:
    node, project = about
    target = project.said.get(_target(node, given, project) or "")
    theirs = column_named(given.get("field"))
    if target is None or theirs is None:
        return f"it refers to {given.get('to')!r}, field {given.get('field')!r}: no table's column"
    said.foreign_keys.append(_foreign_key((column,), target, (theirs,), said.schema))
    return ""


def _owner(node: Mapping[str, Any], given: Mapping[str, Any], project: _Project) -> str | None:
    """The node under test; before version 10 the manifest does not say it outright."""
    attached = node.get("attached_node")
    if attached:
        return str(attached)
    needed = needed_nodes(node)
    named = node_meant(given.get("model"), needed, project.nodes)
    if named:
        return named
    target = _target(node, given, project) if given.get("to") else None
    others = [id_ for id_ in needed if id_ != target] or needed
    return others[0] if len(others) == 1 else None


def _target(node: Mapping[str, Any], given: Mapping[str, Any], project: _Project) -> str | None:
    needed = needed_nodes(node)
    return node_meant(given.get("to"), needed, project.nodes) or (
        needed[0] if len(needed) == 1 else None
    )


def _weakness(config: Mapping[str, Any]) -> str:
    """Why a test says less than its name."""
    if config.get("enabled") is False:
        return "disabled"
    if config.get("where"):
        return f"it looks only at rows where {config['where']}"
    level = "warn_if" if str(config.get("severity")).lower() == "warn" else "error_if"
    if str(config.get(level) or "").replace(" ", "") not in _ANY_FAILURE:
        return f"it tolerates failures ({level} {config[level]})"
    if str(config.get("fail_calc") or "count(*)").replace(" ", "").lower() != "count(*)":
        return f"it counts failures its own way (fail_calc {config['fail_calc']})"
    return ""


def _contract(node: Mapping[str, Any], said: Said, project: _Project) -> None:
    contract = config_of(node).get("contract") or node.get("contract")
    if not isinstance(contract, dict) or not contract.get("enforced"):
        return
    for constraint in _dicts(node.get("constraints")):
        _constraint(constraint, columns_named(constraint.get("columns")), said, project)
    columns = node.get("columns")
    for column in _dicts(list(columns.values()) if isinstance(columns, dict) else []):
        for constraint in _dicts(column.get("constraints")):
            _constraint(constraint, columns_named([column.get("name")]), said, project)


def _constraint(
    given: Mapping[str, Any], columns: tuple[str, ...], said: Said, project: _Project
) -> None:
    kind = given.get("type")
    if kind not in ("primary_key", "unique", "not_null", "foreign_key"):
        return
    if not columns:
        project.problems.append(f"{said.name}: a {kind} constraint without plain columns, left out")
    elif kind == "primary_key":
        said.primary = columns
    elif kind == "unique":
        said.unique.append(columns)
    elif kind == "not_null":
        said.not_null.extend(columns)
    else:
        target = _referred(given.get("to"), project)
        theirs = columns_named(given.get("to_columns"))
        if target is None or len(theirs) != len(columns):
            project.problems.append(f"{said.name}: a foreign_key constraint without `to`, left out")
        else:
            said.foreign_keys.append(_foreign_key(columns, target, theirs, said.schema))


def _referred(to: Any, project: _Project) -> Said | None:
    """The table that a constraint refers to: `ref('orders')`, or its path once compiled."""
    meant = node_meant(to, project.nodes, project.nodes)
    if meant is not None:
        return said_of(project.nodes[meant])
    path = re.findall(r"[^.\"`\[\]]+", to) if isinstance(to, str) and "(" not in to else []
    return Said(name=path[-1], schema=path[-2] if len(path) > 1 else "") if path else None


def _foreign_key(
    columns: tuple[str, ...], target: Said, theirs: tuple[str, ...], schema: str
) -> ForeignKey:
    return ForeignKey(
        columns=columns,
        target=target.name,
        target_schema=target.schema if target.schema != schema else "",
        target_columns=theirs,
        evidence=Evidence.ASSERTED,
    )


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _named(id_: str, node: Mapping[str, Any]) -> str:
    return f"dbt test {node.get('name') or id_}"
