"""Assertions put to the data: one query for each, which counts the rows that break it.

    checks(catalog) ─▶ somebody runs each `sql`, within limits ─▶ apply_results(catalog, counts)

A key under which NULLs are equal is broken by two rows of NULL, one that is NULL-distinct is
not (docs/design/multiplicity.md, section 1). A row whose foreign key holds a NULL refers to
nothing and breaks nothing. Columns compare as they do in a query's own join.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from modularsql.catalog import Catalog, ForeignKey, Key, Table
from modularsql.declared.facts import Declared, listed, shown, unsaid
from modularsql.records import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NotNull:
    """The claim that a column holds no NULL."""

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A claim about a table, and the query whose one value counts the rows against it."""

    table: str
    schema: str
    claim: Key | ForeignKey | NotNull
    sql: str


def checks(catalog: Catalog, grade: Evidence = Evidence.ASSERTED) -> list[Check]:
    """A check for each claim of that grade. Foreign keys that point nowhere have none."""
    found = []
    for table in catalog:
        claims: list[tuple[Key | ForeignKey | NotNull, exp.Select]] = [
            (key, _repeats(table, key)) for key in table.keys if key.evidence is grade
        ]
        solid = [c.name for c in table.columns if c.not_null is grade]
        claims += [(NotNull(column=name), _nulls(table, name)) for name in solid]
        for key in table.foreign_keys:
            target = catalog.referred(key)
            if key.evidence is grade and key.resolved and target is not None:
                claims.append((key, _orphans(table, key, target)))
        found += [
            Check(
                table=table.name,
                schema=table.schema,
                claim=claim,
                sql=query.sql(dialect=catalog.dialect, identify=True, copy=False),
            )
            for claim, query in claims
        ]
    return list(dict.fromkeys(found))


def apply_results(catalog: Catalog, results: Mapping[Check, int | None]) -> Declared:
    """The catalog without the claims that the data breaks; `problems` says which and how often.

    The others stay asserted: the data bears them out today. None stands for a check that gave
    no answer; its claim stays too, and is listed.
    """
    broken: dict[tuple[str, str], set[object]] = {}
    notes = []
    for check, count in results.items():
        if count != 0:
            notes.append(_note(check, count))
        if count:
            broken.setdefault((check.schema, check.table), set()).add(check.claim)
    tables = [_without(table, broken.get((table.schema, table.name), set())) for table in catalog]
    return Declared(catalog=replace(catalog, tables=tuple(tables)), problems=tuple(notes))


def _without(table: Table, broken: set[object]) -> Table:
    if not broken:
        return table
    return replace(
        table,
        columns=tuple(unsaid(c) if NotNull(column=c.name) in broken else c for c in table.columns),
        keys=tuple(key for key in table.keys if key not in broken),
        foreign_keys=tuple(key for key in table.foreign_keys if key not in broken),
    )


def _note(check: Check, count: int | None) -> str:
    table = shown(Table(name=check.table, schema=check.schema))
    one = count == 1
    match check.claim:
        case NotNull(column=column):
            claim = f"{table}.{column} holds no NULL"
            fact = "has one" if one else "have one"
        case Key(columns=columns):
            claim = f"{table} {listed(columns)} is a key"
            fact = "repeats another" if one else "repeat others"
        case ForeignKey(columns=columns, target=target, target_columns=theirs):
            claim = f"{table} {listed(columns)} refers to {target} {listed(theirs)}"
            fact = "refers to nothing" if one else "refer to nothing"
    if count is None:
        return f"not checked, still only asserted: {claim}"
    return f"dropped, the data breaks it: {claim}, yet {count} {'row' if one else 'rows'} {fact}"


def _repeats(table: Table, key: Key) -> exp.Select:
    """`SELECT COALESCE(SUM(n - 1), 0) FROM (SELECT COUNT(*) AS n … GROUP BY … HAVING …)`."""
    several = exp.GT(this=_count(), expression=exp.Literal.number(1))
    given = _all_given(key.columns) if key.null_distinct else []
    groups = _select("n", _count(), _table(table), given)
    groups.set("group", exp.Group(expressions=[_column(name) for name in key.columns]))
    groups.set("having", exp.Having(this=several))
    more = exp.Sum(this=exp.Sub(this=_column("n"), expression=exp.Literal.number(1)))
    total = exp.Coalesce(this=more, expressions=[exp.Literal.number(0)])
    return _select("rows_against", total, groups.subquery("d", copy=False), [])


def _nulls(table: Table, column: str) -> exp.Select:
    return _select("rows_against", _count(), _table(table), [_is_null(_column(column))])


def _orphans(table: Table, key: ForeignKey, target: Table) -> exp.Select:
    """An anti-join: SQLite builds an index for it, and would not for NOT EXISTS."""
    pairs = [
        exp.EQ(this=_column(mine, "c"), expression=_column(theirs, "p"))
        for mine, theirs in zip(key.columns, key.target_columns, strict=True)
    ]
    alone = _is_null(_column(key.target_columns[0], "p"))
    given = _all_given(key.columns, "c")
    query = _select("rows_against", _count(), _table(table, "c"), [*given, alone])
    on = exp.and_(*pairs, copy=False)
    query.set("joins", [exp.Join(this=_table(target, "p"), side="LEFT", on=on)])
    return query


def _select(
    name: str, value: exp.Expr, source: exp.Expr, conditions: Sequence[exp.Expr]
) -> exp.Select:
    """Put together by hand: the builders copy and parse, which shows with a thousand checks."""
    query = exp.Select(
        expressions=[exp.alias_(value, name, copy=False)], from_=exp.From(this=source)
    )
    if conditions:
        query.set("where", exp.Where(this=exp.and_(*conditions, copy=False)))
    return query


def _all_given(names: Sequence[str], table: str | None = None) -> list[exp.Expr]:
    return [exp.Not(this=_is_null(_column(name, table))) for name in names]


def _count() -> exp.Count:
    return exp.Count(this=exp.Star())


def _is_null(column: exp.Column) -> exp.Is:
    return exp.Is(this=column, expression=exp.Null())


def _column(name: str, table: str | None = None) -> exp.Column:
    return exp.column(name, table=table, quoted=True)


def _table(table: Table, alias: str | None = None) -> exp.Table:
    return exp.table_(table.name, db=table.schema or None, quoted=True, alias=alias)
