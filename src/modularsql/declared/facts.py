"""What somebody says of a database's keys, and what of it could not be used."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from modularsql.catalog import Catalog, Column, ForeignKey, Key, Table
from modularsql.records import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A catalog, and one sentence for each thing on the way to it that could not be used."""

    catalog: Catalog
    problems: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Said:
    """What is said of one table, as it is gathered.

    `whole` are keys under which NULLs count as equal, `unique` those that hold only among rows
    without NULL. `types` are the columns the source lists by itself, `words` what it says of them.
    """

    name: str
    schema: str = ""
    description: str = ""
    types: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    primary: tuple[str, ...] = ()
    unique: list[tuple[str, ...]] = field(default_factory=list)
    whole: list[tuple[str, ...]] = field(default_factory=list)
    not_null: list[str] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)

    def table(self) -> Table:
        """A table that holds what was said and no more."""
        solid = {name.casefold() for name in (*self.primary, *self.not_null)}
        columns: dict[str, Column] = {}
        for name in self._names():
            words = self.words.get(name, "")
            column = Column(name=name, type=self.types.get(name, ""), description=words)
            known = name.casefold() in solid
            columns.setdefault(name.casefold(), asserted(column) if known else column)
        keys = [_key(self.primary, primary=True)] if self.primary else []
        keys += [_key(names) for names in self.whole]
        keys += [_key(n, guarded=not solid.issuperset(folded(n))) for n in self.unique]
        return Table(
            name=self.name,
            schema=self.schema,
            description=self.description,
            columns=tuple(columns.values()),
            keys=tuple(dict.fromkeys(keys)),
            foreign_keys=tuple(dict.fromkeys(self.foreign_keys)),
        )

    def _names(self) -> Iterable[str]:
        yield from self.types
        yield from self.words
        for names in (self.primary, *self.unique, *self.whole, self.not_null):
            yield from names
        for key in self.foreign_keys:
            yield from key.columns


def asserted(column: Column) -> Column:
    """The column, said to hold no NULL; unchanged where the engine upholds that already."""
    return replace(column, not_null=Evidence.ASSERTED) if column.nullable else column


def unsaid(column: Column) -> Column:
    """The column as the engine alone declares it."""
    return replace(column, not_null=None) if column.nullable else column


def holds_null(column: Column | None) -> bool:
    """Whether NULL is possible in it as far as engine and sayings go."""
    return column is None or column.not_null is None


def folded(names: Iterable[str]) -> tuple[str, ...]:
    """Names as they compare: case ignored."""
    return tuple(name.casefold() for name in names)


def shown(table: Table) -> str:
    """The table's name as people write it: with its schema where that tells something."""
    hidden = table.schema in ("", "main", "public")
    return table.name if hidden else f"{table.schema}.{table.name}"


def listed(names: Iterable[str]) -> str:
    """`(a, b)`."""
    return f"({', '.join(names)})"


def _key(names: tuple[str, ...], *, primary: bool = False, guarded: bool = False) -> Key:
    return Key(
        columns=names,
        kind="primary" if primary else "unique",
        null_distinct=guarded,
        evidence=Evidence.ASSERTED,
    )
