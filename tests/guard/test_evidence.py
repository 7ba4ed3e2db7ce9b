"""The evidence of findings: rows after each join, values at the grain, example rows."""

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from modularsql import Answer, Guard, Limits, Settings
from modularsql.catalog import Catalog
from modularsql.guard.session import Purse, Session
from modularsql.ports import Engine, Outcome
from modularsql.records import Failure, FailureKind, Finding, Params, Severity
from modularsql.service.jsonable import answer_json
from modularsql.sql.parse import parse_text

Open = Callable[..., Engine]
SCHEMA = json.loads(files("modularsql.schemas").joinpath("guard.schema.json").read_text("utf-8"))

SHOP = """
CREATE TABLE shop(shop_id INTEGER PRIMARY KEY, town VARCHAR);
CREATE TABLE bill(bill_id INTEGER PRIMARY KEY, shop_id INTEGER, amount INTEGER);
CREATE TABLE part_payment(id INTEGER PRIMARY KEY, bill_id INTEGER, method VARCHAR);
INSERT INTO shop VALUES (1, 'Bergen'), (2, NULL);
INSERT INTO bill VALUES (1, 1, 300), (2, 1, 50), (3, 2, 9), (4, 2, NULL);
INSERT INTO part_payment VALUES (1, 1, 'card'), (2, 1, 'card'), (3, 1, 'cash'), (4, 2, 'card'),
  (5, 3, 'card'), (6, 3, 'card'), (7, 4, 'card'), (8, NULL, 'card');
CREATE TABLE slot(day INTEGER NOT NULL, hour INTEGER NOT NULL, places INTEGER,
  PRIMARY KEY (day, hour));
CREATE TABLE booking(day INTEGER, hour INTEGER, who VARCHAR);
INSERT INTO slot VALUES (1, 9, 10), (1, 10, 20), (2, 9, 40);
INSERT INTO booking VALUES (1, 9, 'a'), (1, 9, 'b'), (2, 9, 'a'), (NULL, 9, 'x');
CREATE TABLE visit(who VARCHAR, minutes INTEGER);
INSERT INTO visit VALUES ('a', 5), ('a', 5), (NULL, 7), (NULL, 7);
CREATE VIEW twice AS SELECT bill_id, amount FROM bill UNION ALL SELECT bill_id, amount FROM bill;
"""
JOINED = "FROM bill b JOIN part_payment p ON p.bill_id = b.bill_id"


@pytest.fixture(params=["sqlite", "duckdb"])
def shop(request: pytest.FixtureRequest, open_database: Open) -> Engine:
    engine: Engine = open_database(request.param, SHOP)
    return engine


def run(engine: Engine, sql: str, **more: Any) -> Answer:
    answer = Guard(engine, settings=Settings(evidence_seconds=20)).run(sql, **more)
    Draft202012Validator(SCHEMA).validate(answer_json(answer))
    return answer


def about(answer: Answer, rule: str) -> Finding:
    return next(finding for finding in answer.findings if finding.rule == rule)


def test_a_sum_brings_both_values_the_join_and_the_rows_most_repeated(shop: Engine) -> None:
    finding = about(run(shop, f"SELECT SUM(b.amount) {JOINED}"), "fan_out_sum")
    measured = dict(finding.measured)
    sql = measured.pop("sql")
    on = "JOIN part_payment p ON p.bill_id = b.bill_id"
    step = {"join": on, "conditions": [], "rows_before": 4, "rows_after": 7, "entity_rows": 4}
    assert measured == {
        "rows_before": 4,
        "rows_after": 7,
        "factor": 1.75,
        "entity": ["bill"],
        "joins": [step],
        "join": on,
        "value_now": 968,
        "value_at_grain": 359,
        "examples": [{"key": {"bill_id": 1}, "rows": 3}, {"key": {"bill_id": 3}, "rows": 2}],
    }
    assert shop.execute(sql, limits=Limits()).rows == [(7, 4)]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("aggregate", "now", "once"),
    [
        ("AVG(b.amount)", 968 / 6, 359 / 3),
        ("SUM(b.amount * 2)", 1936, 718),
        ("SUM(CASE WHEN b.amount > 40 THEN b.amount ELSE 0 END)", 950, 350),
        ("COUNT(b.amount)", 6, 3),
    ],
)
def test_values_are_those_of_the_aggregate(
    shop: Engine, aggregate: str, now: float, once: float
) -> None:
    answer = run(shop, f"SELECT {aggregate} {JOINED}")
    measured = next(f.measured for f in answer.findings if "value_now" in f.measured)
    assert float(measured["value_now"]) == pytest.approx(now)
    assert float(measured["value_at_grain"]) == pytest.approx(once)
    assert float(answer.rows[0][0]) == pytest.approx(now)


def test_an_argument_of_both_sides_has_no_value_at_the_grain(shop: Engine) -> None:
    sql = f"SELECT SUM(CASE WHEN p.method = 'card' THEN b.amount END) {JOINED}"
    assert "value_now" not in about(run(shop, sql), "fan_out_sum").measured


def test_groups_are_told_by_the_one_that_differs_most(shop: Engine) -> None:
    sql = f"SELECT s.town, SUM(b.amount) {JOINED} JOIN shop s ON s.shop_id = b.shop_id GROUP BY 1"
    measured = about(run(shop, sql), "fan_out_sum").measured
    assert measured["group"] == {"town": "Bergen"}
    assert (measured["value_now"], measured["value_at_grain"]) == (950, 350)
    assert measured["examples"] == [
        {"key": {"bill_id": 1}, "group": {"town": "Bergen"}, "rows": 3},
        {"key": {"bill_id": 3}, "group": {"town": None}, "rows": 2},
    ]


def test_the_join_that_multiplies_is_told_from_those_that_do_not(shop: Engine) -> None:
    sql = f"SELECT SUM(b.amount) {JOINED} JOIN shop s ON s.shop_id = b.shop_id WHERE p.id < 6"
    measured = about(run(shop, sql), "fan_out_sum").measured
    assert measured["join"] == "JOIN part_payment p ON p.bill_id = b.bill_id"
    assert [(j["rows_before"], j["rows_after"]) for j in measured["joins"]] == [(4, 5), (5, 5)]
    assert measured["joins"][0]["conditions"] == ["p.id < 6"]


def test_tables_between_commas_are_joined_where_their_condition_is_settled(shop: Engine) -> None:
    sql = "SELECT SUM(b.amount) FROM shop s, bill b, part_payment p "
    sql += "WHERE b.shop_id = s.shop_id AND p.bill_id = b.bill_id"
    measured = about(run(shop, sql), "fan_out_sum").measured
    assert [(j["join"], j["rows_after"]) for j in measured["joins"]] == [
        (", bill b", 4),
        (", part_payment p", 7),
    ]


def test_a_parent_read_after_its_children_is_repeated_by_the_join_that_brings_it(
    shop: Engine,
) -> None:
    sql = "SELECT SUM(b.amount) FROM part_payment p JOIN bill b ON p.bill_id = b.bill_id"
    finding = about(run(shop, sql), "fan_out_sum")
    assert finding.cause == finding.measured["join"] == "JOIN bill b ON p.bill_id = b.bill_id"
    assert finding.measured["joins"][0]["entity_rows"] == 4


def test_a_composite_key_names_all_its_columns(shop: Engine) -> None:
    sql = "SELECT SUM(s.places) FROM slot s JOIN booking k ON k.day = s.day AND k.hour = s.hour"
    measured = about(run(shop, sql), "fan_out_sum").measured
    assert measured["examples"] == [{"key": {"day": 1, "hour": 9}, "rows": 2}]
    assert (measured["value_now"], measured["value_at_grain"]) == (60, 50)


def test_a_table_without_a_key_is_counted_by_its_row_id(shop: Engine) -> None:
    sql = "SELECT SUM(v.minutes) FROM visit v JOIN booking k ON k.who = v.who"
    measured = about(run(shop, sql), "fan_out_sum").measured
    assert (measured["rows_before"], measured["rows_after"]) == (2, 4)
    assert (measured["value_now"], measured["value_at_grain"]) == (20, 10)
    assert [list(example["key"]) for example in measured["examples"]] == [["rowid"], ["rowid"]]


def test_the_rows_an_outer_join_pads_are_no_rows_of_the_entity(shop: Engine) -> None:
    sql = "SELECT SUM(b.amount) FROM shop s LEFT JOIN bill b ON b.shop_id = s.shop_id + 1 "
    sql += "LEFT JOIN part_payment p ON p.bill_id = b.bill_id"
    measured = about(run(shop, sql), "chasm").measured
    assert [j["entity_rows"] for j in measured["joins"]] == [2, 2]
    assert [j["rows_after"] for j in measured["joins"]] == [3, 4]
    assert measured["examples"] == [{"key": {"bill_id": 3}, "rows": 2}]


def test_a_view_has_no_rows_to_tell_apart_but_joins_are_counted(shop: Engine) -> None:
    sql = "SELECT SUM(t.amount) FROM twice t JOIN part_payment p ON p.bill_id = t.bill_id"
    finding = about(run(shop, sql), "fan_out_sum")
    assert finding.severity == Severity.INFO
    assert [(j["rows_after"], j["entity_rows"]) for j in finding.measured["joins"]] == [(14, None)]
    assert "value_now" not in finding.measured


def test_a_self_join_and_a_cte_are_read_as_they_stand(shop: Engine) -> None:
    sql = "WITH big AS (SELECT * FROM bill WHERE amount > 1), card AS "
    sql += "(SELECT * FROM part_payment WHERE method = 'card') "
    sql += "SELECT SUM(b.amount) FROM big b JOIN card c ON c.bill_id = b.bill_id "
    sql += "JOIN card d ON d.bill_id = c.bill_id"
    measured = about(run(shop, sql), "chasm").measured
    assert [j["rows_after"] for j in measured["joins"]] == [5, 9]
    assert measured["rows_before"] == 3
    assert measured["examples"][0] == {"key": {"bill_id": 1}, "rows": 4}
    assert (measured["value_now"], measured["value_at_grain"]) == (1286, 359)


def test_rows_that_come_back_repeated_bring_joins_and_examples(shop: Engine) -> None:
    measured = about(run(shop, f"SELECT b.amount {JOINED}"), "fan_out_rows").measured
    assert measured["examples"][0] == {"key": {"bill_id": 1}, "rows": 3}
    assert "value_now" not in measured


def test_tables_that_nothing_connects_show_their_product(shop: Engine) -> None:
    finding = about(run(shop, "SELECT b.bill_id, s.shop_id FROM bill b, shop s"), "cartesian")
    assert finding.cause == ", shop s"
    assert [(j["rows_before"], j["rows_after"]) for j in finding.measured["joins"]] == [(4, 8)]


def test_bound_values_go_along(shop: Engine) -> None:
    sql = f"SELECT SUM(b.amount) {JOINED} WHERE b.amount > ?"
    measured = about(run(shop, sql, params=[100]), "fan_out_sum").measured
    assert (measured["value_now"], measured["value_at_grain"]) == (900, 300)


def test_without_seconds_for_it_nothing_more_is_asked(shop: Engine) -> None:
    answer = Guard(shop, settings=Settings(evidence_seconds=0)).run(
        f"SELECT SUM(b.amount) {JOINED}"
    )
    assert about(answer, "fan_out_sum").measured.keys() == {
        *("rows_before", "rows_after", "factor", "entity", "sql")
    }


class Tiring:
    """An engine that has no time left after so many queries."""

    def __init__(self, engine: Engine, queries: int) -> None:
        self.engine, self.left = engine, queries
        self.name, self.dialect = engine.name, engine.dialect
        self.close = engine.close
        self.compares_bytes = engine.compares_bytes

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        if self.left <= 0:
            return Failure(kind=FailureKind.TIMEOUT, message="stopped at the time limit")
        self.left -= 1
        return self.engine.execute(sql, params, limits=limits)

    def catalog(self) -> Catalog:
        return self.engine.catalog()


@pytest.mark.parametrize(
    ("queries", "severity", "words", "keys"),
    [
        (0, Severity.ERROR, "Not measured: out of time.", set()),
        (1, Severity.INFO, "Not measured: out of time.", set()),
        (2, Severity.ERROR, "Not measured further: out of time.", {"factor"}),
        (4, Severity.ERROR, "Not measured further: out of time.", {"factor", "joins"}),
        (6, Severity.ERROR, "average.", {"factor", "joins", "value_now", "examples"}),
    ],
)
def test_what_there_was_no_time_for_is_told_and_the_finding_stays(
    shop: Engine, queries: int, severity: Severity, words: str, keys: set[str]
) -> None:
    answer = run(Tiring(shop, queries), f"SELECT SUM(b.amount) {JOINED}")
    finding = about(answer, "fan_out_sum")
    assert finding.severity == severity
    assert words in finding.message
    assert keys == finding.measured.keys() & {"factor", "joins", "value_now", "examples"}
    assert ("not_measured" in finding.measured) == ("out of time" in words)


def test_a_purse_is_a_part_of_the_budget_and_is_not_asked_again_when_empty() -> None:
    class Clocked:
        name, dialect = "clocked", "sqlite"

        def __init__(self) -> None:
            self.seconds: list[float] = []

        def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
            self.seconds.append(limits.seconds)
            return Failure(kind=FailureKind.TIMEOUT, message="")

    now = 100.0
    engine: Any = Clocked()
    session = Session(
        engine=engine, params=None, limits=Limits(seconds=9, probe_seconds=5), clock=lambda: now
    )
    query = parse_text("SELECT 1", "sqlite")
    for seconds, own, allowed in ((2, None, 2), (2, 0.5, 2), (4, 1, 4)):
        session.own = own
        purse = session.purse(seconds)
        assert purse.run(query) is None  # type: ignore[arg-type]
        assert purse.run(query) is None  # type: ignore[arg-type]
        assert purse.why == "out of time"
        assert engine.seconds.pop() == pytest.approx(allowed)
        assert engine.seconds == []
    session.own = 5.0
    dear = session.purse(2)
    assert dear.run(query) is None  # type: ignore[arg-type]
    assert dear.why == "estimated 15 s, 5.0 s left for probes (probe_seconds, probe_times)"
    assert engine.seconds == []
    spent = replace(Limits(), seconds=1)
    late = Purse(session=Session(engine=engine, params=None, limits=spent), end=0.0)
    assert late.run(query) is None  # type: ignore[arg-type]
    assert late.why == "out of time"
    assert engine.seconds == []
