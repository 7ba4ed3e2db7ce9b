"""ALTER TABLE: keys that come late (pg_dump, phpMyAdmin), and those that go (migrations).

What changes keys in a way not read here makes the table's keys unsure, and unsure keys are
dropped: a missing key costs a finding, a wrong one a wrong number.
"""

import re

from modularsql.declared.cursor import Cursor, UnreadableError
from modularsql.declared.ddl_draft import DraftForeignKey, DraftKey, DraftTable
from modularsql.declared.ddl_script import Script
from modularsql.declared.ddl_table import read_body, read_column, read_constraints, read_type

_IGNORED = frozenset(
    "OWNER ENABLE DISABLE CLUSTER SET RESET REPLICA ENGINE AUTO_INCREMENT COMMENT CHARSET "
    "ATTACH DETACH FORCE LOCK ALGORITHM ORDER DEFAULT NO PARTITION VALIDATE ROW_FORMAT CHECK "
    "NOCHECK".split()
)
_CONSTRAINT = frozenset({"CONSTRAINT"})
_INDEX = frozenset({"CONSTRAINT", "INDEX", "KEY"})
_PLAIN_INDEX = frozenset("KEY INDEX FULLTEXT SPATIAL PARTITION".split())


def read_alter(cursor: Cursor, script: Script) -> None:
    """What stands behind ALTER TABLE."""
    cursor.accept("IF", "EXISTS")
    cursor.accept("ONLY")
    table = script.get(cursor.path())
    cursor.accept("*")
    _ = cursor.accept("WITH", "CHECK") or cursor.accept("WITH", "NOCHECK")
    for action in cursor.items():
        adds = action.word() == "ADD"
        try:
            _action(action, table, script)
        except UnreadableError as error:
            if adds:
                raise
            _unsure(table, script, str(error))


def _action(action: Cursor, table: DraftTable, script: Script) -> None:
    if action.accept("ADD"):
        _add(action, table, script)
    elif action.accept("DROP"):
        _drop(action, table, script)
    elif action.accept("ALTER"):
        action.accept("COLUMN")
        _alter_column(action, table, script)
    elif action.accept("MODIFY"):
        action.accept("COLUMN")
        read_column(action, table, script.rules)
    elif action.accept("CHANGE"):
        action.accept("COLUMN")
        _rename_column(table, action.name(), action.peek().name)
        read_column(action, table, script.rules)
    elif action.accept("RENAME"):
        _rename(action, table, script)
    elif action.accept("INHERIT"):
        script.get(action.path()).flags.add("PARENT")
    elif action.accept("CONVERT", "TO") or action.word() in ("COLLATE", "CHARACTER"):
        _unsure(table, script, "its collation changes")
    elif action.word() not in _IGNORED:
        _unsure(table, script, f"an action is not known {action.here()}")


def _add(action: Cursor, table: DraftTable, script: Script) -> None:
    rules = script.rules
    if read_constraints(action, table, rules):
        return
    if action.word() in _PLAIN_INDEX and rules.indexes_in_tables:
        return
    action.accept("COLUMN")
    action.accept("IF", "NOT", "EXISTS")
    if action.word() == "(":
        read_body(action.group(), table, rules)
    else:
        read_column(action, table, rules)


def _drop(action: Cursor, table: DraftTable, script: Script) -> None:
    if action.accept("PRIMARY", "KEY"):
        table.keys = [key for key in table.keys if key.kind != "primary"]
    elif action.accept("FOREIGN", "KEY"):
        action.accept("IF", "EXISTS")
        _drop_foreign_key(table, action.name())
    elif action.accept_any(_INDEX if script.rules.indexes_in_tables else _CONSTRAINT):
        action.accept("IF", "EXISTS")
        drop_key(table, action.name(), script)
    elif action.word() not in ("CHECK", "PARTITION"):
        action.accept("COLUMN")
        action.accept("IF", "EXISTS")
        _drop_column(table, action.name())


def drop_key(table: DraftTable, name: str, script: Script) -> None:
    """Forget the constraint or index of that name, foreign keys too.

    A name that is not known may be the one the engine gave to a key without a name.
    """
    wanted = name.casefold()
    named = [key for key in table.keys if wanted in _names(key, table, script)]
    foreign = [key for key in table.foreign_keys if key.name.casefold() == wanted]
    if named:
        table.keys.remove(named[0])
    elif foreign:
        table.foreign_keys.remove(foreign[0])
    else:
        if any(not key.name for key in table.keys):
            table.keys = [key for key in table.keys if key.name]
            script.problems.append(
                f"{table.name}: the dropped {name} may be any of its unnamed keys: none is taken"
            )
        table.foreign_keys = [key for key in table.foreign_keys if key.name]


def _names(key: DraftKey, table: DraftTable, script: Script) -> set[str]:
    """The names a key answers to; PostgreSQL and MySQL name after table and columns."""
    if key.name:
        return {key.name.casefold()}
    if script.rules.indexes_in_tables:
        return {key.columns[0].casefold()} if key.kind == "unique" else {"primary"}
    ending = "pkey" if key.kind == "primary" else "_".join((*key.columns, "key"))
    return {f"{table.name}_{ending}".casefold()}


def _drop_foreign_key(table: DraftTable, name: str) -> None:
    table.foreign_keys = [
        key for key in table.foreign_keys if key.name and key.name.casefold() != name.casefold()
    ]


def _drop_column(table: DraftTable, name: str) -> None:
    folded = name.casefold()
    table.columns = [c for c in table.columns if c.name.casefold() != folded]
    table.keys = [k for k in table.keys if folded not in map(str.casefold, k.columns)]
    table.foreign_keys = [
        k for k in table.foreign_keys if folded not in map(str.casefold, k.columns)
    ]


def _alter_column(action: Cursor, table: DraftTable, script: Script) -> None:
    column = table.column(action.name())
    if column is None:
        return
    if action.accept("SET", "NOT", "NULL"):
        column.not_null = True
    elif action.accept("DROP", "NOT", "NULL"):
        column.not_null = column.identity = False
    elif action.accept("DROP", "IDENTITY"):
        column.identity = False
    elif action.accept("SET", "DATA", "TYPE") or action.accept("TYPE"):
        column.type = re.sub(r" USING .*", "", read_type(action, script.rules), flags=re.I | re.S)
    elif action.word() not in ("SET", "DROP", "ADD", "RESET", "RESTART"):
        column.type = read_type(action, script.rules)  # SQL Server: the whole definition anew
        column.not_null = action.accept("NOT", "NULL")


def _rename(action: Cursor, table: DraftTable, script: Script) -> None:
    if action.accept("TO") or action.accept("AS"):
        _rename_table(table, action.path(), script)
    elif action.accept("CONSTRAINT") or action.accept("INDEX") or action.accept("KEY"):
        old = action.name().casefold()
        if action.accept("TO"):
            new = action.name()
            for key in table.keys:
                if old in _names(key, table, script):
                    key.name = new
    else:
        action.accept("COLUMN")
        path = action.path()
        if action.accept("TO"):
            _rename_column(table, path[-1], action.name())
        else:  # MySQL: `RENAME new`
            _rename_table(table, path, script)


def _rename_table(table: DraftTable, path: tuple[str, ...], script: Script) -> None:
    old, table.name = table.name, path[-1]
    if len(path) > 1:
        table.schema = path[-2]
    for other in script.tables:
        for key in other.foreign_keys:
            if key.target.casefold() == old.casefold():
                key.target = table.name


def _rename_column(table: DraftTable, old: str, new: str) -> None:
    column = table.column(old)
    if column is not None:
        column.name = new
    owners: list[DraftKey | DraftForeignKey] = [*table.keys, *table.foreign_keys]
    for key in owners:
        key.columns = [new if c.casefold() == old.casefold() else c for c in key.columns]


def _unsure(table: DraftTable, script: Script, why: str) -> None:
    if table.keys:
        script.problems.append(f"{table.name}: {why}, so its keys before that are not taken")
    table.keys.clear()
