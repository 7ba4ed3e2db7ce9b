"""Policy `grain`: when a repair that would drop copies, or bring them back, is only suggested."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from modularsql import Guard, Settings, connect
from modularsql.ports import Engine
from modularsql.records import Answer, Safety, Severity

LISTED = "SELECT m.name FROM member m JOIN visit v ON v.member_id = m.id"

Open = Callable[..., Engine]
Run = Callable[..., Answer]


def database(path: Path, visits: list[int]) -> None:
    """Twenty members of which two share name and town, and some visits of theirs."""
    with sqlite3.connect(path) as writer:
        writer.execute("CREATE TABLE member(id INTEGER PRIMARY KEY, name TEXT, town TEXT)")
        writer.execute(
            "CREATE TABLE visit(id INTEGER PRIMARY KEY, member_id INTEGER REFERENCES member(id))"
        )
        names = [f"n{max(i, 1)}" for i in range(20)]
        towns = [f"t{max(i, 1)}" for i in range(20)]
        writer.executemany(
            "INSERT INTO member(name, town) VALUES (?, ?)", zip(names, towns, strict=True)
        )
        writer.executemany("INSERT INTO visit(member_id) VALUES (?)", [(v,) for v in visits])
    writer.close()


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    guards: list[Guard] = []

    def start(sql: str, visits: list[int], settings: Settings | None = None, **more: str) -> Answer:
        path = tmp_path / f"{len(guards)}.sqlite"
        database(path, visits)
        guards.append(Guard(connect(path), "grain", settings))
        return guards[-1].run(sql, fix=True, question=more.get("question"))

    yield start
    for guard in guards:
        guard.close()


def repairs(answer: Answer, rule: str) -> list[tuple[str, Safety]]:
    return [(r.name, r.safety) for f in answer.findings if f.rule == rule for r in f.repairs]


RARE, OFTEN = [3, 3, 4, 5, 6, 7], [3, 3, 4, 4, 5]


def test_a_list_that_hardly_repeats_is_warned_of_and_left(run: Run) -> None:
    answer = run(LISTED, RARE)
    assert answer.applied == ()
    assert answer.final_sql == LISTED
    assert repairs(answer, "fan_out_rows") == [("semi_join", Safety.SUGGESTED)]
    (finding,) = [f for f in answer.findings if f.rule == "fan_out_rows"]
    assert finding.severity == Severity.WARNING
    assert "tau_repeat" in finding.message


def test_a_list_that_repeats_often_is_repaired(run: Run) -> None:
    answer = run(LISTED, OFTEN)
    assert answer.applied == ("semi_join",)
    assert len(answer.rows) == 3


def test_who_asks_for_different_members_gets_them_however_few_repeat(run: Run) -> None:
    answer = run(LISTED, RARE, question="Which different members came?")
    assert answer.applied != ()
    assert len(answer.rows) == 5


def test_the_bound_is_a_setting(run: Run) -> None:
    assert run(LISTED, RARE, Settings(tau_repeat=1.1)).applied == ("semi_join",)
    assert run(LISTED, OFTEN, Settings(tau_repeat=2.0)).applied == ()


def test_a_total_is_repaired_however_few_rows_repeat(run: Run) -> None:
    answer = run("SELECT SUM(m.id) FROM member m JOIN visit v ON v.member_id = m.id", RARE)
    assert answer.applied == ("semi_join",)


def test_names_that_distinct_melts_are_brought_back(run: Run) -> None:
    answer = run("SELECT DISTINCT name FROM member", [])
    assert answer.applied == ("remove_distinct",)
    (finding,) = answer.findings
    assert (finding.rule, finding.severity) == ("distinct_drops_rows", Severity.WARNING)


def test_different_values_that_name_nothing_may_be_all_that_is_asked_for(run: Run) -> None:
    answer = run("SELECT DISTINCT town FROM member", [])
    assert answer.applied == ()
    (finding,) = answer.findings
    assert (finding.rule, finding.severity) == ("distinct_drops_rows", Severity.INFO)
    assert repairs(answer, "distinct_drops_rows") == [("remove_distinct", Safety.SUGGESTED)]


PERCENT = "SELECT 100.0 * SUM(CASE WHEN m.town = 't2' THEN 1 ELSE 0 END) / COUNT(m.town) "
VISITS = "FROM visit v JOIN member m ON v.member_id = m.id"


def test_a_share_of_rows_that_a_parent_describes_is_left_alone(run: Run) -> None:
    answer = run(PERCENT + VISITS, [3, 3, 3, 4], question="What share of visits is from t2?")
    assert answer.applied == ()
    assert answer.rows == [(75.0,)]


@pytest.mark.parametrize("question", [None, "How many visits?", "How many members and visits?"])
def test_a_count_of_a_name_may_mean_the_rows_of_the_join(run: Run, question: str | None) -> None:
    more = {} if question is None else {"question": question}
    answer = run("SELECT COUNT(m.name) " + VISITS, [3, 3, 3, 4], **more)
    assert answer.applied == ()
    assert answer.rows == [(4,)]
    assert [safety for _, safety in repairs(answer, "fan_out_count")] == [Safety.SUGGESTED]


def test_a_count_of_names_of_what_is_asked_for_is_repaired(run: Run) -> None:
    answer = run("SELECT COUNT(m.name) " + VISITS, [3, 3, 3, 4], question="How many members came?")
    assert answer.rows == [(2,)]


def test_a_count_of_a_key_is_repaired(run: Run) -> None:
    assert run("SELECT COUNT(m.id) " + VISITS, [3, 3, 3, 4]).rows == [(2,)]


COUNTED = (
    "SELECT m.town, COUNT(m.id) FROM member m JOIN visit v ON v.member_id = m.id GROUP BY m.town"
)


def test_a_count_whose_name_says_that_it_counts_the_other_table_is_left(run: Run) -> None:
    for name in ("visits", "visit_count", "NumVisits"):
        sql = COUNTED.replace("COUNT(m.id)", f"COUNT(m.id) AS {name}")
        answer = run(sql, OFTEN)
        assert answer.final_sql == sql
        assert ("semi_join", Safety.SUGGESTED) in repairs(answer, "fan_out_count")
        beside = sql.replace(name, f"{name}, MAX(v.id)")
        assert run(beside, OFTEN).final_sql == beside


def test_a_count_that_the_question_asks_of_the_other_table_is_left(run: Run) -> None:
    for question in ("How many visits are there by town?", "Show the number of visits per town."):
        answer = run(COUNTED, OFTEN, question=question)
        assert answer.applied == ()
        assert "it is to count rows of visit" in str(answer.findings)


def test_a_count_of_members_is_still_repaired(run: Run) -> None:
    assert run(COUNTED.replace("(m.id)", "(m.id) AS members"), OFTEN).applied == ("semi_join",)
    asked = "How many members with how many visits are there in each town?"
    assert run(COUNTED, OFTEN, question=asked).applied == ("semi_join",)
    assert run(COUNTED, OFTEN, question="How many members came?").applied == ("semi_join",)


ADDED = "SELECT SUM(m.id), AVG(m.id) "


def test_what_is_looked_up_for_each_row_that_from_begins_with_may_be_meant(run: Run) -> None:
    answer = run(ADDED + VISITS, [3, 3, 3, 4])
    assert answer.applied == ()
    assert answer.rows == [(13, 3.25)]
    assert {safety for _, safety in repairs(answer, "fan_out_sum")} == {Safety.SUGGESTED}


def test_a_sum_over_what_from_begins_with_is_repaired(run: Run) -> None:
    joined = "FROM member m JOIN visit v ON v.member_id = m.id"
    assert run(ADDED + joined, [3, 3, 3, 4]).rows == [(7, 3.5)]


def test_a_sum_over_what_the_question_names_is_repaired(run: Run) -> None:
    asked = "What is the sum of the ids of all members?"
    assert run(ADDED + VISITS, [3, 3, 3, 4], question=asked).rows == [(7, 3.5)]


@pytest.mark.parametrize(
    ("table", "column", "question", "applied"),
    [
        ("", "", "List the pastry of each sale.", ("semi_join",)),
        ("sale", "", "List the pastry of each sale.", ()),
        ("what was sold, row by row", "", "List the pastry of each sale.", ("semi_join",)),
        ("", "", "Which pastries were sold?", ("semi_join",)),
        ("", "pastry", "Which pastries were sold?", ("inject_distinct",)),
    ],
)
def test_descriptions_are_names_where_they_are_short(
    open_database: Open, table: str, column: str, question: str, applied: tuple[str, ...]
) -> None:
    """The tables and columns of the database are called by abbreviations."""
    engine = open_database(
        "duckdb",
        f"""
        CREATE TABLE pr(id INTEGER PRIMARY KEY, lbl VARCHAR);
        CREATE TABLE sl(id INTEGER PRIMARY KEY, pr INTEGER REFERENCES pr(id));
        INSERT INTO pr VALUES (1, 'bun'), (2, 'bun'), (3, 'pie');
        INSERT INTO sl VALUES (1, 1), (2, 1), (3, 2), (4, 2), (5, 2), (6, 3);
        COMMENT ON TABLE sl IS '{table}';
        COMMENT ON COLUMN pr.lbl IS '{column}';
        """,
    )
    sql = "SELECT p.lbl FROM pr p JOIN sl s ON s.pr = p.id"
    assert Guard(engine).run(sql, fix=True, question=question).applied == applied


@pytest.mark.parametrize(
    ("sql", "question", "sign", "reason"),
    [
        (LISTED, "The member of each visit?", "each", "the question asks for each of them"),
        (LISTED.replace("m.name", "COUNT(m.town)"), None, "counts_rows", "a COUNT of a column"),
        ("SELECT DISTINCT m.town FROM member m", None, "wrote_distinct", "somebody wrote DISTINCT"),
    ],
)
def test_a_policy_passes_over_the_signs_that_its_file_names(
    tmp_path: Path, sql: str, question: str | None, sign: str, reason: str
) -> None:
    database(tmp_path / "some.sqlite", OFTEN)
    policy = tmp_path / "mine.toml"

    def answer(unheeded: str) -> Answer:
        policy.write_text(f'base = "grain"\nunheeded = [{unheeded}]\n')
        with Guard(connect(tmp_path / "some.sqlite"), str(policy)) as guard:
            return guard.run(sql, fix=True, question=question)

    heeded, passed = answer('"several"'), answer(f'"several", "{sign}"')
    assert (heeded.applied, heeded.unheeded) == ((), ())
    assert heeded.signs == passed.signs == (sign,)
    assert passed.applied
    assert passed.unheeded == (sign,)
    assert any(reason in note for note in passed.notes)
