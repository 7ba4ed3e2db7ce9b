"""The schema as a model reads it: compact, and stripped in steps until it fits its budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from modularsql.asking.prompts import clipped
from modularsql.catalog import Catalog, Column, Table
from modularsql.multiplicity.rewrites.edits import declared
from modularsql.pipeline.prompting import quoted, tokens
from modularsql.pipeline.state import Linked
from modularsql.ports import Match

_LONGEST_DESCRIPTION = 80


ExampleValues = Mapping[tuple[str, str], tuple[str, ...]]
"""Values by (table, column)."""


def examples_of(matches: Sequence[Match]) -> ExampleValues:
    """The values that were retrieved as examples; best first."""
    examples: dict[tuple[str, str], tuple[str, ...]] = {}
    for match in sorted(matches, key=lambda m: -m.score):
        place = (match.table, match.column)
        if match.value not in examples.get(place, ()):
            examples[place] = (*examples.get(place, ()), match.value)
    return examples


def schema_text(
    linked: Linked, catalog: Catalog, examples: ExampleValues, budget: int
) -> tuple[str, str | None]:
    """The linked schema, and what was left out to keep it within `budget` tokens (None: nothing).

    Steps: all of it; one example for each column; no examples; no descriptions; no types.
    What is too long even so stays whole: a name cut off would be a column lost (`nearest`).
    """
    text = ""
    for left_out, shown in _STEPS:
        text = "\n".join(
            _table(table, linked.columns[table.name], examples, shown, catalog.dialect)
            for table in catalog
            if table.name in linked.columns
        )
        if tokens(text) <= budget:
            return text, left_out
    return text, _STEPS[-1][0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    examples: int = 5
    descriptions: bool = True
    types: bool = True


_STEPS: tuple[tuple[str | None, _Shown], ...] = (
    (None, _Shown()),
    ("all examples but one", _Shown(examples=1)),
    ("examples", _Shown(examples=0)),
    ("examples and descriptions", _Shown(examples=0, descriptions=False)),
    ("examples, descriptions and types", _Shown(examples=0, descriptions=False, types=False)),
)


def plainest(table: Table, columns: Sequence[str], dialect: str) -> str:
    """A table with these columns as the last step shows it."""
    return _table(table, columns, {}, _STEPS[-1][1], dialect)


def _table(
    table: Table, columns: Sequence[str], examples: ExampleValues, shown: _Shown, dialect: str
) -> str:
    keys = {c.casefold() for k in table.keys if k.kind == "primary" for c in k.columns}
    lines = [
        _column(column, keys, examples.get((table.name, column.name), ()), shown, dialect)
        for column in table.columns
        if column.name in columns
    ]
    kind = "view" if table.kind == "view" else "table"
    kept = set(columns)

    def names(some: Sequence[str]) -> str:
        return ", ".join(declared(name, dialect) for name in some)

    lines += [
        f"  ({names(fk.columns)}) -> {declared(fk.target, dialect)}({names(fk.target_columns)})"
        for fk in table.foreign_keys
        if fk.resolved and kept.issuperset(fk.columns)
    ]
    said = _said(table.name, table.description) if shown.descriptions else ""
    return "\n".join([f"{kind} {declared(table.name, dialect)} {said}".rstrip(), *lines])


def _column(
    column: Column, keys: set[str], examples: Sequence[str], shown: _Shown, dialect: str
) -> str:
    # As SQL wants it, quoted where it must be, and never cut: it has to be written.
    words = [f"  {declared(column.name, dialect)}"]
    if shown.types and column.type:
        words.append(clipped(column.type, 40))
    if column.name.casefold() in keys:
        words.append("key")
    if shown.descriptions and (said := _said(column.name, column.description)):
        words.append(said)
    if some := examples[: shown.examples]:
        words.append("e.g. " + ", ".join(map(quoted, some)))
    return " ".join(words)


def _said(name: str, description: str) -> str:
    """A description as a comment; nothing where it is the name once more, in words."""
    if _letters(description) in ("", _letters(name)):
        return ""
    return f"-- {clipped(' '.join(description.split()), _LONGEST_DESCRIPTION)}"


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())
