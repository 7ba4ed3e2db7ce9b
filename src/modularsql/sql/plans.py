"""What an engine expects of a query before it runs it: its plan, read into two numbers.

`EXPLAIN` runs nothing. Its costs are in units of the engine's own, so only ratios of two plans of
one engine mean something: a probe's work against the query's, whose seconds are known.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

_GROUPING = 4
"""What a row costs that is put into a group, against one that is only read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An engine's estimate: the rows that come back, and the work in units of its own.

    `most` are the rows of the step that gives most of them: what is aggregated after a join.
    """

    rows: float
    work: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explaining:
    """How one dialect explains: what stands before the query, and how the answer is read."""

    prefix: str
    read: Callable[[Sequence[Any]], Plan]


def explaining(sql: str, dialect: str) -> str | None:
    """The statement that asks for the plan of a query; None where plans hold no estimates."""
    how = EXPLAINING.get(dialect)
    return None if how is None else f"{how.prefix} {sql}"


def read_plan(row: Sequence[Any], dialect: str) -> Plan | None:
    """The plan in the first row of an answer; None where it holds no estimate that is known."""
    try:
        return EXPLAINING[dialect].read(row)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return None


def _postgres(row: Sequence[Any]) -> Plan:
    top = _json(row[0])[0]["Plan"]
    return Plan(rows=float(top["Plan Rows"]), work=float(top["Total Cost"]), most=_most(top))


def _most(node: Mapping[str, Any]) -> float:
    return max(float(node["Plan Rows"]), *(_most(child) for child in node.get("Plans", ())), 0.0)


def _duckdb(row: Sequence[Any]) -> Plan:
    """Rows into and out of each operator; the top one may state no number of its own."""
    (top,) = _json(row[1])
    return _operator(top)


def _operator(node: Mapping[str, Any]) -> Plan:
    below = [_operator(child) for child in node.get("children", ())]
    given = sum(child.rows for child in below)
    stated = node.get("extra_info", {}).get("Estimated Cardinality")
    rows = given if stated is None else float(stated)
    times = _GROUPING if "GROUP_BY" in node["name"] else 1
    return Plan(
        rows=rows,
        work=sum(child.work for child in below) + times * (rows + given),
        most=max(rows, *(child.most for child in below), 0.0),
    )


def _mysql(row: Sequence[Any]) -> Plan:
    """MySQL states a cost; of MariaDB's plans, the rows that each table of a join is asked for."""
    top = _json(row[0])["query_block"]
    plan = _block(top)
    cost = top.get("cost_info", {}).get("query_cost")
    return plan if cost is None else replace(plan, work=float(cost))


def _block(block: Mapping[str, Any]) -> Plan:
    """Its rows are those of the join: what is aggregated or cut of them is not estimated."""
    parts = list(_parts(block))
    rows, work, most = 1.0, 0.0, 0.0
    for table in (node["table"] for name, node in parts if name == "table"):
        read = float(table.get("rows", table.get("rows_examined_per_scan", 1)))
        work += rows * read
        rows *= read * float(table.get("filtered", 100)) / 100
        most = max(most, rows)
    if any(name == "temporary_table" for name, _ in parts):
        work += _GROUPING * rows
    inner = [_block(node["query_block"]) for name, node in parts if name == "query_block"]
    return Plan(
        rows=rows,
        work=work + sum(part.work for part in inner),
        most=max(most, *(part.most for part in inner), 0.0),
    )


def _parts(node: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Names of what a plan has, in its order, with the node that has it; not of blocks inside."""
    if isinstance(node, list):
        for part in node:
            yield from _parts(part)
    elif isinstance(node, Mapping):
        for name, part in node.items():
            yield name, node
            if name != "query_block":
                yield from _parts(part)


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


EXPLAINING: Mapping[str, Explaining] = {
    "postgres": Explaining(prefix="EXPLAIN (FORMAT JSON)", read=_postgres),
    "duckdb": Explaining(prefix="EXPLAIN (FORMAT JSON)", read=_duckdb),
    "mysql": Explaining(prefix="EXPLAIN FORMAT=JSON", read=_mysql),
}
"""By dialect; SQLite's plans name steps and no numbers."""
