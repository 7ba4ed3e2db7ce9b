"""The catalog that a schema script declares: `.schema` of sqlite3, pg_dump, mysqldump, migrations.

Read are CREATE TABLE, CREATE UNIQUE INDEX, CREATE VIEW, ALTER TABLE and what undoes them; data
and everything else is passed over. What cannot be read is skipped and listed. The grade of a
constraint is the dialect's (ddl_rules.py); partial and expression indexes are no keys, and keys
under another collation than their column's are none either.
"""

from collections.abc import Iterable
from dataclasses import replace

from modularsql.catalog import Catalog, ForeignKey, Table
from modularsql.declared.cursor import Cursor, UnreadableError
from modularsql.declared.ddl_alter import drop_key, read_alter
from modularsql.declared.ddl_create import read_create
from modularsql.declared.ddl_draft import DraftTable, finished
from modularsql.declared.ddl_rules import rules_of
from modularsql.declared.ddl_script import Script
from modularsql.declared.ddl_views import read_view
from modularsql.declared.facts import Declared
from modularsql.declared.lexer import Statement, lexer_of, statements, tokens
from modularsql.records import Evidence

_VERBS = ("CREATE", "ALTER", "DROP", "USE", "SET", "RENAME")


def catalog_of_ddl(text: str, dialect: str) -> Catalog:
    """The catalog alone; `read_ddl` also says what was left out."""
    return read_ddl(text, dialect).catalog


def read_ddl(text: str, dialect: str) -> Declared:
    """Tables and views of a script. Raises `InputError` for a dialect nobody knows."""
    rules = rules_of(dialect)
    script = Script(dialect=dialect, rules=rules, lexer=lexer_of(dialect), schema=rules.schema)
    for statement in statements(text, script.lexer):
        if statement.text[:6].upper().startswith(_VERBS):
            _read(statement, script)
        elif statement.problem:
            script.problems.append(f"line {statement.line}: {statement.problem}")
    return _finish(script)


def _read(statement: Statement, script: Script) -> None:
    cursor = Cursor(tokens(statement.text, script.lexer), statement.text)
    before = len(script.problems)
    try:
        if statement.problem:
            raise UnreadableError(statement.problem)
        _statement(cursor, script)
    except UnreadableError as error:
        start = " ".join(statement.text[:60].split())
        script.problems.append(f"{start}…: {error}; skipped")
    for i in range(before, len(script.problems)):
        script.problems[i] = f"line {statement.line}: {script.problems[i]}"


def _statement(cursor: Cursor, script: Script) -> None:
    if cursor.accept("CREATE"):
        read_create(cursor, script)
    elif cursor.accept("ALTER", "TABLE") or cursor.accept("ALTER", "FOREIGN", "TABLE"):
        read_alter(cursor, script)
    elif cursor.accept("DROP"):
        _drop(cursor, script)
    elif cursor.accept("RENAME", "TABLE"):
        for pair in cursor.items():
            read_alter(_renaming(pair), script)
    elif cursor.accept("USE"):
        script.schema = cursor.path()[-1]
    elif cursor.accept("SET", "SEARCH_PATH"):
        cursor.skip()  # TO or =
        if cursor.at_name:
            script.schema = cursor.name()


def _drop(cursor: Cursor, script: Script) -> None:
    kind = cursor.accept_any(frozenset({"TABLE", "VIEW", "INDEX"}))
    cursor.accept("CONCURRENTLY")
    cursor.accept("IF", "EXISTS")
    for item in cursor.items() if kind else ():
        path = item.path()
        if kind != "INDEX":
            script.drop(path)
            continue
        tables = [script.get(item.path())] if item.accept("ON") else script.tables
        for table in tables:
            if any(key.name.casefold() == path[-1].casefold() for key in table.keys):
                drop_key(table, path[-1], script)


def _renaming(pair: Cursor) -> Cursor:
    """`a TO b` as ALTER TABLE has it."""
    at = next((i for i, token in enumerate(pair.tokens) if token.word == "TO"), 0)
    rename = pair.tokens[at]._replace(word="RENAME")
    return Cursor([*pair.tokens[:at], rename, *pair.tokens[at:]], pair.text)


def _finish(script: Script) -> Declared:
    done, problems = [], list(script.problems)
    for draft in script.tables:
        table, left_out = finished(draft, script.dialect, script.rules)
        done.append(table)
        problems += left_out
    tables = [
        replace(table, foreign_keys=_resolved(draft, table, done))
        for draft, table in zip(script.tables, done, strict=True)
    ]
    catalog = Catalog(dialect=script.dialect, tables=tuple(tables))
    for view in script.views:
        seen = read_view(view, catalog)
        if seen.problem:
            problems.append(f"view {view.name}: {seen.problem}")
        catalog = replace(catalog, tables=(*catalog.tables, seen))
    problems += [f"{t.name}: {t.problem}" for t in tables if t.problem]
    return Declared(catalog=catalog, problems=tuple(problems))


def _resolved(whole: DraftTable, table: Table, tables: list[Table]) -> tuple[ForeignKey, ...]:
    """Foreign keys with the target's columns filled in, or marked as pointing nowhere."""
    grade = Evidence.ASSERTED if whole.flags & {"LOOSE", "PARENT"} else None
    keys = []
    for draft in whole.foreign_keys:
        schema = (draft.schema or table.schema).casefold()
        named = [t for t in tables if t.name.casefold() == draft.target.casefold()]
        inside = [t for t in named if t.schema.casefold() == schema]
        target = next(iter(inside or ([] if draft.schema else named)), None)
        theirs = tuple(draft.target_columns)
        if target is not None and not theirs:
            theirs = next((k.columns for k in target.keys if k.kind == "primary"), ())
        key = ForeignKey(
            columns=_spelled(draft.columns, table),
            target=target.name if target else draft.target,
            target_schema=target.schema if target else draft.schema,
            target_columns=_spelled(theirs, target) if target else theirs,
            evidence=grade or draft.evidence,
            resolved=target is not None
            and len(theirs) == len(draft.columns)
            and all(target.column(name) for name in theirs)
            and all(table.column(name) for name in draft.columns),
        )
        if key not in keys:
            keys.append(key)
    return tuple(keys)


def _spelled(columns: Iterable[str], table: Table) -> tuple[str, ...]:
    """Names as the table spells them."""
    return tuple(c.name if (c := table.column(name)) else name for name in columns)
