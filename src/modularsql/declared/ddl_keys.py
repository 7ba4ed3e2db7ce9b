"""Keys and references as DDL writes them: `(a, b DESC)`, `REFERENCES t (x) NOT ENFORCED`."""

from collections.abc import Sequence
from dataclasses import dataclass

from modularsql.declared.cursor import Cursor, UnreadableError
from modularsql.declared.ddl_draft import BYTES, DraftForeignKey, DraftKey, DraftTable
from modularsql.declared.ddl_rules import Rules
from modularsql.records import Evidence

_PART_OPTIONS = frozenset("ASC DESC NULLS FIRST LAST AUTOINCREMENT WITHOUT OVERLAPS".split())
_BEFORE_PARTS = frozenset("CLUSTERED NONCLUSTERED KEY INDEX USING BTREE HASH NULLS".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The columns of a key or index, each with the collation its part names."""

    columns: list[str]
    collations: list[str | None]


def read_parts(group: Cursor, rules: Rules) -> Parts | None:
    """The columns of a key or index; None where a part is an expression: then it is no key."""
    parts = Parts(columns=[], collations=[])
    for item in group.items():
        if not item.at_name:
            return None
        parts.columns.append(item.name())
        parts.collations.append(None)
        if rules.indexes_in_tables and item.word() == "(" and item.word(1).isdigit():
            item.skip()  # `b(10)`: unique prefixes belong to unique values
        while not item.done:
            if item.accept("COLLATE"):
                parts.collations[-1] = collation_of(item.path()[-1], rules) or BYTES
            elif item.word() in _PART_OPTIONS or item.word().endswith("_OPS"):
                item.skip()
            else:
                return None
    return parts


def read_key(cursor: Cursor, key: DraftKey, table: DraftTable, rules: Rules) -> bool:
    """Fill in the key from what stands behind PRIMARY KEY or UNIQUE; False where it is none."""
    while not cursor.done and cursor.word() != "(":
        if cursor.accept("NULLS", "NOT", "DISTINCT"):
            key.nulls_equal = True
        elif cursor.accept("USING", "INDEX"):
            _take_index(table, cursor.name(), key)
            return True
        elif cursor.word() in _BEFORE_PARTS and cursor.word():
            cursor.skip()
        else:  # the name of the index (MySQL)
            key.name = key.name or cursor.name()
    parts = read_parts(cursor.group(), rules)
    if parts is None:
        return False
    key.columns, key.collations = parts.columns, parts.collations
    return True


def read_reference(
    cursor: Cursor, columns: Sequence[str], evidence: Evidence, name: str = ""
) -> DraftForeignKey:
    """What stands behind REFERENCES."""
    path = cursor.path()
    theirs = names(cursor.group()) if cursor.word() == "(" else []
    return DraftForeignKey(
        columns=list(columns),
        schema=path[-2] if len(path) > 1 else "",
        target=path[-1],
        target_columns=theirs,
        evidence=evidence,
        name=name,
    )


def read_foreign_key(cursor: Cursor, rules: Rules, name: str) -> DraftForeignKey:
    """What stands behind FOREIGN KEY."""
    if cursor.word() != "(":
        name = name or cursor.name()
    columns = names(cursor.group())
    if not cursor.accept("REFERENCES"):
        raise UnreadableError(f"REFERENCES is missing {cursor.here()}")
    return read_reference(cursor, columns, rules.foreign_keys, name)


def names(group: Cursor) -> list[str]:
    """`a, b` as names."""
    return [item.name() for item in group.items()]


def collation_of(name: str, rules: Rules) -> str | None:
    """The collation as the catalog spells it, None where it compares bytes."""
    if name.upper() in rules.bytewise:
        return None
    return name.upper() if rules.affinities else name


def _take_index(table: DraftTable, index: str, key: DraftKey) -> None:
    """ADD PRIMARY KEY USING INDEX: the index, read before, becomes the key."""
    old = next((k for k in table.keys if k.name.casefold() == index.casefold()), None)
    if old is None:
        raise UnreadableError(f"no unique index {index} was read for {table.name}")
    table.keys.remove(old)
    key.columns, key.collations = old.columns, old.collations
    key.nulls_equal, key.name = old.nulls_equal, key.name or old.name
