"""The log: what goes in comes out."""

import json

import pytest

from modularsql.evaluation.log import Guarded, Ran, Record, Side, read_log, to_line

SIDE = Side(
    columns=("a", "b"),
    rows=((1, None), ("x", {"base64": "//8="})),
    differs=(False, True),
    places=(0, 7),
)
FULL = Record(
    pair=3,
    gold=Ran(status="ok", rows=2, ms=1.25),
    pred=Ran(status="ok", rows=4, distinct=2, ms=0.5),
    scores={"set_ex": 1.0, "multiset_ex": 0.0, "other": None},
    cause="fan_out",
    columns=(1, None, 0),
    gold_side=SIDE,
    pred_side=SIDE,
    smells=("empty", "today"),
    pred_smells=("null_first_cut",),
    guarded=(
        Guarded(
            policy="grain",
            status="duplicates",
            applied=("semi_join",),
            found=(("fan_out_rows", "warning"),),
            set_ex=1.0,
            multiset_ex=1.0,
            ratio=0.0,
            probe_ms=0.1,
            repair_ms=2.0,
            sql="SELECT 1",
        ),
    ),
)
FAILED = Record(
    pair=4, gold=Ran(status="ok", rows=1), pred=Ran(status="error", error="no such\ntable")
)


def test_a_record_survives_the_way_to_a_line_and_back() -> None:
    lines = [to_line(one).encode() for one in (FULL, FAILED)]
    assert not any(b"\n" in line for line in lines)
    assert read_log(lines) == {3: FULL, 4: FAILED}


def test_a_later_record_of_a_pair_counts() -> None:
    again = Record(pair=3, gold=FULL.gold, pred=FULL.pred, scores={"set_ex": 0.0})
    assert read_log([to_line(FULL).encode(), to_line(again).encode()]) == {3: again}


@pytest.mark.parametrize("broken", ["{}", "[1]", "nonsense", '{"pair": 1, "gold": {"no": 1}}'])
def test_a_broken_line_is_an_error_that_names_it(broken: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        read_log(line.encode() for line in (to_line(FAILED), broken, to_line(FAILED)))


def test_a_line_is_json_whatever_an_error_says() -> None:
    odd = Record(
        pair=0, gold=Ran(status="ok"), pred=Ran(status="error", error="\udcff\x00\u2028" * 400)
    )
    line = to_line(odd)
    assert "\n" not in line
    assert len(json.loads(line)["pred"]["error"]) <= 500 * 4
    line.encode()


@pytest.mark.parametrize(
    ("rows", "distinct", "ratio"), [(10, 4, 0.6), (0, 0, 0.0), (None, None, None)]
)
def test_the_dup_ratio_follows_from_the_counts(
    rows: int | None, distinct: int | None, ratio: float | None
) -> None:
    assert Ran(status="ok", rows=rows, distinct=distinct).dup_ratio == ratio
