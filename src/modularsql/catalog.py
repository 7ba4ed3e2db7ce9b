"""What is known of a database's tables: columns, keys and foreign keys, each with its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from modularsql.records import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column as the engine declares it; `collation` is None for byte-wise text comparison."""

    name: str
    type: str = ""
    nullable: bool = True
    collation: str | None = None
    generated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A set of columns on which no two rows agree.

    `null_distinct` marks a key that holds only among rows without NULL in it (a nullable
    UNIQUE): it does not prove that rows are unique (docs/design/multiplicity.md, section 1).
    """

    columns: tuple[str, ...]
    kind: Literal["primary", "unique"]
    null_distinct: bool
    evidence: Evidence = Evidence.ENFORCED


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """Columns that refer to another table; `resolved` is False where the target is missing."""

    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]
    evidence: Evidence
    resolved: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table or view. `row_id` names the engine's own row identity, None where there is none.

    `problem` says why an object could not be read (a view over a missing table, for one).
    `definition` is the text of a view's query, or of the statement that made the view.
    """

    name: str
    schema: str = "main"
    kind: Literal["table", "view"] = "table"
    columns: tuple[Column, ...] = ()
    keys: tuple[Key, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    row_id: str | None = None
    problem: str | None = None
    definition: str | None = None

    def column(self, name: str) -> Column | None:
        """The column of that name, case ignored."""
        folded = name.casefold()
        return next((c for c in self.columns if c.name.casefold() == folded), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """The tables and views of one database, by name."""

    dialect: str
    tables: tuple[Table, ...] = field(default=())

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def table(self, name: str, schema: str | None = None) -> Table | None:
        """The table of that name, case ignored; without a schema, the first that has it."""
        folded = name.casefold()
        for table in self.tables:
            if table.name.casefold() == folded and schema in (None, table.schema):
                return table
        return None
