"""The log: what goes in comes out, and a crash costs the last line only."""

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
    gold_side=SIDE,
    pred_side=SIDE,
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
    lines = "".join(to_line(one) + "\n" for one in (FULL, FAILED)).encode()
    assert lines.count(b"\n") == 2
    records, whole = read_log(lines)
    assert records == {3: FULL, 4: FAILED}
    assert whole == len(lines)


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_what_a_crash_left_of_a_line_is_not_read(cut: int) -> None:
    first, second = (f"{to_line(one)}\n".encode() for one in (FULL, FAILED))
    records, whole = read_log(first + second[: -min(cut, len(second) - 1)])
    assert (list(records), whole) == ([3], len(first))


def test_a_later_record_of_a_pair_counts() -> None:
    again = Record(pair=3, gold=FULL.gold, pred=FULL.pred, scores={"set_ex": 0.0})
    records, _ = read_log(f"{to_line(FULL)}\n{to_line(again)}\n".encode())
    assert records == {3: again}


@pytest.mark.parametrize("broken", ["{}", "[1]", "nonsense", '{"pair": 1, "gold": {"no": 1}}'])
def test_a_broken_line_before_the_last_is_an_error_that_names_it(broken: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        read_log(f"{to_line(FAILED)}\n{broken}\n{to_line(FAILED)}\n".encode())


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
