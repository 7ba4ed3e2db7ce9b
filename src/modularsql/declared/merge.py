"""What was said, put beside what the engine declares: added as `asserted`, never in its place."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from modularsql.catalog import Catalog, ForeignKey, Key, Table
from modularsql.declared.facts import Declared, asserted, folded, holds_null, listed, shown
from modularsql.records import Evidence

_DEFAULT_SCHEMAS = ("", "main", "public", "dbo")


def merge(catalog: Catalog, declared: Declared, source: str = "the database") -> Declared:
    """The catalog with the keys, foreign keys and not-null columns that were said of its tables.

    What the engine declares already is left alone. What names a table or column that is not
    there, or that cannot be told apart, is listed in `problems`, after those of `declared`, and
    `source` says there where the catalog came from.
    """
    merging = _Merging(tables=list(catalog.tables), source=source)
    said_of = [table for table in declared.catalog if _says_something(table)]
    homes = [(said, merging.place(said.schema, said.name)) for said in said_of]
    for said, at in homes:
        if at is not None:
            merging.tables[at] = _with_keys(merging.tables[at], said, merging.problems)
    for said in declared.catalog:
        merging.describe(said)
    # Foreign keys come last: they may refer to a primary key that was only just said.
    for said, at in homes:
        if at is not None:
            for key in said.foreign_keys:
                merging.refer(at, key)
    return Declared(
        catalog=replace(catalog, tables=tuple(merging.tables)),
        problems=(*declared.problems, *merging.problems, *merging.moved()),
    )


@dataclass(slots=True, kw_only=True)
class _Merging:
    """The tables so far, and which schemas of the file stand for which of the database."""

    tables: list[Table]
    source: str
    problems: list[str] = field(default_factory=list)
    elsewhere: dict[str, set[str]] = field(default_factory=dict)

    def place(self, schema: str, name: str) -> int | None:
        """Where the table stands, None (and a problem) where that is not clear."""
        found = self._find(schema, name)
        if not found:
            near = get_close_matches(name, [table.name for table in self.tables], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.problems.append(f"{_dotted(schema, name)}: no such table in {self.source}{hint}")
        elif len(found) > 1:
            names = ", ".join(_dotted(self.tables[i].schema, name) for i in found)
            self.problems.append(f"{name}: there are several ({names}); name the schema")
        return found[0] if len(found) == 1 else None

    def _find(self, schema: str, name: str) -> list[int]:
        named = self._named(name)
        if not schema:
            usual = [i for i in named if self.tables[i].schema in _DEFAULT_SCHEMAS]
            return usual if len(usual) == 1 else named
        inside = [i for i in named if self.tables[i].schema.casefold() == schema.casefold()]
        inside = inside or self._named(f"{schema}.{name}")
        if not inside and len(named) == 1:
            # A manifest names the schema of the target it was made for, not of this database.
            self.elsewhere.setdefault(schema, set()).add(name)
            return named
        return inside

    def _named(self, name: str) -> list[int]:
        wanted = name.casefold()
        return [i for i, table in enumerate(self.tables) if table.name.casefold() == wanted]

    def moved(self) -> Iterable[str]:
        """One sentence for each schema that is not here."""
        for schema, names in self.elsewhere.items():
            tables = f"{len(names)} {'table was' if len(names) == 1 else 'tables were'}"
            yield f"there is no such table in the schema {schema}: {tables} found by name alone"

    def describe(self, said: Table) -> None:
        """Add what is said in words, where the database says nothing itself."""
        named = self._named(said.name)
        if len(named) != 1:
            return
        table = self.tables[named[0]]
        words = {c.name.casefold(): c.description for c in said.columns if c.description}
        if not said.description and not words:
            return
        columns = tuple(
            column
            if column.description
            else replace(column, description=words.get(column.name.casefold(), ""))
            for column in table.columns
        )
        said_of = table.description or said.description
        self.tables[named[0]] = replace(table, description=said_of, columns=columns)

    def refer(self, at: int, key: ForeignKey) -> None:
        """Add a foreign key, its target resolved."""
        table = self.tables[at]
        target = self._target(key, table.schema)
        columns = _spelled(table, key.columns, self.problems)
        if target is None or columns is None:
            return
        theirs = key.target_columns or _primary(target)
        to = _spelled(target, theirs, self.problems)
        if to is None:
            return
        if len(to) != len(columns):
            self.problems.append(
                f"{shown(table)} {listed(columns)}: refers to {shown(target)}, "
                "which has no primary key of as many columns; say which columns are meant"
            )
            return
        new = replace(
            key,
            columns=columns,
            target=target.name,
            target_schema=target.schema,
            target_columns=to,
            evidence=_at_most_asserted(key.evidence),
            resolved=True,
        )
        if not any(_same_reference(new, old) for old in table.foreign_keys):
            keys = (*table.foreign_keys, new)
            self.tables[at] = replace(table, foreign_keys=keys)

    def _target(self, key: ForeignKey, near: str) -> Table | None:
        path = _dotted(key.target_schema, key.target)
        whole = self._named(path)
        schema, _, name = path.rpartition(".") if not whole else ("", "", path)
        beside = [i for i in self._named(name) if self.tables[i].schema == near]
        if not schema and len(beside) == 1:
            return self.tables[beside[0]]
        at = self.place(schema, name)
        return None if at is None else self.tables[at]


def _says_something(said: Table) -> bool:
    solid = any(not holds_null(column) for column in said.columns)
    return bool(solid or said.keys or said.foreign_keys)


def _with_keys(table: Table, said: Table, problems: list[str]) -> Table:
    """The table with not-null columns and keys added."""
    solid = [column.name for column in said.columns if not holds_null(column)]
    wanted = set(folded(solid))
    _spelled(table, solid, problems)
    columns = tuple(asserted(c) if c.name.casefold() in wanted else c for c in table.columns)
    table = replace(table, columns=columns)
    for key in said.keys:
        names = _spelled(table, key.columns, problems)
        if names is None or not names:
            continue
        has_primary = any(old.kind == "primary" for old in table.keys)
        new = Key(
            columns=names,
            kind="primary" if key.kind == "primary" and not has_primary else "unique",
            null_distinct=key.null_distinct and any(holds_null(table.column(n)) for n in names),
            evidence=_at_most_asserted(key.evidence),
        )
        if not any(_implies(old, new) for old in table.keys):
            table = replace(table, keys=(*table.keys, new))
    return table


def _implies(old: Key, new: Key) -> bool:
    """Whether the new key says nothing that the old one does not say with more right."""
    mine, theirs = set(folded(old.columns)), set(folded(new.columns))
    strong = new.null_distinct or not old.null_distinct
    return strong and (mine == theirs or (old.evidence is Evidence.ENFORCED and mine < theirs))


def _same_reference(one: ForeignKey, other: ForeignKey) -> bool:
    pairs = [
        {*zip(folded(key.columns), folded(key.target_columns), strict=False)}
        for key in (one, other)
    ]
    same = one.target.casefold() == other.target.casefold()
    return same and one.target_schema == other.target_schema and pairs[0] == pairs[1]


def _spelled(table: Table, names: Iterable[str], problems: list[str]) -> tuple[str, ...] | None:
    """The columns as the table spells them; None (and a problem) where one is not there."""
    found, missing = [], False
    for name in names:
        column = table.column(name)
        if column is not None:
            found.append(column.name)
            continue
        missing = True
        problem = _missing(table, name)
        if problem not in problems:
            problems.append(problem)
    return None if missing else tuple(found)


def _missing(table: Table, name: str) -> str:
    if not table.columns:
        return f"{shown(table)}: its columns are not known, so nothing said of it is taken"
    near = get_close_matches(name, [column.name for column in table.columns], n=1)
    hint = f"did you mean {near[0]}?" if near else f"{len(table.columns)} others are there"
    return f"{shown(table)}.{name}: no such column; {hint}"


def _primary(table: Table) -> tuple[str, ...]:
    return next((key.columns for key in table.keys if key.kind == "primary"), ())


def _at_most_asserted(grade: Evidence) -> Evidence:
    """What another database enforces is only said of this one."""
    return Evidence.ASSERTED if grade is Evidence.ENFORCED else grade


def _dotted(schema: str, name: str) -> str:
    return f"{schema}.{name}" if schema else name
