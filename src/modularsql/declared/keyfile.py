"""The user's own key file, in TOML: what is known of keys that the database does not declare.

    [tables.orders]
    primary_key = ["order_id"]
    unique = [["number"], ["customer_id", "day"]]   # two keys, the second of two columns
    not_null = ["customer_id"]
    foreign_keys = [{ columns = ["customer_id"], references = "customer", to = ["customer_id"] }]

    [tables."sales.invoice"]                         # with its schema
    primary_key = ["invoice_id"]

Every part is optional. `unique` holds among rows without NULL, `primary_key` says that there is
no NULL either. `to` may be left out where the target's primary key is meant. All of it is
`asserted`: it changes a query only after a check on the data.
"""

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from modularsql.catalog import Catalog, ForeignKey
from modularsql.declared.facts import Declared, Said
from modularsql.errors import InputError
from modularsql.records import Evidence

_PARTS = ("primary_key", "unique", "not_null", "foreign_keys")
_FOREIGN = ("columns", "references", "to")


def read_keyfile(text: str, source: str) -> Declared:
    """What the file says. Raises `InputError` with the place of the first wrong shape."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source} is no TOML: {error}", _EXAMPLE) from None
    except RecursionError:
        raise InputError(f"{source} is nested too deeply", _EXAMPLE) from None
    _only(document, ("tables",), source)
    tables = document.get("tables")
    if not isinstance(tables, dict) or not tables:
        raise InputError(f"{source} names no table", _EXAMPLE)
    said = [_said(name, parts, f"{source}: tables.{name}") for name, parts in tables.items()]
    return Declared(catalog=Catalog(dialect="", tables=tuple(one.table() for one in said)))


_EXAMPLE = 'write [tables.NAME] and below it primary_key = ["COLUMN"]'


def _said(name: str, parts: Any, where: str) -> Said:
    if not isinstance(parts, dict):
        raise InputError(f"{where} is {_kind(parts)}, not a table", _EXAMPLE)
    for key, value in parts.items():
        if key not in _PARTS and isinstance(value, dict):
            raise InputError(
                f"{where}.{key} is a table inside a table",
                f'for a schema write [tables."{name}.{key}"]',
            )
    _only(parts, _PARTS, where)
    schema, _, bare = name.rpartition(".")
    return Said(
        name=bare,
        schema=schema,
        primary=_names(parts.get("primary_key", []), f"{where}.primary_key"),
        unique=_keys(parts.get("unique", []), f"{where}.unique"),
        not_null=list(_names(parts.get("not_null", []), f"{where}.not_null")),
        foreign_keys=_foreign_keys(parts.get("foreign_keys", []), f"{where}.foreign_keys"),
    )


def _keys(value: Any, where: str) -> list[tuple[str, ...]]:
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        # Read as one key or as several it would mean different things: nobody shall guess.
        one, each = _toml([value]), _toml([[item] for item in value])
        hint = f"write {one}" if len(value) == 1 else f"one key is {one}, one for each is {each}"
        raise InputError(f"{where} is a list of names, not of keys", hint)
    if not isinstance(value, list):
        raise InputError(f"{where} is {_kind(value)}, not a list of keys", 'write [["COLUMN"]]')
    for number, item in enumerate(value):
        if item == []:
            raise InputError(f"{where}[{number}] is []", "name a column, or leave it out")
    return [_names(item, f"{where}[{i}]") for i, item in enumerate(value)]


def _names(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        raise InputError(f"{where} is a text, not a list of columns", f"write {_toml([value])}")
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{where} is {_kind(value)}, not a list of columns", 'write ["COLUMN", …]')
    folded = [name.casefold() for name in value]
    if "" in folded or len(set(folded)) < len(folded):
        raise InputError(f"{where} is {_toml(value)}", "name each column once")
    return tuple(value)


def _foreign_keys(value: Any, where: str) -> list[ForeignKey]:
    example = '[{ columns = ["customer_id"], references = "customer", to = ["customer_id"] }]'
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InputError(f"{where} is no list of tables", f"write {example}")
    keys = []
    for number, item in enumerate(value):
        at = f"{where}[{number}]"
        _only(item, _FOREIGN, at)
        columns = _names(item.get("columns", []), f"{at}.columns")
        target = item.get("references")
        to = _names(item.get("to", []), f"{at}.to")
        if not columns or not isinstance(target, str) or not target:
            raise InputError(f"{at} needs columns and references", f"write {example}")
        if to and len(to) != len(columns):
            raise InputError(f"{at}: {len(columns)} columns refer to {len(to)}", "name as many")
        keys.append(
            ForeignKey(
                columns=columns, target=target, target_columns=to, evidence=Evidence.ASSERTED
            )
        )
    return keys


def _only(found: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in found:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            raise InputError(f"{where}: {key!r} is not known here", hint)


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _kind(value: Any) -> str:
    names = {dict: "a table", list: "a list", str: "a text", bool: "true or false", int: "a number"}
    return names.get(type(value), type(value).__name__)
