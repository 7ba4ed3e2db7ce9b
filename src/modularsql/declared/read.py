"""Files that say something of keys: which kind one is, is told from its content."""

import json
import re
from pathlib import Path
from typing import Any

from modularsql.declared.dbt import is_manifest, read_manifest
from modularsql.declared.ddl import read_ddl
from modularsql.declared.facts import Declared
from modularsql.declared.keyfile import read_keyfile
from modularsql.declared.tables_json import is_tables_json, read_tables_json
from modularsql.errors import InputError

_KINDS = "a key file is TOML ([tables.NAME]), a Spider or BIRD tables.json, or a dbt manifest.json"
_TOML_TABLE = re.compile(r"\s*\[+\s*[A-Za-z_]")  # `[tables.orders]` begins as a JSON list does
_NO_TEXT = {
    b"SQLite format 3\0": ("a SQLite database", "write its schema out: sqlite3 {} .schema"),
    b"PGDMP": ("a binary dump", "write its schema out: pg_restore --schema-only -f - {}"),
    b"\x1f\x8b": ("compressed", "unpack it: gunzip -k {}"),
}


def read_keys(path: Path, database: str | None = None) -> Declared:
    """What a key file says. `database` picks one where the file describes many (tables.json).

    Raises `InputError` that names the file, the place in it and what to do next.
    """
    text = _text(path)
    if not text.lstrip().startswith(("{", "[")) or _TOML_TABLE.match(text):
        if not text.strip():
            raise InputError(f"{path} is empty", _KINDS)
        if text.lstrip()[:6].upper() in ("CREATE", "ALTER "):
            raise InputError(f"{path} is SQL, no key file", _KINDS)
        return read_keyfile(text, str(path))
    value = _json(text, path)
    if is_manifest(value):
        return read_manifest(value, str(path))
    if is_tables_json(value):
        return read_tables_json(value, database, str(path))
    raise InputError(f"{path} is JSON that says nothing of keys", _KINDS)


def read_schema(path: Path, dialect: str) -> Declared:
    """The tables of a schema script (`check --schema`).

    Raises `InputError` for a file without a table, or that is no text.
    """
    declared = read_ddl(_text(path), dialect)
    if not declared.catalog.tables:
        first = f": {declared.problems[0]}" if declared.problems else ""
        raise InputError(
            f"{path} creates no table that can be read as {dialect}{first}",
            "check the dialect; the file is to hold CREATE TABLE statements",
        )
    return declared


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file", "name a file in it") from None
    except FileNotFoundError:
        raise InputError(f"no file at {path}", "check the path", "not_found") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {path}: {reason}", "check its permissions") from None
    for start, (what, hint) in _NO_TEXT.items():
        if content.startswith(start):
            raise InputError(f"{path} is {what}, not text", hint.format(path))
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):  # what `>` writes in PowerShell
        return content.decode("utf-16", errors="replace")
    # Dumps hold data in any encoding; only names matter, and odd bytes survive in them.
    return content.decode("utf-8-sig", errors="surrogateescape")


def _json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{path} is no JSON: {error.msg} ({at})", _KINDS) from None
    except RecursionError:
        raise InputError(f"{path} is nested too deeply", _KINDS) from None
