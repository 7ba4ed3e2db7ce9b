"""What stands in the parentheses of CREATE TABLE, and after ADD in ALTER TABLE.

A column is its name, its type up to the first word that begins a constraint, and constraints;
words that say nothing of keys are passed over, so a DEFAULT that nobody understands costs
nothing.
"""

from typing import Literal

from modularsql.declared.cursor import Cursor, UnreadableError
from modularsql.declared.ddl_draft import DraftColumn, DraftKey, DraftTable
from modularsql.declared.ddl_keys import (
    collation_of,
    read_foreign_key,
    read_key,
    read_reference,
)
from modularsql.declared.ddl_rules import Rules
from modularsql.records import Evidence

# SQLite takes any other word for a part of the type, AUTO_INCREMENT for one.
_ENDS_TYPE = frozenset(
    "CONSTRAINT NOT NULL PRIMARY UNIQUE CHECK DEFAULT COLLATE REFERENCES GENERATED AS "
    "AUTOINCREMENT ON".split()
)
_ENDS_OTHER_TYPE = _ENDS_TYPE | frozenset(
    "AUTO_INCREMENT IDENTITY COMMENT CHARSET ENCODE STORED VIRTUAL INVISIBLE OPTIONS "
    "FIRST AFTER".split()
)
_SERIAL = frozenset("SERIAL BIGSERIAL SMALLSERIAL SERIAL2 SERIAL4 SERIAL8".split())
_INDEXES = frozenset("KEY INDEX FULLTEXT SPATIAL".split())
_GENERATED = frozenset("ALWAYS BY DEFAULT AS ON NULL".split())


def read_body(body: Cursor, table: DraftTable, rules: Rules) -> None:
    """Every column and constraint of `( … )`."""
    for item in body.items():
        if not read_constraints(item, table, rules):
            read_column(item, table, rules)


def read_constraints(cursor: Cursor, table: DraftTable, rules: Rules) -> bool:
    """Table constraints, several of them where no comma stands between; False for a column."""
    found = False
    while not cursor.done and _constraint(cursor, table, rules):
        found = True
    return found


def read_column(cursor: Cursor, table: DraftTable, rules: Rules) -> DraftColumn:
    """One column with its constraints; takes the place of a column of the same name."""
    column = DraftColumn(name=cursor.name())
    column.type = read_type(cursor, rules)
    if column.type.upper() in _SERIAL and not rules.affinities:
        column.identity = True
    old = table.column(column.name)
    if old is None:
        table.columns.append(column)
    else:
        table.columns[table.columns.index(old)] = column
    while not cursor.done:
        _column_constraint(cursor, column, table, rules)
    return column


def read_type(cursor: Cursor, rules: Rules) -> str:
    """The type as written, up to the first word that begins a constraint."""
    start = cursor.at
    while not cursor.done and not _ends_type(cursor, start, rules):
        cursor.skip()
    if cursor.at > start and not cursor.tokens[start].word:  # SQLite: "INTEGER", T-SQL: [int]
        return cursor.tokens[start].name + cursor.raw(start + 1, cursor.at)
    return cursor.raw(start, cursor.at)


def _ends_type(cursor: Cursor, start: int, rules: Rules) -> bool:
    word = cursor.word()
    if word == "CHARACTER" and cursor.word(1) == "SET":
        return cursor.at > start
    if word == "KEY":
        return rules.indexes_in_tables
    return word in (_ENDS_TYPE if rules.affinities else _ENDS_OTHER_TYPE)


def _constraint(cursor: Cursor, table: DraftTable, rules: Rules) -> bool:
    """One table constraint, False (and no step) where none begins."""
    name = ""
    if cursor.accept("CONSTRAINT"):
        # MySQL lets the name out: `CONSTRAINT UNIQUE (a)`.
        name = "" if _begins(cursor, rules) else cursor.name()
        if not _begins(cursor, rules):
            raise UnreadableError(f"no constraint {cursor.here()}")
    if not _begins(cursor, rules):
        return False
    if cursor.accept("PRIMARY", "KEY"):
        _key(cursor, _draft(rules, "primary", name), table, rules)
    elif cursor.accept("UNIQUE"):
        _key(cursor, _draft(rules, "unique", name), table, rules)
    elif cursor.accept("FOREIGN", "KEY"):
        foreign = read_foreign_key(cursor, rules, name)
        options = _to_next(cursor, rules)
        if "NOT VALID" in options or "NOT ENFORCED" in options:
            foreign.evidence = Evidence.ASSERTED
        table.foreign_keys.append(foreign)
    elif cursor.accept("NOT", "NULL"):  # as pg_dump 18 writes it
        column = table.column(cursor.name())
        if "NOT VALID" not in _to_next(cursor, rules) and column is not None:
            column.not_null = True
    elif cursor.accept("LIKE"):
        table.copied.append(cursor.path())
        _to_next(cursor, rules)
    else:
        cursor.skip()
        _to_next(cursor, rules)
    return True


def _begins(cursor: Cursor, rules: Rules) -> bool:
    word, then = cursor.word(), cursor.word(1)
    if word in ("PRIMARY", "FOREIGN"):
        return then == "KEY"
    if word == "NOT":
        return then == "NULL"
    if word in ("CHECK", "EXCLUDE", "PERIOD"):
        return then in ("(", "USING", "FOR")
    if word == "LIKE":
        return not rules.affinities
    return word == "UNIQUE" or (rules.indexes_in_tables and word in _INDEXES)


def _to_next(cursor: Cursor, rules: Rules) -> str:
    """Step to the next constraint of the same item; the words passed over."""
    start = cursor.at
    while not cursor.done and cursor.word() != "CONSTRAINT" and not _begins(cursor, rules):
        cursor.skip()
    return cursor.raw(start, cursor.at).upper()


def _key(cursor: Cursor, key: DraftKey, table: DraftTable, rules: Rules) -> None:
    is_key = read_key(cursor, key, table, rules)
    if "NOT ENFORCED" in _to_next(cursor, rules):
        key.evidence = Evidence.ASSERTED
    if is_key:
        table.keys.append(key)


def _draft(rules: Rules, kind: Literal["primary", "unique"], name: str = "") -> DraftKey:
    return DraftKey(columns=[], collations=[], kind=kind, evidence=rules.keys, name=name)


def _column_constraint(
    cursor: Cursor, column: DraftColumn, table: DraftTable, rules: Rules
) -> None:
    """One step through what stands behind a column's type."""
    if cursor.accept("CONSTRAINT"):
        cursor.name()
    elif cursor.accept("NOT", "NULL"):
        column.not_null = True
    elif cursor.accept("PRIMARY", "KEY") or (rules.indexes_in_tables and cursor.accept("KEY")):
        table.keys.append(_own_key(cursor, column, _draft(rules, "primary")))
    elif cursor.accept("UNIQUE"):
        table.keys.append(_own_key(cursor, column, _draft(rules, "unique")))
    elif cursor.accept("REFERENCES"):
        foreign = read_reference(cursor, [column.name], rules.column_references)
        if cursor.accept("NOT", "ENFORCED"):
            foreign.evidence = Evidence.ASSERTED
        table.foreign_keys.append(foreign)
    elif cursor.accept("COLLATE"):
        column.collation = collation_of(cursor.path()[-1], rules)
    elif cursor.accept("CHARACTER", "SET") or cursor.accept("CHARSET"):
        column.collation = column.collation or f"{cursor.name()} default"
    elif cursor.accept("AUTO_INCREMENT") or cursor.accept("IDENTITY"):
        column.identity = True
    elif cursor.accept("AS") or cursor.accept("GENERATED"):
        _generated(cursor, column)
    else:
        cursor.skip()


def _own_key(cursor: Cursor, column: DraftColumn, key: DraftKey) -> DraftKey:
    key.columns, key.collations = [column.name], [None]
    cursor.accept("KEY")
    key.descending = cursor.accept("DESC")
    key.nulls_equal = cursor.accept("NULLS", "NOT", "DISTINCT")
    if cursor.accept("NOT", "ENFORCED"):
        key.evidence = Evidence.ASSERTED
    return key


def _generated(cursor: Cursor, column: DraftColumn) -> None:
    """`GENERATED ALWAYS AS (…)`, `AS (…)`, `GENERATED BY DEFAULT AS IDENTITY`."""
    while cursor.accept_any(_GENERATED):
        pass
    if cursor.accept("IDENTITY"):
        column.identity = True
    elif cursor.word() == "(":
        cursor.skip()
        column.generated = True
