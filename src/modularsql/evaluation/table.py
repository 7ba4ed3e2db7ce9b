"""A named table of results, the one form in which studies hand over what they found."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under columns. Shares are fractions; `percent` names the columns that show as such."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    percent: frozenset[str] = field(default_factory=frozenset)
    note: str = ""

    def records(self) -> list[dict[str, Any]]:
        """The rows as objects."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def shown(self) -> list[list[str]]:
        """The rows as text."""
        return [
            [
                _shown(cell, name in self.percent)
                for name, cell in zip(self.columns, row, strict=True)
            ]
            for row in self.rows
        ]


def markdown(table: Table) -> str:
    """The table as Markdown, with its title as a heading."""
    lines = [f"### {table.title}", ""]
    if table.note:
        lines += [table.note, ""]
    lines += [_line(table.columns), "|" + "---|" * len(table.columns)]
    lines += [_line(row) for row in table.shown()]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(_as_text, cells)) + " |"


def _as_text(cell: str) -> str:
    """Nothing of it is a cell's end, a line's end or markup."""
    return cell.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _shown(cell: Any, percent: bool) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        if percent:
            return f"{100 * cell:.2f}"
        return f"{cell:.3g}" if abs(cell) < 100 else f"{cell:,.0f}"
    if isinstance(cell, int):
        return f"{cell:,}"
    return str(cell)
