"""Tables while a script is read: statements add to them, change and drop them.

What follows from several statements (a key's NULL rule, the target of a foreign key) is decided
at the end, in `finished`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from modularsql.catalog import Column, Key, Table
from modularsql.declared.ddl_rules import Rules, spelled
from modularsql.declared.facts import asserted, folded, listed
from modularsql.records import Evidence

BYTES = "BINARY"
"""The collation of a key's part that asks for byte-wise comparison."""

_TEXT = re.compile(r"\b(N?(VAR)?CHAR2?|\w*TEXT|CHARACTER|ENUM|SET|STRING)\b", re.IGNORECASE)


@dataclass(slots=True, kw_only=True)
class DraftColumn:
    """A column; `identity` marks types and options that imply NOT NULL."""

    name: str
    type: str = ""
    not_null: bool = False
    identity: bool = False
    collation: str | None = None
    generated: bool = False


@dataclass(slots=True, kw_only=True)
class DraftKey:
    """A key; `collations` are those its own parts name, None where they name none."""

    columns: list[str]
    collations: list[str | None]
    kind: Literal["primary", "unique"]
    evidence: Evidence
    name: str = ""
    nulls_equal: bool = False
    descending: bool = False


@dataclass(slots=True, kw_only=True)
class DraftForeignKey:
    """A foreign key; `schema` is empty where the reference names none."""

    columns: list[str]
    schema: str
    target: str
    target_columns: list[str]
    evidence: Evidence
    name: str = ""


@dataclass(slots=True, kw_only=True)
class DraftTable:
    """A table as far as it was read.

    `flags`: STRICT and WITHOUT ROWID (SQLite), FOREIGN (its rows are elsewhere), PARENT (other
    tables inherit from it), LOOSE (an engine that takes foreign keys as a comment). `copied` are
    tables it takes columns of.
    """

    name: str
    schema: str
    kind: Literal["table", "view"] = "table"
    columns: list[DraftColumn] = field(default_factory=list)
    keys: list[DraftKey] = field(default_factory=list)
    foreign_keys: list[DraftForeignKey] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    copied: list[tuple[str, ...]] = field(default_factory=list)
    collation: str | None = None
    problem: str | None = None

    def column(self, name: str) -> DraftColumn | None:
        """The column of that name, case ignored."""
        return next((c for c in self.columns if c.name.casefold() == name.casefold()), None)


def solid_columns(table: DraftTable, rules: Rules) -> set[str]:
    """Folded names of primary key columns that the engine keeps free of NULL.

    SQLite's primary keys may hold NULL unless the table is STRICT or WITHOUT ROWID, or the key
    is the row id: one column of type INTEGER, and not `INTEGER PRIMARY KEY DESC`.
    """
    primary = next((key for key in table.keys if key.kind == "primary"), None)
    if primary is None or table.flags & {"FOREIGN", "PARENT"}:
        return set()
    names = set(folded(primary.columns))
    if rules.primary_not_null:
        return names
    if rules.affinities and table.flags & {"STRICT", "WITHOUT ROWID"}:
        return names
    if rules.affinities and len(primary.columns) == 1 and not primary.descending:
        column = table.column(primary.columns[0])
        if column is not None and column.type.upper() == "INTEGER":
            return names
    return set()


def finished(table: DraftTable, dialect: str, rules: Rules) -> tuple[Table, list[str]]:
    """The table without its foreign keys, and what of it had to be left out."""
    solid = solid_columns(table, rules)
    columns = tuple(_column(c, table, (dialect, rules), solid) for c in table.columns)
    by_name = {column.name.casefold(): column for column in columns}
    keys, problems = [], []
    for draft in table.keys:
        problem = _no_key(draft, by_name, rules)
        if problem:
            problems.append(f"{table.name} {listed(draft.columns)}: {problem}")
        elif problem is None:
            keys.append(_key(draft, by_name))
    if keys and "PARENT" in table.flags:
        # A query of the parent reads the children's rows too, and no key spans them.
        problems.append(f"{table.name}: child tables inherit from it, so its keys are none")
        keys = []
    primary = {key.columns for key in keys if key.kind == "primary"}
    keys = [key for key in keys if key.kind == "primary" or key.columns not in primary]
    if rules.keys is not Evidence.ENFORCED:
        said = {n for k in keys if k.kind == "primary" for n in folded(k.columns)}
        columns = tuple(asserted(c) if c.name.casefold() in said else c for c in columns)
    done = Table(
        name=table.name,
        schema=table.schema,
        kind=table.kind,
        columns=columns,
        keys=tuple(dict.fromkeys(keys)),
        row_id=_row_id(table, rules, by_name),
        problem=table.problem,
    )
    return done, problems


def _column(
    draft: DraftColumn, table: DraftTable, dialect: tuple[str, Rules], solid: set[str]
) -> Column:
    name, rules = dialect
    not_null = draft.not_null or draft.identity or draft.name.casefold() in solid
    collation = draft.collation
    if collation is None and rules.text_collation and _TEXT.search(draft.type):
        collation = table.collation or rules.text_collation
    # Nobody checks the rows of a foreign table, whatever its DDL says.
    said = Evidence.ASSERTED if "FOREIGN" in table.flags else Evidence.ENFORCED
    return Column(
        name=draft.name,
        type=spelled(draft.type, name),
        not_null=said if not_null else None,
        collation=collation,
        generated=draft.generated,
    )


def _no_key(draft: DraftKey, columns: dict[str, Column], rules: Rules) -> str | None:
    """Why the draft is no key; empty where that is no news, None where it is one.

    A key of another collation than its column's compares otherwise than a query does; for a
    column that compares bytes that is no harm, since equal bytes are equal in any collation.
    """
    for name, own in zip(draft.columns, draft.collations, strict=True):
        column = columns.get(name.casefold())
        if column is None:
            return f"no column {name}, so no key"
        if own is not None and column.collation not in (None, own):
            return ""
        if rules.bytewise_keys and column.collation is not None:
            return f"the key compares bytes, {name} compares by {column.collation}: no key"
    return None


def _key(draft: DraftKey, columns: dict[str, Column]) -> Key:
    known = [columns[name.casefold()] for name in draft.columns]
    nullable = any(column.nullable for column in known)
    said_whole = draft.kind == "primary" and draft.evidence is not Evidence.ENFORCED
    return Key(
        columns=tuple(column.name for column in known),
        kind=draft.kind,
        null_distinct=nullable and not draft.nulls_equal and not said_whole,
        evidence=draft.evidence,
    )


def _row_id(table: DraftTable, rules: Rules, columns: Iterable[str]) -> str | None:
    if table.kind == "view" or table.problem or table.flags & {"WITHOUT ROWID", "FOREIGN"}:
        return None
    return next((name for name in rules.row_ids if name not in columns), None)
