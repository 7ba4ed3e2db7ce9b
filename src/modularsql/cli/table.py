"""Rows for reading: one line for each where they fit the width, else one block for each.

Numbers are never cut; text is, with `…`. A result too wide for a table is shown column below
column, so that a name and its value stay together. A table of a study that is too wide is shown
in parts, each beginning with what its rows are about: numbers stay comparable and none is lost.
"""

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from modularsql.cli.common import printable
from modularsql.cli.screen import Screen
from modularsql.json_values import cell
from modularsql.wording import counted

if TYPE_CHECKING:
    from modularsql.evaluation.table import Table

MOST_ROWS = 20
_LONGEST_CELL = 100  # where there is no width to keep to
_NARROWEST_CELL = 12
_MOST_HEADS = 2  # columns that name a row of a study: a database and a system
_MOST_COLUMNS = 50  # of a row shown column below column
_MOST_LINES = 40

Row = Sequence[Any]


def print_rows(
    screen: Screen,
    columns: Sequence[str],
    rows: Sequence[Row],
    most: int = MOST_ROWS,
    by: int = 0,
) -> None:
    """The first rows, indented `by` so many places, and how many more there are."""
    names = [_short(name) for name in columns]
    cells = [[shown(value) for value in row] for row in rows[:most]]
    room = screen.room and screen.room - by
    right = [_is_numeric(rows, at) for at in range(len(names))]
    widths = _widths(names, cells, right, room)
    if widths is not None:
        lines = _table(screen, names, cells, right, widths)
    else:
        cells = cells[: max(1, _MOST_LINES // (min(len(names), _MOST_COLUMNS) + 1))]
        lines = _blocks(room or _LONGEST_CELL, names, cells, len(rows))
    for line in lines:
        screen.say(Text(" " * by).append_text(line))
    if more := len(rows) - len(cells):
        screen.say(" " * by + f"… {counted(more, 'more row')} (--format json has them)")


def print_table(screen: Screen, table: "Table", most: int | None = None) -> None:
    """A table of a study: its title, its rows or the first of them, its note."""
    screen.say(printable(table.title), "bold")
    names = [_short(name) for name in table.columns]
    cells = [[_short(text) for text in row] for row in table.shown()[:most]]
    right = [_is_numeric(table.rows, at) for at in range(len(names))]
    for number, (part, widths) in enumerate(_parts(names, cells, right, screen.room)):
        if number:
            screen.say()
        its_names, its_right = [names[at] for at in part], [right[at] for at in part]
        its_cells = [[row[at] for at in part] for row in cells]
        for line in _table(screen, its_names, its_cells, its_right, widths):
            screen.say(line)
    if more := len(table.rows) - len(cells):
        screen.say(f"… {counted(more, 'more row')} (report.md has them)")
    if table.note:
        screen.words(table.note, by=2)
    screen.say()


def _parts(
    names: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool], room: int | None
) -> list[tuple[list[int], list[int]]]:
    """The columns that stand beside each other, with their widths; what names a row begins each
    part. A part that is too wide with one column more than that is left to the terminal."""

    def fitted(part: Sequence[int], room: int | None) -> list[int] | None:
        its_names, whole = [names[at] for at in part], [right[at] or at in head for at in part]
        its_cells = [[row[at] for at in part] for row in cells]
        return _widths(its_names, its_cells, whole, room, name_room=_LONGEST_CELL)

    first = right.index(True) if True in right else 1
    head = list(range(min(max(first, 1), _MOST_HEADS)))
    if room is not None and fitted(head, room // 2) is None:
        head = head[:1]
    parts = [head]
    for at in range(len(head), len(names)):
        if parts[-1] == head or fitted([*parts[-1], at], room) is not None:
            parts[-1] = [*parts[-1], at]
        else:
            parts.append([*head, at])
    return [(part, fitted(part, room) or fitted(part, None) or []) for part in parts]


def shown(value: Any) -> str:
    """One value on one line; NULL, bytes and nested values by what they are."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{counted(len(value), 'byte')}>"
    if isinstance(value, float):
        return str(value)
    as_json = cell(value)
    return _short(as_json if isinstance(as_json, str) else json.dumps(as_json, ensure_ascii=False))


def _short(text: str) -> str:
    """On one line; a text of megabytes is cut before it is looked at."""
    cut = text[: 4 * _LONGEST_CELL]
    return printable(cut.replace("\r\n", "⏎").replace("\n", "⏎")) + ("…" if cut != text else "")


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def _widths(
    names: Sequence[str],
    cells: Sequence[Sequence[str]],
    whole: Sequence[bool],
    room: int | None,
    name_room: int = _NARROWEST_CELL,
) -> list[int] | None:
    """The width of each column; None where the columns do not fit beside each other.

    Columns that are `whole` are not cut, and names not to fewer than `name_room` places: those of
    two systems may begin alike.
    """
    most = room or _LONGEST_CELL
    natural, least = [], []
    for at, name in enumerate(names):
        longest = max((cell_len(row[at]) for row in cells), default=0)
        shortest = longest if whole[at] else min(longest, _NARROWEST_CELL)
        natural.append(max(1, min(max(cell_len(name), longest), most)))
        least.append(min(natural[-1], max(shortest, min(cell_len(name), name_room))))
    if room is None:
        return natural
    room -= 3 * (len(names) - 1)
    if sum(least) > room:
        return None
    while sum(natural) > room:
        widest = max(range(len(names)), key=lambda i: (natural[i] > least[i], natural[i]))
        natural[widest] -= 1
    return natural


def _is_numeric(rows: Sequence[Row], at: int) -> bool:
    values = [row[at] for row in rows[:MOST_ROWS] if row[at] is not None]
    return bool(values) and all(
        isinstance(v, int | float | Decimal) and not isinstance(v, bool) for v in values
    )


def _table(
    screen: Screen,
    names: Sequence[str],
    cells: Sequence[Sequence[str]],
    right: Sequence[bool],
    widths: Sequence[int],
) -> Iterator[Text]:
    bar, dash, cross = ("│", "─", "┼") if screen.encoding.startswith("utf") else ("|", "-", "+")

    def line(values: Sequence[str]) -> str:
        return f" {bar} ".join(_padded(values, widths, right)).rstrip()

    yield Text(line(names), "bold")
    yield Text(f"{dash}{cross}{dash}".join(dash * width for width in widths))
    for row in cells:
        yield Text(line(row))


def _padded(values: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> Iterator[str]:
    for value, width, to_right in zip(values, widths, right, strict=True):
        text = _cut(value, width)
        gap = " " * (width - cell_len(text))
        yield gap + text if to_right else text + gap


def _blocks(
    room: int, names: Sequence[str], cells: Sequence[Sequence[str]], total: int
) -> Iterator[Text]:
    names = [_cut(name, room // 3) for name in names[:_MOST_COLUMNS]]
    width = max(cell_len(name) for name in names)
    for number, row in enumerate(cells, 1):
        yield Text(f"row {number:,} of {total:,}", style="bold")
        for name, value in zip(names, row, strict=False):
            gap = " " * (width - cell_len(name))
            yield Text(f"  {name}{gap}  {_cut(value, max(room - width - 4, 8))}".rstrip())
        if len(row) > len(names):
            yield Text(f"  … {counted(len(row) - len(names), 'more column')}")
