"""What is known of a database's tables: columns, keys and foreign keys, each with its evidence."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from modularsql.records import Evidence

UNSURE = "?"
"""In place of a collation's name: equal text may not be equal bytes, as far as is known."""

_USUAL = ("main", "public", "dbo")
"""Where bare names are looked up, where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column as the engine declares it; `collation` is None for byte-wise text comparison.

    `not_null` is the evidence that it holds no NULL, None where there is none. `description` is
    what people say of it, empty where nobody does.
    """

    name: str
    type: str = ""
    not_null: Evidence | None = None
    collation: str | None = None
    generated: bool = False
    description: str = ""

    @property
    def nullable(self) -> bool:
        """Whether the engine lets it hold NULL, whatever else is said of it."""
        return self.not_null is not Evidence.ENFORCED


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
    """Columns that refer to another table; `resolved` is False where the target is missing.

    `target_schema` is empty where it is not known which schema's table is meant.
    """

    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]
    evidence: Evidence
    resolved: bool = True
    target_schema: str = ""

    def refers_to(self, table: "Table") -> bool:
        """Whether it is this table that it refers to, case ignored."""
        is_near = self.target_schema.casefold() in ("", table.schema.casefold())
        return is_near and self.target.casefold() == table.name.casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table or view. `row_id` names the engine's own row identity, None where there is none.

    `problem` says why an object could not be read (a view over a missing table, for one).
    `definition` is the text of a view's query, or of the statement that made the view.
    `description` is what people say of it, empty where nobody does.
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
    description: str = ""

    def column(self, name: str) -> Column | None:
        """The column of that name, case ignored."""
        folded = name.casefold()
        return next((c for c in self.columns if c.name.casefold() == folded), None)

    def renamed(self, called: Callable[[str], str]) -> "Table":
        """The table with its names, and those that its keys point to, as `called` has them."""
        return replace(
            self,
            name=called(self.name),
            columns=tuple(replace(c, name=called(c.name)) for c in self.columns),
            keys=tuple(replace(k, columns=tuple(map(called, k.columns))) for k in self.keys),
            foreign_keys=tuple(
                replace(
                    key,
                    columns=tuple(map(called, key.columns)),
                    target=called(key.target),
                    target_columns=tuple(map(called, key.target_columns)),
                )
                for key in self.foreign_keys
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """The tables and views of one database, by name.

    `path` are the schemas in which a bare name is looked up, in this order; empty where that is
    not known.
    """

    dialect: str
    tables: tuple[Table, ...] = field(default=())
    path: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def table(self, name: str, schema: str | None = None) -> Table | None:
        """The table of that name, case ignored; without a schema, the first that has it."""
        folded = name.casefold()
        for table in self.tables:
            if table.name.casefold() == folded and schema in (None, table.schema):
                return table
        return None

    @property
    def homes(self) -> tuple[str, ...]:
        """The schemas whose tables need no name before them."""
        return self.path or _USUAL

    def meant(self, name: str, schema: str = "") -> list[Table]:
        """The tables that a name in a query may mean, case ignored; several where it is unclear."""
        folded, inside = name.casefold(), schema.casefold()
        found = [
            table
            for table in self.tables
            if table.name.casefold() == folded and inside in ("", table.schema.casefold())
        ]
        if schema or (len(found) < 2 and not self.path):
            return found
        if not self.path:
            return [table for table in found if table.schema in self.homes]
        near = next((h for h in self.path if any(t.schema == h for t in found)), None)
        return [table for table in found if table.schema == near]

    def referred(self, key: ForeignKey) -> Table | None:
        """The table that a foreign key refers to."""
        return next((table for table in self.tables if key.refers_to(table)), None)
