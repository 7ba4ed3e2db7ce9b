"""CREATE TABLE, CREATE VIEW and CREATE UNIQUE INDEX."""

import re
from dataclasses import replace

from modularsql.declared.cursor import Cursor, UnreadableError
from modularsql.declared.ddl_draft import DraftKey, DraftTable
from modularsql.declared.ddl_keys import names, read_parts
from modularsql.declared.ddl_script import Script, View
from modularsql.declared.ddl_table import read_body
from modularsql.records import Evidence

_UPHOLDS_FOREIGN_KEYS = frozenset({"innodb", "ndb", "ndbcluster"})
_TEMPORARY = frozenset({"TEMP", "TEMPORARY", "#"})
# Words that may stand between CREATE and the kind of thing (ALGORITHM = … in MySQL, for one).
_FARTHEST = 24
_KINDS = frozenset(
    "TABLE VIEW INDEX FUNCTION PROCEDURE TRIGGER SEQUENCE TYPE DOMAIN SCHEMA DATABASE EXTENSION "
    "ROLE USER EVENT RULE AGGREGATE OPERATOR COLLATION POLICY PUBLICATION SERVER MACRO".split()
)
_AFTER_VIEW = re.compile(
    r"\s+WITH\s+((NO\s+)?DATA|((LOCAL|CASCADED)\s+)?CHECK\s+OPTION|READ\s+ONLY)\s*$", re.IGNORECASE
)


def read_create(cursor: Cursor, script: Script) -> None:
    """What stands behind CREATE."""
    flags = set()
    while cursor.at < _FARTHEST and cursor.word() not in _KINDS and not cursor.done:
        flags.add(cursor.word())
        cursor.skip()
    if flags & _TEMPORARY:
        return
    if cursor.accept("TABLE"):
        _create_table(cursor, flags, script)
    elif cursor.accept("VIEW"):
        _create_view(cursor, script)
    elif cursor.accept("INDEX") and "UNIQUE" in flags:
        _create_index(cursor, script)


def _create_table(cursor: Cursor, flags: set[str], script: Script) -> None:
    lenient = cursor.accept("IF", "NOT", "EXISTS")
    path = cursor.path()
    schema, name = script.place(path)
    if script.rules.affinities and name.casefold().startswith("sqlite_"):
        return  # SQLite's own, in a .dump
    if lenient and script.find((schema, name)):
        return
    table = DraftTable(name=name, schema=schema)
    if flags & {"FOREIGN", "EXTERNAL"}:
        table.flags.add("FOREIGN")
    if "VIRTUAL" in flags:
        table.problem = "a virtual table: its columns are not known"
    elif cursor.accept("PARTITION", "OF") or cursor.accept("LIKE"):
        table.copied.append(cursor.path())
    elif cursor.word() == "(":
        body = cursor.group()
        if body.accept("LIKE") and not script.rules.affinities:
            table.copied.append(body.path())
        else:
            read_body(body, table, script.rules)
    else:
        table.problem = "its columns are not listed"
    script.drop((schema, name))
    script.tables.append(table)
    _copy_columns(table, script)
    _table_options(cursor, table, script)


def _copy_columns(table: DraftTable, script: Script) -> None:
    for path in table.copied:
        source = script.get(path)
        if source.keys and "PARENT" not in source.flags:
            script.problems.append(
                f"{table.name}: takes the columns of {source.name} over, its keys are not taken"
            )
        known = [c for c in source.columns if table.column(c.name) is None]
        table.columns += [replace(column) for column in known]


def _table_options(cursor: Cursor, table: DraftTable, script: Script) -> None:
    """What stands behind the parentheses."""
    while not cursor.done:
        if cursor.accept("WITHOUT", "ROWID"):
            table.flags.add("WITHOUT ROWID")
        elif cursor.accept("STRICT"):
            table.flags.add("STRICT")
        elif cursor.accept("INHERITS"):
            table.copied = [item.path() for item in cursor.group().items()]
            for path in table.copied:
                script.get(path).flags.add("PARENT")
            _copy_columns(table, script)
        elif cursor.accept("COLLATE"):
            cursor.accept("=")
            table.collation = cursor.name()
        elif cursor.accept("CHARSET") or cursor.accept("CHARACTER", "SET"):
            cursor.accept("=")
            table.collation = table.collation or f"{cursor.name()} default"
        elif cursor.accept("ENGINE"):
            cursor.accept("=")
            if cursor.name().casefold() not in _UPHOLDS_FOREIGN_KEYS:
                table.flags.add("LOOSE")
        else:
            cursor.skip()


def _create_view(cursor: Cursor, script: Script) -> None:
    cursor.accept("IF", "NOT", "EXISTS")
    path = cursor.path()
    schema, name = script.place(path)
    columns = names(cursor.group()) if cursor.word() == "(" else []
    while not cursor.done and not cursor.accept("AS"):
        cursor.skip()
    if cursor.done:
        raise UnreadableError("AS and a query are missing")
    script.drop((schema, name))
    query = _AFTER_VIEW.sub("", cursor.text[cursor.peek().start :])
    script.views.append(View(name=name, schema=schema, columns=columns, query=query))


def _create_index(cursor: Cursor, script: Script) -> None:
    cursor.accept("CONCURRENTLY")
    cursor.accept("IF", "NOT", "EXISTS")
    name = "" if cursor.word() == "ON" else cursor.path()[-1]
    if cursor.accept("USING"):
        cursor.name()
    if not cursor.accept("ON"):
        raise UnreadableError(f"ON is missing {cursor.here()}")
    only = cursor.accept("ONLY")
    table = script.get(cursor.path())
    if cursor.accept("USING"):
        cursor.name()
    parts = read_parts(cursor.group(), script.rules)
    nulls_equal = False
    while not cursor.done and cursor.word() != "WHERE":
        nulls_equal = nulls_equal or cursor.accept("NULLS", "NOT", "DISTINCT")
        cursor.skip()
    if parts is None or not cursor.done:
        return
    table.keys.append(
        DraftKey(
            columns=parts.columns,
            collations=parts.collations,
            kind="unique",
            # ON ONLY: not yet upheld for the partitions.
            evidence=Evidence.ASSERTED if only else script.rules.keys,
            name=name,
            nulls_equal=nulls_equal,
        )
    )
