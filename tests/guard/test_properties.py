"""Laws of the guard on random tables and queries, on both engines.

Queries are made as words with one space between them, so that words can be lost and doubled and
other space put in. The tables are random, too, but fixed: number 0 is the simplest.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from modularsql import Answer, Guard, Limits, Settings
from modularsql.guard.counting import Counts
from modularsql.guard.policy import find_policy
from modularsql.guard.session import Session
from modularsql.ports import Engine
from modularsql.records import Failure
from modularsql.rows import Row, Rows, distinct_rows
from modularsql.sql.outermost import add_distinct, remove_distinct
from modularsql.sql.parse import is_query
from modularsql.sql.statement import Statement, read_statement

TABLES = 12
LIMITS = Limits(seconds=10)
ENGINES = st.sampled_from(["sqlite", "duckdb"])
OpenDatabase = Callable[..., Engine]


def database(kind: str) -> str:
    """Tables t0, t1, … with few values, many NULLs and copies; `x` is of mixed types in SQLite."""
    chance = random.Random(7)
    texts = ["'a'", "'A'", "'b'", "''", "'é'", "NULL"]
    mixed = ["1", "1.0", "'1'", "x'31'", "-0.0", "0", "9007199254740993", "NULL", "1e300"]
    script = []
    for number in range(TABLES):
        script.append(f"CREATE TABLE t{number} (k INTEGER, s VARCHAR, x {_MIXED[kind]});")
        rows = [
            f"({chance.choice(['1', '2', '3', '4', '5', 'NULL'])}, {chance.choice(texts)}, "
            f"{chance.choice(mixed if kind == 'sqlite' else texts)})"
            for _ in range(chance.randint(number % 4, 14))
        ]
        rows = ["(1, 'a', 'a')"] * 6 if number == 0 else rows
        if rows:
            script.append(f"INSERT INTO t{number} VALUES {', '.join(rows)};")
    return "\n".join(script)


_MIXED = {"sqlite": "", "duckdb": "VARCHAR"}


@st.composite
def selects(draw: st.DrawFn, columns: int, depth: int = 1) -> str:
    """One SELECT of so many columns, without ORDER BY and LIMIT."""
    items = [
        draw(st.sampled_from(["a.k", "a.s", "a.x", "a.k + 1", "'l'", "NULL", "a.k AS z"]))
        for _ in range(columns)
    ]
    table = st.integers(0, TABLES - 1).map("t{}".format)
    source = f"{draw(table)} a"
    if depth and draw(st.booleans()):
        inner = draw(st.sampled_from(["DISTINCT ", ""])) + "k , s , x"
        source = f"( SELECT {inner} FROM {draw(table)} ) a"
    join = draw(
        st.sampled_from(["", "JOIN {} b ON a.k = b.k", "LEFT JOIN {} b ON a.s = b.s", ", {} b"])
    )
    where = draw(
        st.sampled_from(
            ["", "", "WHERE a.k = 1", "WHERE a.s IS NULL", "WHERE a.k IN ( SELECT k FROM t1 )"]
        )
    )
    distinct = draw(st.sampled_from(["", "DISTINCT", "DISTINCT", "ALL"]))
    parts = ["SELECT", distinct, " , ".join(items), "FROM", source, join.format(draw(table)), where]
    return " ".join(part for part in parts if part)


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A query that both engines take, in most cases."""
    columns = draw(st.integers(1, 3))
    query = draw(selects(columns))
    joined = draw(st.sampled_from(["", "", "", "UNION ALL", "UNION", "EXCEPT", "WITH"]))
    if joined == "WITH":
        names = " , ".join(f"c{i}" for i in range(columns))
        query = f"WITH w ( {names} ) AS ( {query} ) SELECT c0 FROM w"
    elif joined:
        # The same columns twice: DuckDB wants one type from both sides.
        query = f"{query} {joined} {query}"
    order = draw(st.sampled_from(["", "", "ORDER BY 1", "ORDER BY 1 DESC"]))
    if not joined:
        order = draw(st.sampled_from([order, "ORDER BY a.k", "ORDER BY a.s , a.k DESC"]))
    limit = draw(st.sampled_from(["", "", "", "LIMIT 5", "LIMIT 100", "LIMIT 3 OFFSET 2"]))
    return " ".join(part for part in (query, order, limit) if part)


_NOISE = [";", "'", '"', "`", "(", ")", "/*", "--", "SELECT", "```", "\n", "JOIN", "ALL", "1"]


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A query with words lost, doubled, or put in."""
    words = draw(queries()).split(" ")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(words) - 1))
        new = draw(
            st.sampled_from([";", "'", '"', "`", "(", ")", "/*", "--", "SELECT", "```", "\n"])
        )
        words[at : at + 1] = draw(st.sampled_from([[], [words[at]] * 2, [new], [new, words[at]]]))
        words = words or ["SELECT"]
    return " ".join(words)


policies = st.builds(
    Settings,
    policy=st.sampled_from(["p1-p2", "p1-p2", "p1"]),
    tau_inject=st.sampled_from([0.8, 0.5, 0.0, 1.0]),
    tau_remove=st.sampled_from([1.0, 0.4, 0.1, 0.0]),
    max_rows=st.sampled_from([100_000, 7, 1]),
)


def is_settled(engine: Engine, sql: str) -> bool:
    """Which of equal rows are within a LIMIT changes in DuckDB from run to run."""
    return engine.dialect == "sqlite" or "LIMIT" not in sql


def check_promises(engine: Engine, sql: str, wanted: Settings) -> None:
    """What a patch promises of the rows, and that without one nothing changes."""
    guard = Guard(engine, find_policy(wanted.policy, wanted), wanted)
    answer = guard.run(sql, fix=True)
    before = engine.execute(sql, limits=LIMITS)
    assert (answer.failure is None) == isinstance(before, Rows)
    if not isinstance(before, Rows):
        return
    assert answer.applied or answer.final_sql == sql
    if not is_settled(engine, sql):
        return
    if not answer.applied:
        check_rows(answer, before.rows, wanted.max_rows)
        return
    after = engine.execute(answer.final_sql, limits=LIMITS)
    assert isinstance(after, Rows)
    check_rows(answer, after.rows, wanted.max_rows)
    assert distinct_rows(after.rows) == distinct_rows(before.rows)
    if answer.applied == ("inject_distinct",):
        assert len(after.rows) == len(distinct_rows(before.rows)) < len(before.rows)
    else:
        assert answer.applied == ("remove_distinct",)
        assert len(after.rows) > len(before.rows)
        assert not Counter(before.rows) - Counter(after.rows)


def check_rows(answer: Answer, rows: list[Row], most: int) -> None:
    """Those rows, or the first of them; DuckDB is free in their order."""
    extra = Counter(answer.rows) - Counter(rows)
    assert (extra, len(answer.rows)) == (Counter(), min(len(rows), most))
    assert answer.truncated == (len(rows) > most)


def check_counts(engine: Engine, sql: str) -> None:
    """Counted from the rows or by the database, it is the same."""
    session = Session(engine=engine, params=None, limits=LIMITS)
    rows = session.run(sql)
    if not isinstance(rows, Rows) or not is_settled(engine, sql):
        return
    ours = session.counts(sql, rows)
    theirs = session.counts(sql, replace(rows, truncated=True))
    assert isinstance(ours, Counts)
    assert theirs == replace(ours, pushed_down=True)
    unique = session.run(f"SELECT DISTINCT * FROM (\n{sql}\n) AS d")
    assert isinstance(unique, Failure) or len(unique.rows) == ours.distinct


def check_survives(engine: Engine, text: str) -> None:
    """Whatever the text: an answer, with a verdict and at least one finding or a probe."""
    answer = Guard(engine, settings=Settings(timeout=5)).run(text, fix=True)
    assert answer.sql == text
    assert answer.findings or answer.probe
    assert answer.failure is None or answer.rows == ()


def check_bytes(dialect: str, query: str, spaces: list[str]) -> None:
    """An edit takes or adds one word; what stands between the words stays."""
    words = query.split(" ")
    text = "".join(w + s for w, s in zip(words, spaces * len(words), strict=False))
    statement = read_statement(text, dialect, 100_000)
    assert isinstance(statement, Statement)
    assert is_query(statement.tree)
    more = add_distinct(statement, dialect)
    if isinstance(more, str):
        assert more in {*_inserted(statement.text), *_shorter(statement.text, "ALL")}
    less = remove_distinct(statement, dialect)
    if isinstance(less, str):
        assert less in _shorter(statement.text, "DISTINCT")


def _inserted(text: str) -> set[str]:
    return {text[:at] + " DISTINCT" + text[at:] for at in range(len(text))}


def _shorter(text: str, word: str) -> set[str]:
    """The text without one such word (or with DISTINCT in its place) and a space after it."""
    places = [at for at in range(len(text)) if text.startswith(word, at)]
    pairs = [(text[:at], text[at + len(word) :]) for at in places]
    replaced = {before + "DISTINCT" + after for before, after in pairs}
    return {before + after.removeprefix(" ") for before, after in pairs} | replaced


@pytest.fixture(scope="module")
def engines(open_database: OpenDatabase) -> dict[str, Engine]:
    return {kind: open_database(kind, database(kind)) for kind in ("sqlite", "duckdb")}


SPACES = st.lists(
    st.sampled_from([" ", "\n", "\t ", " /* x */ ", " -- DISTINCT\n", "/**/", " /*ALL*/\r\n"]),
    min_size=1,
    max_size=9,
)
WEIRD = st.text() | st.text("SELECT FROM;'\"`()/*-\n\\\0\ud800é", max_size=60)


@settings(max_examples=120)
@given(kind=ENGINES, sql=queries(), wanted=policies)
def test_a_patch_keeps_its_promise_and_else_nothing_changes(
    engines: dict[str, Engine], kind: str, sql: str, wanted: Settings
) -> None:
    check_promises(engines[kind], sql, wanted)


@settings(max_examples=100)
@given(kind=ENGINES, sql=queries())
def test_rows_and_database_count_the_same(engines: dict[str, Engine], kind: str, sql: str) -> None:
    check_counts(engines[kind], sql)


@settings(max_examples=150)
@given(kind=ENGINES, text=WEIRD | broken())
@example(kind="duckdb", text="SELECT '\ud83d'")
@example(kind="sqlite", text="`" * 3)
def test_the_guard_never_raises_on_text(engines: dict[str, Engine], kind: str, text: str) -> None:
    check_survives(engines[kind], text)


@settings(max_examples=150)
@given(dialect=ENGINES, query=queries(), spaces=SPACES)
def test_an_edit_keeps_every_other_byte(dialect: str, query: str, spaces: list[str]) -> None:
    check_bytes(dialect, query, spaces)


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=2_000)
@given(kind=ENGINES, sql=queries(), bad=WEIRD | broken(), wanted=policies, spaces=SPACES)
def test_all_laws_on_many_examples(
    engines: dict[str, Engine], kind: str, sql: str, bad: str, wanted: Settings, spaces: list[str]
) -> None:
    check_promises(engines[kind], sql, wanted)
    check_counts(engines[kind], sql)
    check_survives(engines[kind], bad)
    check_bytes(kind, sql, spaces)
