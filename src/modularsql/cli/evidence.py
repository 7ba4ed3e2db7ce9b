"""What was measured for a finding, for reading: values, the joins as a small table, examples."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from modularsql.cli.screen import Screen
from modularsql.cli.table import print_rows, shown

_BY = 2
_DIGITS = 6  # of a value that is no whole number


def print_evidence(screen: Screen, measured: Mapping[str, Any]) -> None:
    """The parts of `measured` that are there; nothing where none is."""
    entity = " and ".join(measured.get("entity", ())) or "the entity"
    if "value_now" in measured:
        screen.words(_values(measured, entity), by=_BY)
    if joins := measured.get("joins"):
        _print_joins(screen, joins, measured.get("join"), entity)
    if examples := measured.get("examples"):
        screen.words("most often: " + "; ".join(map(_example, examples)), by=_BY)


def _values(measured: Mapping[str, Any], entity: str) -> str:
    now, once = _number(measured["value_now"]), _number(measured["value_at_grain"])
    words = f"value now {now}, with each row of {entity} once {once}"
    if "group" in measured:
        words += f" (in the group where they differ most, {_pairs(measured['group'])})"
    return words


def _print_joins(
    screen: Screen, joins: list[Mapping[str, Any]], worst: str | None, entity: str
) -> None:
    several = len(joins) > 1
    mark = "  ← multiplies" if screen.encoding.startswith("utf") else "  <- multiplies"
    rows = []
    for step in joins:
        marked = mark if several and step["join"] == worst else ""
        counts = [step["rows_before"], step["rows_after"]]
        if any(other["entity_rows"] is not None for other in joins):
            counts.append("" if step["entity_rows"] is None else step["entity_rows"])
        where = "".join(f" [{condition}]" for condition in step["conditions"])
        rows.append((*counts, step["join"] + where + marked))
    names = ["rows before", "after", f"different {entity}", "join"]
    print_rows(
        screen, names if len(rows[0]) == len(names) else [*names[:2], names[-1]], rows, by=_BY
    )


def _example(example: Mapping[str, Any]) -> str:
    words = _pairs(example["key"])
    if "group" in example:
        words += f" in {_pairs(example['group'])}"
    return f"{words}: {example['rows']:,} times"


def _pairs(named: Mapping[str, Any]) -> str:
    return ", ".join(f"{shown(name)} {shown(value)}" for name, value in named.items())


def _number(value: Any) -> str:
    if isinstance(value, Decimal) and value.is_finite():  # the SUM of a server
        value = int(value) if value == int(value) else float(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:,.{_DIGITS}g}" if isinstance(value, float) else shown(value)
