"""What columns mean, from CSV files as BIRD ships them beside a database that keeps no comments.

`database_description/TABLE.csv` has a row for each column: `original_column_name`,
`column_description`, `value_description`. The files come in several encodings, and not every table
or column has its row.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from modularsql.catalog import Catalog, Table

FOLDER = "database_description"
Descriptions = Mapping[tuple[str, str], str]
"""By table and column, case folded."""


def read_descriptions(folder: Path) -> Descriptions:
    """The descriptions in a folder of such files; none where it is missing or of another form."""
    return {
        (path.stem.casefold(), column): words
        for path in sorted(folder.glob("*.csv"))
        for column, words in _of_file(path)
    }


def _of_file(path: Path) -> Iterator[tuple[str, str]]:
    try:
        content = path.read_bytes()
    except OSError:
        return
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    rows = csv.DictReader(text.splitlines(keepends=True))
    while (row := _next(rows)) is not None:
        name = (row.get("original_column_name") or "").strip().casefold()
        parts = (row.get("column_description"), row.get("value_description"))
        words = "; ".join(" ".join(part.split()) for part in parts if part and part.strip())
        if name and words:
            yield name, words


def _next(rows: Iterator[dict[str, str]]) -> dict[str, str] | None:
    try:
        return next(rows, None)
    except csv.Error:  # no CSV from here on
        return None


def with_descriptions(catalog: Catalog, descriptions: Descriptions) -> Catalog:
    """The catalog with these descriptions of columns that have none."""
    return replace(catalog, tables=tuple(_with(table, descriptions) for table in catalog))


def _with(table: Table, descriptions: Descriptions) -> Table:
    place = table.name.casefold()
    columns = (
        replace(c, description=c.description or descriptions.get((place, c.name.casefold()), ""))
        for c in table.columns
    )
    return replace(table, columns=tuple(columns))
