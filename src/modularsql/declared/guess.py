"""Foreign keys guessed from names: `orders.customer_id` looks like `customer.customer_id`.

A column is taken to refer to a table when its name is the name of that table's one-column key
(`customer_id`), or the table's name and the key (`customer_id` for `customer.id`,
`customerId`, `CUSTOMERID`), or ends in one of these after other words (`billing_customer_id`),
and both are the same kind of type. Of several such tables the one that its key is named after
wins; if that leaves more than one, nothing is guessed. All of it is `assumed`: never enough
alone to change a query, worth a check on the data (`checks(catalog, Evidence.ASSUMED)`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from modularsql.catalog import Catalog, Column, ForeignKey, Table
from modularsql.declared.facts import folded
from modularsql.records import Evidence

Words = tuple[str, ...]

# Names so common that they mean nothing without the table's own.
_BARE = frozenset(
    "id ids key pk code uid uuid guid no nr num number name title date year type status".split()
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_NUMBER = re.compile(r"INT|NUM|DEC|REAL|FLOA|DOUB|SERIAL", re.IGNORECASE)
_TEXT = re.compile(r"CHAR|TEXT|CLOB|STRING|ENUM", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parent:
    """A table that may be referred to: its key's column, and the names for it, in words."""

    table: Table
    column: Column
    names: tuple[Words, ...]
    named_after: bool


def guess_foreign_keys(catalog: Catalog) -> Catalog:
    """The catalog with a guessed foreign key for each column that has none and fits one table."""
    parents = [parent for table in catalog for parent in _parents(table)]
    tables = []
    for table in catalog:
        taken = {name for key in table.foreign_keys for name in folded(key.columns)}
        free = [column for column in table.columns if column.name.casefold() not in taken]
        found = (_guess(table, column, parents) for column in free)
        new = tuple(key for key in found if key is not None)
        tables.append(replace(table, foreign_keys=(*table.foreign_keys, *new)))
    return replace(catalog, tables=tuple(tables))


def _parents(table: Table) -> Iterator[_Parent]:
    own = _singular(_words(table.name))
    seen = set()
    for key in sorted(table.keys, key=lambda key: key.kind):  # primary keys first
        column = table.column(key.columns[0]) if len(key.columns) == 1 else None
        if column is None or key.null_distinct or column.name in seen:
            continue
        seen.add(column.name)
        words = _words(column.name)
        bare = len(words) == 1 and words[0] in _BARE
        longer = (*own, *words)
        yield _Parent(
            table=table,
            column=column,
            names=(longer,) if bare else (words, longer),
            named_after=bare or _joined(words).startswith(_joined(own)),
        )


def _guess(table: Table, column: Column, parents: list[_Parent]) -> ForeignKey | None:
    words = _words(column.name)
    fitting = [p for p in parents if _may_refer(table, column, p)]
    exact = [p for p in fitting if any(_joined(n) == _joined(words) for n in p.names)]
    ending = [p for p in fitting if any(words[-len(n) :] == n for n in p.names)]
    found = exact or ending
    if len(found) > 1:
        found = [parent for parent in found if parent.named_after]
    if len(found) != 1:
        return None
    return ForeignKey(
        columns=(column.name,),
        target=found[0].table.name,
        target_schema=found[0].table.schema,
        target_columns=(found[0].column.name,),
        evidence=Evidence.ASSUMED,
    )


def _may_refer(table: Table, column: Column, parent: _Parent) -> bool:
    if parent.table is table and parent.column.name == column.name:
        return False
    if _is_key(table, column) and not parent.named_after:
        return False  # two tables with the same key: neither is known to be the other's parent
    if _is_key(table, column) and _joined(_words(column.name)).startswith(
        _joined(_singular(_words(table.name)))
    ):
        return False  # the table's own identity, whatever else is called so
    return _kind(column) in (_kind(parent.column), "") or _kind(parent.column) == ""


def _is_key(table: Table, column: Column) -> bool:
    return any(folded(key.columns) == (column.name.casefold(),) for key in table.keys)


def _kind(column: Column) -> str:
    if _NUMBER.search(column.type):
        return "number"
    return "text" if _TEXT.search(column.type) else column.type.upper().partition("(")[0]


def _words(name: str) -> Words:
    """`CustomerID`, `customer_id` and `CUSTOMER_ID` are the same two words."""
    return tuple(word.casefold() for word in _WORDS.findall(name))


def _singular(words: Words) -> Words:
    """With the last word in the singular, as far as its letters tell."""
    if not words:
        return words
    last = words[-1]
    if last.endswith("ies") and len(last) > 4:
        last = last[:-3] + "y"
    elif last.endswith(("sses", "xes", "ches", "shes")):
        last = last[:-2]
    elif last.endswith("s") and not last.endswith(("ss", "us", "is")):
        last = last[:-1]
    return (*words[:-1], last)


def _joined(words: Words) -> str:
    return "".join(words)
