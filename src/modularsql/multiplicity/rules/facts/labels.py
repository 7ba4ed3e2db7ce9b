"""What people call things by: columns that mean to tell rows apart, though no key says so."""

import re
from collections.abc import Iterator

from modularsql.multiplicity.model import Source

_LABEL = re.compile(r"(?P<of>.*?)_?(?P<kind>name|title|label|code|symbol|email|isbn)")
_NAMES = ("name", "title", "label")
_PART = re.compile(r"(f|l|m|first|last|middle|given|family|sur|fore)_?name")
_SHORT = 2  # bname of a bank
_WHOLE = ("", "full", "display", "common", "official")


def name_of(source: Source, among: int) -> str | None:
    """The column that names a source's rows, where it is among the attributes.

    A first or last name alone names nobody; beside another column it does.
    """
    shown = [name for name, attribute in source.columns.items() if attribute & among]
    parts = []
    for name in shown:
        if _PART.fullmatch(name):
            parts.append(name)
        elif _kind(name, source) in _NAMES:
            return name
    return parts[0] if parts and len(shown) > 1 else None


def assumed_keys(source: Source) -> Iterator[int]:
    """Sets of attributes by which the writer of a query picks one row: a name, a code."""
    parts, others = 0, _of_others(source)
    for name, attribute in source.columns.items():
        if name in others:
            continue
        if _PART.fullmatch(name):
            parts |= attribute
        elif _kind(name, source):
            yield attribute
    if parts:
        yield parts


def _of_others(source: Source) -> set[str]:
    """Columns that name other tables' rows, or this one's only together with others."""
    if source.table is None:
        return set()
    found = [fk.columns for fk in source.table.foreign_keys]
    found += [key.columns for key in source.table.keys if len(key.columns) > 1]
    return {column.casefold() for columns in found for column in columns}


def _kind(column: str, source: Source) -> str | None:
    """`name` for genre.name and genre.genre_name, `value` for genre.genre; not album.genre_name."""
    table = source.name.casefold().replace("_", "")
    one = table.removesuffix("s")
    if column.replace("_", "") in (table, one):
        return "value"
    found = _LABEL.fullmatch(column)
    if found is None:
        return None
    of = found["of"].replace("_", "")
    # What a table holds stands last in its name: country_language holds no countries.
    own = of in _WHOLE or one.endswith(of.removesuffix("s")) or of.startswith(one)
    abbreviated = len(of) <= _SHORT and table.startswith(of)
    return found["kind"] if own or abbreviated else None
