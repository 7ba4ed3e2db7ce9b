"""Keys as Spider's `tables.json` and BIRD's `dev_tables.json` list them: asserted, often wrong.

`table_names` and `column_names` are the same names in plain words: they become descriptions.
One file holds many databases. Columns are numbered over all tables of a database, `*` first; a
primary key is one number, or a list of them (BIRD); a foreign key is a pair, child first. Their
types are guesses: those for dates and the rest are left open.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from modularsql.catalog import Catalog, ForeignKey
from modularsql.declared.facts import Declared, Said
from modularsql.errors import InputError
from modularsql.records import Evidence

_TYPES = {"text": "TEXT", "number": "NUMERIC", "integer": "INTEGER", "real": "REAL"}


def is_tables_json(value: Any) -> bool:
    """Whether JSON has the shape of such a file: databases with `table_names_original`."""
    entries = value if isinstance(value, list) else [value]
    return bool(entries) and all(
        isinstance(entry, dict) and "db_id" in entry and "table_names_original" in entry
        for entry in entries
    )


def read_tables_json(value: Any, database: str | None, source: str) -> Declared:
    """What the file says of one database; `source` names it in errors.

    Raises `InputError` for a database that is not in it, and for a shape that is not this one.
    """
    entries = value if isinstance(value, list) else [value]
    entry = _pick(entries, database, source)
    where = f"{source}, database {entry['db_id']}"
    names = _list(entry, "table_names_original", str, where)
    words = _words(entry, "table_names", len(names))
    tables = [Said(name=name, description=said) for name, said in zip(names, words, strict=True)]
    columns = _columns(entry, len(tables), where)
    for column in columns:
        if column.table >= 0:
            tables[column.table].types.setdefault(column.name, column.type)
            tables[column.table].words.setdefault(column.name, column.words)
    problems: list[str] = []
    for number, key in enumerate(_list(entry, "primary_keys", object, where, optional=True)):
        problems += _primary_key(f"primary_keys[{number}]", key, tables, columns)
    for number, pair in enumerate(_list(entry, "foreign_keys", object, where, optional=True)):
        problems += _foreign_key(f"foreign_keys[{number}]", pair, tables, columns)
    catalog = Catalog(dialect="sqlite", tables=tuple(said.table() for said in tables))
    return Declared(catalog=catalog, problems=tuple(problems))


@dataclass(frozen=True, slots=True)
class _Numbered:
    table: int
    name: str
    type: str
    words: str


def _pick(entries: list[Any], database: str | None, source: str) -> Mapping[str, Any]:
    names = [str(entry["db_id"]) for entry in entries]
    if database is None:
        if len(names) == 1:
            return entries[0]  # type: ignore[no-any-return]
        some = ", ".join(names[:3])
        raise InputError(
            f"{source} describes {len(names)} databases ({some}, …)", "say which one is meant"
        )
    for fold in (str, str.casefold):
        for name, entry in zip(names, entries, strict=True):
            if fold(name) == fold(database):
                return entry  # type: ignore[no-any-return]
    near = get_close_matches(database, names, n=3) or names[:3]
    raise InputError(
        f"{source} has no database {database!r}", f"it has {len(names)}, e.g. {', '.join(near)}"
    )


def _columns(entry: Mapping[str, Any], tables: int, where: str) -> list[_Numbered]:
    types = entry.get("column_types")
    columns = []
    pairs = _list(entry, "column_names_original", list, where)
    words = _words(entry, "column_names", len(pairs))
    for number, pair in enumerate(pairs):
        table, name = pair if len(pair) == 2 else (None, None)
        if not isinstance(table, int) or not isinstance(name, str) or table >= tables:
            raise InputError(
                f"{where}: column_names_original[{number}] is {pair!r}",
                "each is [number of the table, name]",
            )
        kind = types[number] if isinstance(types, list) and number < len(types) else ""
        columns.append(_Numbered(table, name, _TYPES.get(str(kind), ""), words[number]))
    return columns


def _words(entry: Mapping[str, Any], key: str, count: int) -> list[str]:
    """What the file calls so many tables or columns in words; nothing where it does not."""
    found = entry.get(key)
    if not isinstance(found, list) or len(found) != count:
        return [""] * count
    last = (item[-1] if isinstance(item, list) and item else item for item in found)
    return [word.strip() if isinstance(word, str) else "" for word in last]


def _list(
    entry: Mapping[str, Any], key: str, kind: type, where: str, *, optional: bool = False
) -> list[Any]:
    value = entry.get(key, [] if optional else None)
    if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
        of = "" if kind is object else f" of {kind.__name__}"
        raise InputError(f"{where}: {key} is no list{of}", "take the file as Spider or BIRD has it")
    return value


def _primary_key(at: str, key: Any, tables: list[Said], columns: list[_Numbered]) -> Iterator[str]:
    found = _numbered(key if isinstance(key, list) else [key], columns)
    homes = {column.table for column in found}
    if len(homes) != 1:
        yield f"{at} is {key!r}: no columns of one table"
        return
    said = tables[homes.pop()]
    names = tuple(column.name for column in found)
    if said.primary and said.primary != names:
        yield f"{said.name}: a second primary key ({', '.join(names)}), taken too"
        said.whole.append(names)
    else:
        said.primary = names


def _foreign_key(at: str, pair: Any, tables: list[Said], columns: list[_Numbered]) -> Iterator[str]:
    found = _numbered(pair if isinstance(pair, list) else [], columns)
    if len(found) != 2 or found[0] == found[1]:
        yield f"{at} is {pair!r}: no pair of two columns"
        return
    child, parent = found
    tables[child.table].foreign_keys.append(
        ForeignKey(
            columns=(child.name,),
            target=tables[parent.table].name,
            target_columns=(parent.name,),
            evidence=Evidence.ASSERTED,
        )
    )


def _numbered(numbers: Sequence[Any], columns: list[_Numbered]) -> list[_Numbered]:
    """The columns of these numbers, none where one is no column (`*` is none)."""
    if not all(isinstance(n, int) and 0 <= n < len(columns) for n in numbers):
        return []
    found = [columns[n] for n in numbers]
    return found if all(column.table >= 0 for column in found) else []
