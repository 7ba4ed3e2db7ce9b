"""Every entry of `sql/dialects.py`, put to the engine that it is about."""

from collections.abc import Callable
from dataclasses import fields
from typing import get_args

import pytest

from modularsql.engines.base import Clock
from modularsql.engines.mysql import MySQLEngine
from modularsql.ports import Engine
from modularsql.records import Failure, Limits
from modularsql.rows import Row, Rows
from modularsql.sql.dialects import Construct, Dialect, dialect_of
from modularsql.sql.foreign import constructs
from modularsql.sql.parse import Unparsed, parse, tokenize

TABLES = (
    "CREATE TABLE t(id INTEGER PRIMARY KEY, g INTEGER, s VARCHAR(9))",
    "INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'A'), (3, NULL, 'b')",
    "CREATE TABLE u(id INTEGER PRIMARY KEY, t INTEGER)",
    "INSERT INTO u VALUES (1, 1), (2, 7)",
)


@pytest.fixture(scope="module")
def engine(near: object, tmp_path_factory: pytest.TempPathFactory) -> object:
    path = tmp_path_factory.mktemp("dialects") / "d.db"
    near.build(path, TABLES)  # type: ignore[attr-defined]
    opened = near.open(path, None)  # type: ignore[attr-defined]
    yield opened
    opened.close()


def rows(engine: Engine, sql: str) -> list[Row] | None:
    """The rows, None where the database rejects the query."""
    outcome = engine.execute(sql, limits=Limits())
    return None if isinstance(outcome, Failure) else list(outcome.rows)


def is_taken(engine: Engine, sql: str) -> bool:
    return rows(engine, sql) is not None


YES_OR_NO: dict[str, Callable[[Engine], bool]] = {
    "unknown_quoted_is_text": lambda e: (
        rows(e, 'SELECT "nobody" FROM t WHERE id = 1') == [("nobody",)]
        and rows(e, 'SELECT "id" FROM t WHERE id = 1') == [(1,)]
    ),
    "aliases_beside": lambda e: is_taken(e, "SELECT id + 1 AS x, x + 1 AS y FROM t"),
    "source_is_row": lambda e: is_taken(e, "SELECT t FROM t"),
    "comma_binds_weaker": lambda e: (
        rows(e, "SELECT COUNT(*) FROM t AS a, t AS b RIGHT JOIN u ON u.t = b.id") == [(6,)]
    ),
    "derived_sees_siblings": lambda e: (
        is_taken(e, "SELECT 1 FROM t CROSS JOIN LATERAL (SELECT t.id) AS d")
        or is_taken(e, "SELECT 1 FROM t, (SELECT t.id) AS d")
    ),
    "cte_sees_all": lambda e: is_taken(
        e, "WITH a AS (SELECT * FROM b), b AS (SELECT 5 AS x) SELECT x FROM a"
    ),
    "padded_with_null": lambda e: (
        rows(e, "SELECT u.id FROM t LEFT JOIN u ON u.t = t.id WHERE t.id = 2") == [(None,)]
    ),
    "using_matches_null": lambda e: bool(
        rows(e, "SELECT 1 FROM u FULL JOIN t ON u.id < 0 JOIN (SELECT NULL AS g) AS d USING (g)")
    ),
    "cte_column_names": lambda e: is_taken(e, "WITH d(a) AS (SELECT 1) SELECT a FROM d"),
    "embeds_any": lambda e: is_taken(
        e, "WITH d AS (WITH c AS (SELECT id FROM t) SELECT id FROM c ORDER BY id) SELECT id FROM d"
    ),
    "table_alias_takes_as": lambda e: is_taken(e, "SELECT a.id FROM t AS a"),
    "bare_union": lambda e: rows(e, "SELECT 1 UNION SELECT 1") == [(1,)],
    "numbers_unordered": lambda e: is_taken(e, "SELECT ROW_NUMBER() OVER (PARTITION BY g) FROM t"),
    "derived_column_names": lambda e: is_taken(e, "SELECT d.a FROM (SELECT 1) AS d(a)"),
    "null_undoes_not_in": lambda e: (
        rows(e, "SELECT id FROM t WHERE id NOT IN (SELECT g FROM t)") == []
    ),
    "correlated_exists": lambda e: is_taken(
        e, "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.t = t.id)"
    ),
    "subquery_takes_any": lambda e: is_taken(e, "SELECT (SELECT id FROM t)"),
    "aggregate_filter": lambda e: is_taken(e, "SELECT COUNT(*) FILTER (WHERE id > 1) FROM t"),
    "affinities": lambda e: (
        rows(e, "SELECT CASE WHEN id = '1' THEN 1 ELSE 0 END FROM t WHERE id=1") == [(1,)]
        and rows(e, "SELECT CASE WHEN 1 = '1' THEN 1 ELSE 0 END FROM t WHERE id = 1") == [(0,)]
    ),
    "text_by_bytes": lambda e: rows(e, "SELECT COUNT(DISTINCT s) FROM t") == [(3,)],
    "integer_division": lambda e: float(rows(e, "SELECT SUM(id) / 4 FROM t")[0][0]) == 1.0,  # type: ignore[index]
    "bare_follows_extreme": lambda e: (
        rows(e, "SELECT MAX(id), s FROM t") == [(3, "b")]
        and rows(e, "SELECT MIN(id), s FROM t") == [(1, "a")]
    ),
}
"""What an engine does where an entry is True."""

BY_TESTS_OF_THEIR_OWN = {
    "bare_columns",
    "collations_listed",
    "lacks",
    "merged_first",
    "merged_is_coalesced",
    "near_distinct",
    "near_distinct_error",
    "null_sorts",
    "own_tables",
    "own_words",
    "row_hash",
    "row_hash_by_row_id",
    "row_ids",
}
CAUTIOUS = {"dotted_may_be_field", "words_in_calls"}
"""They say what may be: True claims nothing of a database."""


MAY_BE = {"aliases_beside", "derived_sees_siblings", "source_is_row", "using_matches_null"}
"""What may be is to be expected."""


@pytest.mark.parametrize("name", YES_OR_NO)
def test_an_entry_is_what_the_engine_does(engine: Engine, name: str) -> None:
    entry = getattr(dialect_of(engine.dialect), name)
    seen = YES_OR_NO[name](engine)
    assert entry == seen or (entry and name in MAY_BE)


def test_every_entry_is_put_to_the_engines() -> None:
    names = {field.name for field in fields(Dialect)}
    assert names == YES_OR_NO.keys() | BY_TESTS_OF_THEIR_OWN | CAUTIOUS


def test_null_sorts_where_the_table_says(engine: Engine) -> None:
    up, down = (
        [g for (g,) in rows(engine, f"SELECT g FROM t WHERE id > 1 ORDER BY g {how}") or ()]
        for how in ("ASC", "DESC")
    )
    where = {
        "small": ([None, 1], [1, None]),
        "large": ([1, None], [None, 1]),
        "last": ([1, None], [1, None]),
    }
    assert (up, down) == where[dialect_of(engine.dialect).null_sorts]


def test_bare_columns_are_taken_as_the_table_says(engine: Engine) -> None:
    of_key = is_taken(engine, "SELECT id, s FROM t GROUP BY id")
    of_any = is_taken(engine, "SELECT g, s FROM t GROUP BY g")
    means = {"any": (True, True), "of_key": (True, False), "refused": (False, False)}
    assert (of_key, of_any) == means[dialect_of(engine.dialect).bare_columns]


def test_columns_of_using_stand_where_the_table_says(engine: Engine) -> None:
    outcome = engine.execute("SELECT * FROM u JOIN (SELECT g, id FROM t) AS d USING (id)",
                             limits=Limits())  # fmt: skip
    assert isinstance(outcome, Rows)
    assert outcome.columns == ("id", "t", "g")
    outcome = engine.execute("SELECT * FROM (SELECT g, id FROM t) AS d JOIN u USING (id)",
                             limits=Limits())  # fmt: skip
    assert isinstance(outcome, Rows)
    first = outcome.columns[0] == "id"
    assert first == dialect_of(engine.dialect).merged_first


def test_a_merged_column_of_a_full_join_is_what_the_table_says(engine: Engine) -> None:
    found = rows(
        engine,
        "SELECT * FROM (SELECT id FROM t WHERE id = 9) AS d FULL JOIN (SELECT id FROM u WHERE id "
        "= 2) AS e USING (id)",
    )
    if found is None:
        assert "FULL JOIN" in dialect_of(engine.dialect).lacks
    else:
        assert found == [(2,)], "all of them coalesce"


def test_row_ids_are_there_and_no_star_shows_them(engine: Engine) -> None:
    reads = dialect_of(engine.dialect)
    outcome = engine.execute("SELECT * FROM t", limits=Limits())
    assert isinstance(outcome, Rows)
    for name in reads.row_ids:
        assert is_taken(engine, f"SELECT {name} FROM t")
        assert name not in outcome.columns
    by_hash = (table.row_id for table in engine.catalog())
    assert all(name is None or name in reads.row_ids for name in by_hash)


def test_own_names_are_known_without_a_schema(engine: Engine) -> None:
    reads = dialect_of(engine.dialect)
    for word in reads.own_words - {"rank", "all"}:  # of full-text tables, of GROUP BY
        assert is_taken(engine, f"SELECT {word} FROM t"), word


LACKING: dict[Construct, str] = {
    "DISTINCT ON": "SELECT DISTINCT ON (g) g, s FROM t ORDER BY g, id",
    "QUALIFY": "SELECT id FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY id) = 1",
    "ILIKE": "SELECT id FROM t WHERE s ILIKE 'a'",
    "LIMIT a, b": "SELECT id FROM t LIMIT 1, 1",
    "FETCH FIRST": "SELECT id FROM t ORDER BY id FETCH FIRST 1 ROWS ONLY",
    "TOP": "SELECT TOP 1 id FROM t",
    "::": "SELECT id::int FROM t",
    "FULL JOIN": "SELECT t.id FROM t FULL JOIN u ON u.t = t.id",
    "`name`": "SELECT `id` FROM t",
    "[name]": "SELECT [id] FROM [t]",
}


@pytest.mark.parametrize("construct", get_args(Construct))
def test_a_dialect_lacks_what_its_engine_refuses(engine: Engine, construct: Construct) -> None:
    taken = is_taken(engine, LACKING[construct])
    assert (construct in dialect_of(engine.dialect).lacks) == (not taken)


@pytest.mark.parametrize("construct", get_args(Construct))
def test_what_a_dialect_has_is_found_in_its_text(construct: Construct) -> None:
    reader = next(
        d
        for d in ("mysql", "postgres", "tsql", "snowflake")
        if construct not in dialect_of(d).lacks
    )
    text = LACKING[construct]
    tokens = tokenize(text, reader)
    assert not isinstance(tokens, Unparsed)
    tree = parse(tokens, text, reader)
    assert not isinstance(tree, Unparsed)
    assert construct in constructs(text, tokens, tree)


def test_what_all_dialects_have_is_no_sign_of_one() -> None:
    text = "SELECT DISTINCT a FROM t LEFT JOIN u ON u.t = t.id WHERE a LIKE 'x' LIMIT 1 OFFSET 2"
    tokens = tokenize(text, "mysql")
    assert not isinstance(tokens, Unparsed)
    tree = parse(tokens, text, "mysql")
    assert not isinstance(tree, Unparsed)
    assert constructs(text, tokens, tree) == set()


def test_only_full_group_by_makes_bare_columns_an_error_as_elsewhere(engine: Engine) -> None:
    """A server that has the mode set refuses what the rule `bare_column` would warn of."""
    if not isinstance(engine, MySQLEngine):
        pytest.skip("a mode of MySQL and MariaDB")
    connection = engine._session.connect(Clock(5))
    before = rows(engine, "SELECT @@sql_mode")
    assert before is not None
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_mode = CONCAT(@@sql_mode, ',ONLY_FULL_GROUP_BY')")
        try:
            assert not is_taken(engine, "SELECT g, s FROM t GROUP BY g")
            assert is_taken(engine, "SELECT g, MAX(s) FROM t GROUP BY g")
        finally:
            cursor.execute("SET SESSION sql_mode = %s", before[0])
    assert is_taken(engine, "SELECT g, s FROM t GROUP BY g")
