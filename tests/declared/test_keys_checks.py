"""Assertions put to the data: the count of a check is the number of rows against its claim."""

import sqlite3
from collections import Counter
from contextlib import closing

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from modularsql.catalog import Catalog, Column, ForeignKey, Key, Table
from modularsql.declared.checks import NotNull, apply_results, checks
from modularsql.declared.facts import asserted
from modularsql.records import Evidence

SAID = Evidence.ASSERTED
WHOLE = Key(columns=("a", "b"), kind="unique", null_distinct=False, evidence=SAID)
GUARDED = Key(columns=("a", "b"), kind="unique", null_distinct=True, evidence=SAID)
REFERS = ForeignKey(columns=("a",), target="p", target_columns=("x",), evidence=SAID)
PAIR = ForeignKey(columns=("a", "b"), target="p", target_columns=("x", "y"), evidence=SAID)


def catalog(dialect: str = "sqlite") -> Catalog:
    column = Column(name="a", type="INTEGER")
    table = Table(
        name="t",
        columns=(asserted(column), Column(name="b", type="INTEGER")),
        keys=(WHOLE, GUARDED),
        foreign_keys=(REFERS, PAIR),
    )
    parent = Table(name="p", columns=(Column(name="x"), Column(name="y")))
    return Catalog(dialect=dialect, tables=(table, parent))


Claim = Key | ForeignKey | NotNull
Pair = tuple[int | None, int | None]
PAIRS = st.lists(st.tuples(*[st.sampled_from([None, 1, 2])] * 2), max_size=8)


def expected(rows: list[Pair], parents: list[Pair]) -> dict[Claim, int]:
    def repeats(some: list[Pair]) -> int:
        return sum(count - 1 for count in Counter(some).values())

    whole = [row for row in rows if None not in row]
    return {
        WHOLE: repeats(rows),
        GUARDED: repeats(whole),
        NotNull(column="a"): sum(row[0] is None for row in rows),
        REFERS: sum(row[0] is not None and row[0] not in [x for x, _ in parents] for row in rows),
        PAIR: sum(row not in parents for row in whole),
    }


@settings(max_examples=100, deadline=None)
@given(PAIRS, PAIRS)
def test_sqlite_counts_the_rows_against_each_claim(rows: list[Pair], parents: list[Pair]) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE t (a INTEGER, b INTEGER)")
        db.execute("CREATE TABLE p (x INTEGER, y INTEGER)")
        db.executemany("INSERT INTO t VALUES (?, ?)", rows)
        db.executemany("INSERT INTO p VALUES (?, ?)", parents)
        counts = {c.claim: db.execute(c.sql).fetchone()[0] for c in checks(catalog())}
    assert counts == expected(rows, parents)


@settings(max_examples=20, deadline=None)
@given(PAIRS, PAIRS)
def test_duckdb_counts_the_same(rows: list[Pair], parents: list[Pair]) -> None:
    with closing(duckdb.connect()) as db:
        db.execute("CREATE TABLE t (a INTEGER, b INTEGER); CREATE TABLE p (x INTEGER, y INTEGER)")
        for name, values in (("t", rows), ("p", parents)):
            if values:
                db.executemany(f"INSERT INTO {name} VALUES (?, ?)", values)
        counts = {}
        for check in checks(catalog("duckdb")):
            row = db.execute(check.sql).fetchone()
            assert row is not None
            counts[check.claim] = int(row[0])
    assert counts == expected(rows, parents)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql", "bigquery", "tsql"])
def test_names_are_quoted_as_the_dialect_quotes(dialect: str) -> None:
    table = Table(
        name='we"ird table',
        schema="s",
        columns=(asserted(Column(name="select")),),
        keys=(Key(columns=("select",), kind="unique", null_distinct=True, evidence=SAID),),
    )
    for check in checks(Catalog(dialect=dialect, tables=(table,))):
        tree = parse_one(check.sql, read=dialect)
        assert {t.name: t.db for t in tree.find_all(exp.Table)} == {'we"ird table': "s"}


def test_the_text_of_a_check_is_plain_sql() -> None:
    texts = [check.sql for check in checks(catalog())]
    assert texts[1] == (
        'SELECT COALESCE(SUM("n" - 1), 0) AS "rows_against" FROM (SELECT COUNT(*) AS "n" '
        'FROM "main"."t" WHERE NOT "a" IS NULL AND NOT "b" IS NULL GROUP BY "a", "b" '
        'HAVING COUNT(*) > 1) AS "d"'
    )
    assert texts[4] == (
        'SELECT COUNT(*) AS "rows_against" FROM "main"."t" AS "c" LEFT JOIN "main"."p" AS "p" '
        'ON "c"."a" = "p"."x" AND "c"."b" = "p"."y" WHERE NOT "c"."a" IS NULL '
        'AND NOT "c"."b" IS NULL AND "p"."x" IS NULL'
    )


def test_only_claims_of_the_grade_are_checked_and_none_that_points_nowhere() -> None:
    enforced = Key(columns=("a",), kind="unique", null_distinct=True)
    nowhere = ForeignKey(columns=("a",), target="q", target_columns=("x",), evidence=SAID)
    lost = ForeignKey(columns=("a",), target="t", target_columns=(), evidence=SAID, resolved=False)
    guess = ForeignKey(columns=("a",), target="t", target_columns=("a",), evidence=Evidence.ASSUMED)
    table = Table(
        name="t",
        columns=(Column(name="a", not_null=Evidence.ENFORCED),),
        keys=(enforced,),
        foreign_keys=(nowhere, lost, guess),
    )
    of = Catalog(dialect="sqlite", tables=(table,))
    assert checks(of) == []
    assert [check.claim for check in checks(of, Evidence.ASSUMED)] == [guess]


def test_claims_that_the_data_breaks_are_dropped_with_a_note_and_the_rest_stays_asserted() -> None:
    by_claim = {check.claim: check for check in checks(catalog())}
    counts: dict[Claim, int | None] = {
        WHOLE: 2,
        GUARDED: 0,
        REFERS: 1,
        PAIR: None,
        NotNull(column="a"): 3,
    }
    declared = apply_results(catalog(), {by_claim[c]: n for c, n in counts.items()})
    table = declared.catalog.tables[0]
    assert table.keys == (GUARDED,)
    assert table.foreign_keys == (PAIR,)
    assert table.columns[0] == Column(name="a", type="INTEGER")
    assert declared.problems == (
        "dropped, the data breaks it: t (a, b) is a key, yet 2 rows repeat others",
        "dropped, the data breaks it: t (a) refers to p (x), yet 1 row refers to nothing",
        "not checked, still only asserted: t (a, b) refers to p (x, y)",
        "dropped, the data breaks it: t.a holds no NULL, yet 3 rows have one",
    )


def test_results_of_no_check_change_nothing() -> None:
    assert apply_results(catalog(), {}).catalog == catalog()
    fine = dict.fromkeys(checks(catalog()), 0)
    assert apply_results(catalog(), fine).catalog == catalog()
    assert apply_results(catalog(), fine).problems == ()
