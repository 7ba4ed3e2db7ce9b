"""Cells and texts as JSON: nothing is rounded, nothing is lost, nothing fails."""

import json
import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modularsql import connect
from modularsql.errors import InputError
from modularsql.json_values import cell, text
from modularsql.records import Answer, Finding, Limits, Repair, Safety, Severity, Verdict
from modularsql.rows import Rows
from modularsql.service.jsonable import answer_json, error_json

UID = "12345678-1234-5678-1234-567812345678"
EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (True, True),
        (0, 0),
        (2**127, 2**127),
        (-(10**30), -(10**30)),
        (0.1, 0.1),
        (-0.0, -0.0),
        (5e-324, 5e-324),
        (math.nan, {"float": "nan"}),
        (math.inf, {"float": "inf"}),
        (-math.inf, {"float": "-inf"}),
        ("", ""),
        ("é\0\u2028\x1b", "é\0\u2028\x1b"),
        ("\U0001f600", "\U0001f600"),
        ("a\udcff", {"base64": "Yf8="}),
        ("\ud83d", {"base64": "7aC9"}),
        (b"", {"base64": ""}),
        (b"\x00\xff", {"base64": "AP8="}),
        (bytearray(b"a"), {"base64": "YQ=="}),
        (memoryview(b"a"), {"base64": "YQ=="}),
        (Decimal("1.10"), "1.10"),
        (Decimal("1E+3"), "1000"),
        (Decimal("-0.0000001"), "-0.0000001"),
        (Decimal("NaN"), "NaN"),
        (Decimal("Infinity"), "Infinity"),
        (date(2025, 1, 2), "2025-01-02"),
        (datetime(2025, 1, 2, 3, 4, 5, 6), "2025-01-02T03:04:05.000006"),
        (datetime(2025, 1, 2, tzinfo=UTC), "2025-01-02T00:00:00+00:00"),
        (time(1, 2, 3), "01:02:03"),
        (time(1, tzinfo=EAST), "01:00:00+02:00"),
        (timedelta(0), "P0DT0S"),
        (timedelta(days=1, seconds=2, microseconds=500_000), "P1DT2.5S"),
        (timedelta(seconds=-1.5), "-P0DT1.5S"),
        (timedelta.min, "-P999999999DT0S"),
        (UUID(UID), UID),
        ([1, [None, math.nan]], [1, [None, {"float": "nan"}]]),
        ((1, b"a"), [1, {"base64": "YQ=="}]),
        ({"a": {"b": Decimal("1.0")}}, {"a": {"b": "1.0"}}),
        ({1: "x", date(2025, 1, 2): "y"}, {"1": "x", "2025-01-02": "y"}),
        ({"\udcff": 1}, {"\\xff": 1}),
        ({1: "x", "1": "y"}, [[1, "x"], ["1", "y"]]),
        ({(1, 2): 3}, {"[1, 2]": 3}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_cell_is_written_as_the_contract_says(value: Any, shown: Any) -> None:
    assert repr(cell(value)) == repr(shown)
    assert json.loads(json.dumps(cell(value), allow_nan=False).encode("utf-8")) == shown


def test_a_value_that_no_driver_has_yet_is_its_own_text() -> None:
    class Point:
        def __str__(self) -> str:
            return "POINT(1 \udcff)"

    assert cell(Point()) == "POINT(1 \\xff)"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain é", "plain é"),
        ("a\udc80b", "a\\x80b"),
        ("\ud800", "\\xed\\xa0\\x80"),
    ],
)
def test_text_that_is_not_unicode_is_shown_as_bytes(given: str, shown: str) -> None:
    assert text(given) == shown


CELLS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.binary(), st.decimals())
    | st.text(st.characters(exclude_categories=()))
    | st.dates()
    | st.times()
    | st.datetimes()
    | st.timedeltas()
    | st.uuids(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.dates(), inner),
    max_leaves=8,
)


@given(CELLS)
def test_every_cell_survives_the_way_through_a_file(value: Any) -> None:
    shown = cell(value)
    written = json.dumps(shown, ensure_ascii=False, allow_nan=False).encode("utf-8")
    assert json.loads(written) == shown


def test_every_type_of_duckdb_has_a_form_in_json(tmp_path: Path) -> None:
    path = tmp_path / "types.duckdb"
    duckdb.connect(str(path)).close()
    engine = connect(path)
    found = engine.execute("SELECT * FROM test_all_types()", limits=Limits())
    engine.close()
    assert isinstance(found, Rows), found
    assert len(found.columns) > 40
    shown = [[cell(value) for value in row] for row in found.rows]
    written = json.dumps(shown, ensure_ascii=False, allow_nan=False).encode("utf-8")
    assert json.loads(written) == shown


def test_no_text_of_an_answer_can_break_the_file() -> None:
    odd = "a\udcff\ud800"
    finding = Finding(
        rule="r",
        severity=Severity.INFO,
        message=odd,
        tables=(odd,),
        cause=odd,
        measured={odd: odd, "n": math.nan},
        repairs=(Repair(name="x", safety=Safety.PROVEN, sql=odd),),
    )
    answer = Answer(
        sql=odd,
        question=odd,
        final_sql=odd,
        verdict=Verdict.PASS,
        dialect="sqlite",
        findings=(finding,),
        columns=(odd,),
        rows=[(odd,)],
        notes=(odd,),
    )
    written = json.dumps(answer_json(answer), ensure_ascii=False, allow_nan=False)
    assert json.loads(written.encode("utf-8"))["findings"][0]["measured"]["n"] == {"float": "nan"}
    error = InputError(odd, odd)
    assert json.dumps(error_json(error), ensure_ascii=False).encode("utf-8")
