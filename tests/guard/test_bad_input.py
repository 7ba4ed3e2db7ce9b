"""What cannot be read is named, and the query is run and probed all the same."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from modularsql import Guard, connect
from modularsql.records import Answer, Verdict

SCHEMA = """
CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE player (
    id INTEGER PRIMARY KEY, team INTEGER REFERENCES team (id), name TEXT, goals INTEGER
);
CREATE TABLE log (line TEXT, "when" TEXT);
INSERT INTO team VALUES (1, 'A', 'X'), (2, 'B', 'X');
INSERT INTO player VALUES (1, 1, 'p', 3), (2, 1, 'q', 4), (3, 2, 'p', 5);
INSERT INTO log VALUES ('start', '1'), ('start', '1'), ('end', '2');
CREATE VIEW gone AS SELECT * FROM missing;
CREATE VIEW odd AS SELECT id, name FROM team WHERE name NOTNULL COLLATE BINARY;
"""


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guard]:
    path: Path = tmp_path_factory.mktemp("bad") / "club.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(SCHEMA)
    with Guard(connect(path)) as door:
        yield door


def rules(answer: Answer) -> set[str]:
    return {finding.rule for finding in answer.findings}


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT nope FROM team", "nope"),
        ("SELECT t.nope FROM team t JOIN player p ON p.team = t.id", "t.nope"),
        ("SELECT x.name FROM team t", "x.name"),
        ("SELECT 1 FROM nowhere", "nowhere"),
        ("SELECT * FROM gone", "missing"),
        ("SELECT id FROM team t JOIN player p ON p.team = t.id", "ambiguous"),
        ("SELECT SUM(nope) FROM team t JOIN player p ON p.team = t.id GROUP BY t.nope", "nope"),
        ("SELECT no_function(name) FROM team", "no_function"),
        ("SELECT name FRM team t", "syntax"),
    ],
)
def test_what_the_database_rejects_is_told_in_its_words(guard: Guard, sql: str, words: str) -> None:
    for fix in (False, True):
        answer = guard.run(sql, fix=fix)
        assert (answer.verdict, answer.final_sql) == (Verdict.ANNOTATE, sql)
        assert answer.probe is not None
        assert answer.probe.status == "error"
        (finding,) = (f for f in answer.findings if f.rule == "exec_error")
        assert words in finding.message


@pytest.mark.parametrize(
    ("sql", "place", "words"),
    [
        (
            "SELECT id FROM team t JOIN player p ON p.team = t.id",
            (1, 8),
            "team and player have a column id; write t.id or p.id.",
        ),
        (
            "SELECT 1 FROM player a JOIN player b ON b.id = a.id\nWHERE goals > 3",
            (2, 7),
            "player (a) and player (b) have a column goals; write a.goals or b.goals.",
        ),
        ("SELECT t.nme FROM team t", (1, 8), "Did you mean t.name?"),
        ("SELECT t.goals FROM team t JOIN player p ON p.team = t.id", (1, 8), "mean p.goals?"),
        ("SELECT player.goals FROM player p", (1, 8), "mean p.goals?"),
        ("SELECT nme FROM team WHERE id = 1", (1, 8), "Did you mean name?"),
        ("SELECT 1 FROM\n playr", (2, 2), "Did you mean player?"),
        ("SELECT qqq FROM team", (1, 8), "qqq. There are id, name, town."),
        ("SELECT p.qqq FROM team t, player p", (1, 8), "There are id, team, name, goals."),
        ("SELECT qqq FROM team t, log, (SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d)", (1, 8), "1 more."),
        ("SELECT qqq.x FROM team t, log", (1, 8), "qqq.x. FROM has t, log."),
        ("SELECT 1 FROM qqq", (1, 15), "qqq. There are team, player, log, gone, odd."),
        ("SELECT t.nme, (SELECT 1 FROM playr) FROM team t", (1, 30), "Did you mean player?"),
        (
            "SELECT id FROM team WHERE EXISTS (SELECT 1 FROM player WHERE gols = 1)",
            (1, 62),
            "goals?",
        ),
    ],
)
def test_a_name_that_is_rejected_is_explained(
    guard: Guard, sql: str, place: tuple[int, int], words: str
) -> None:
    (finding,) = (f for f in guard.run(sql).findings if f.rule == "exec_error")
    assert ((finding.line, finding.column), finding.message[-len(words) :]) == (place, words)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT team.id AS id FROM team JOIN player ON player.team = team.id ORDER BY id",
        "SELECT id FROM team JOIN player USING (id)",
        "SELECT name, COUNT(*) FROM team NATURAL JOIN player GROUP BY name",
        "SELECT t.id FROM team t WHERE EXISTS (SELECT 1 FROM player WHERE id = t.id)",
    ],
)
def test_a_name_of_two_tables_may_be_clear(guard: Guard, sql: str) -> None:
    answer = guard.run(sql)
    assert answer.failure is None
    assert not rules(answer) & {"exec_error", "ambiguous_column"}


@pytest.mark.parametrize(
    ("sql", "unknown"),
    [
        (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3) "
            "SELECT x FROM n",
            "the recursive n",
        ),
        ("SELECT name FROM odd", "the rows of the view odd"),
        ("SELECT value FROM json_each('[1, 2]')", "the rows of json_each()"),
        ("SELECT name FROM sqlite_master", "the table sqlite_master"),
        ("SELECT name FROM pragma_table_info('team')", "the rows of pragma_table_info()"),
    ],
)
def test_what_is_not_modelled_is_named_and_the_query_runs(
    guard: Guard, sql: str, unknown: str
) -> None:
    answer = guard.run(sql)
    assert answer.rows
    assert answer.probe is not None
    assert answer.probe.status == "ok"
    assert answer.verdict == Verdict.UNDECIDED
    assert any(note.startswith("not known: ") and unknown in note for note in answer.notes)


def test_what_is_not_modelled_does_not_hide_what_is(guard: Guard) -> None:
    answer = guard.run(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3) "
        "SELECT COUNT(t.id) FROM team t JOIN player p ON p.team = t.id "
        "WHERE EXISTS (SELECT 1 FROM n WHERE n.x = t.id)"
    )
    assert "fan_out_count" in rules(answer)
    assert answer.verdict == Verdict.ANNOTATE
    assert "not known: the recursive n" in answer.notes


def test_a_table_without_any_key_is_told_apart_by_its_rows(guard: Guard) -> None:
    answer = guard.run("SELECT line FROM log")
    assert list(answer.rows) == [("start",), ("start",), ("end",)]
    assert answer.verdict in (Verdict.PASS, Verdict.ANNOTATE)
    answer = guard.run('SELECT COUNT(l.line) FROM log l JOIN player p ON p.id >= l."when"')
    assert rules(answer) & {"fan_out_count", "cartesian"}
