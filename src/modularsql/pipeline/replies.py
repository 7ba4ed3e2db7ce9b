"""What a model replied, read with care: SQL, tables and columns, a choice, or that it cannot be.

Prose is never run: a reply counts as SQL only where a query can be taken out of it.
"""

import json
import re
from typing import Any

from modularsql.catalog import Catalog
from modularsql.pipeline.reading import read_query
from modularsql.pipeline.state import Place

_CANNOT = re.compile(r"^\W*NOT[ _]ANSWERABLE\W*(?P<why>.{0,300})", re.IGNORECASE | re.DOTALL)
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_CHOICE = re.compile(r"\b([AB])\b")


def read_sql(reply: str, dialect: str) -> str | None:
    """The one query in a reply, as it stands there; None for prose and for what is no query."""
    statement = read_query(reply, dialect)
    return None if statement is None else statement.text.strip()


def read_refusal(reply: str) -> str | None:
    """Why the model says that the database cannot answer; None where it says no such thing."""
    found = _CANNOT.match(reply)
    return None if found is None else " ".join(found["why"].split()) or "it gave no reason"


def read_tables(reply: str, catalog: Catalog) -> set[Place]:
    """Tables and columns of a JSON object {table: [columns]}; what does not exist is dropped."""
    found = _OBJECT.search(reply)
    try:
        value: Any = json.loads(found[0]) if found else None
    except ValueError:
        return set()
    if not isinstance(value, dict):
        return set()
    if isinstance(value.get("tables"), dict):
        value = value["tables"]
    places: set[Place] = set()
    for name, columns in value.items():
        table = catalog.table(str(name))
        if table is None:
            continue
        places.add((table.name, None))
        for column in columns if isinstance(columns, list) else []:
            known = table.column(str(column))
            if known is not None:
                places.add((table.name, known.name))
    return places


def read_choice(reply: str) -> str | None:
    """`A` or `B`, the last one named; None where neither is."""
    found = _CHOICE.findall(reply)
    return found[-1] if found else None
