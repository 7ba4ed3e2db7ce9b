"""What `eval` finds out besides, when it is asked to."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.errors import InputError
from modularsql.evaluation.report.html import facts
from modularsql.evaluation.report.tables import report_tables
from modularsql.evaluation.summary import summary
from modularsql.rows.tolerance import Tolerance
from modularsql.service.evaluating import EvalRequest, Evaluated, evaluate
from modularsql.service.run_files import load_run

Options = Callable[..., Evaluated]


@pytest.fixture
def scored(eval_request: Callable[..., EvalRequest]) -> Options:
    """Score (gold, answer) pairs on `shop` in one worker; further fields of the request by name."""

    def call(pairs: Sequence[tuple[str, str]], **more: Any) -> Evaluated:
        gold, answers = zip(*pairs, strict=True)
        return evaluate(eval_request(gold, {"one": answers}, **{"metrics": ("set_ex",), **more}))

    return call


PADDED = "SELECT b FROM (SELECT b FROM t UNION ALL SELECT NULL) AS q "
PAIRS = (
    ("SELECT b FROM t WHERE b < 3", "SELECT b FROM t WHERE b <= 2"),
    ("SELECT a FROM t WHERE b > 99", "SELECT a FROM t WHERE b > 98"),
    ("SELECT b FROM t ORDER BY a LIMIT 1", "SELECT b FROM t WHERE b = 18"),
    ("SELECT nope FROM t", "SELECT 1"),
    ("SELECT b FROM t WHERE b = 7", "SELECT 8"),
)


def test_scores_stand_with_and_without_gold_that_smells(scored: Options, tmp_path: Path) -> None:
    done = scored(PAIRS, smells=True)
    assert done.summary["smells"] == {"empty": ["q1"], "cut_at_tie": ["q2"], "error": ["q3"]}
    one = done.summary["systems"]["one"]
    assert (one["n"], one["set_ex"]) == (4, 0.5)
    assert (one["clean"]["n"], one["clean"]["set_ex"]) == (2, 0.5)
    again = load_run(tmp_path / "run")
    assert summary(again) == done.summary
    tables = {table.name: table for table in report_tables(again)}
    assert [row[:3] for row in tables["without_smells"].rows] == [
        ("one", "all", 4),
        ("one", "gold without a smell", 2),
    ]
    assert [(row[0], row[3]) for row in tables["smells"].rows] == [
        ("empty", "q1"),
        ("cut_at_tie", "q2"),
        ("error", "q3"),
    ]


def test_gold_of_the_last_days_has_rows_again_under_a_clock_of_then(
    scored: Options, tmp_path: Path
) -> None:
    """E18: the window has moved past the data."""
    recent = "SELECT b FROM t WHERE date('2020-01-01', '+' || b || ' days') > date('now', '-3 day')"
    pairs = [
        (recent, "SELECT b FROM t WHERE b > 6"),
        ("SELECT CURRENT_DATE", "SELECT '2020-01-10'"),
    ]
    done = scored(pairs, settings=Settings(jobs=1, today="2020-01-10"), smells=True)
    one = done.summary["systems"]["one"]
    assert (one["multiset_ex"], one["right_on_empty_gold"]) == (1.0, 0)
    assert done.summary["smells"] == {"today": ["q0", "q1"]}
    assert "today is 2020-01-10" in facts(load_run(tmp_path / "run"))
    now = scored(pairs, settings=Settings(jobs=1), out=tmp_path / "now")
    assert now.summary["systems"]["one"]["multiset_ex"] == 0.0
    assert "today is" not in facts(load_run(tmp_path / "now"))


def test_a_prediction_smells_where_null_is_on_top_of_what_it_keeps(
    eval_request: Callable[..., EvalRequest], tmp_path: Path
) -> None:
    golds = [PADDED + "WHERE b IS NOT NULL ORDER BY b LIMIT 1", PADDED + "ORDER BY b LIMIT 1"]
    answers = {"one": [PADDED + "ORDER BY b LIMIT 1", golds[0]], "two": golds}
    request = eval_request(golds, answers, metrics=("set_ex",), smells=True)
    done = evaluate(request)
    assert done.summary["smells"]["null_first_cut"] == ["q1"]
    found = {name: one["smells"] for name, one in done.summary["systems"].items()}
    assert found == {"one": {"null_first_cut": ["q0"]}, "two": {"null_first_cut": ["q1"]}}
    again = load_run(tmp_path / "run")
    assert summary(again) == done.summary
    [table] = [table for table in report_tables(again) if table.name == "pred_smells"]
    assert [(row[0], row[1], row[3], row[4]) for row in table.rows] == [
        ("one", "null_first_cut", 1, "q0"),
        ("two", "null_first_cut", 1, "q1"),
    ]


def test_nobody_smells_unasked(scored: Options) -> None:
    done = scored(PAIRS[:2])
    assert done.summary["smells"] == {}
    assert done.summary["systems"]["one"]["clean"] is None


def test_a_tolerance_forgives_numbers_and_nothing_else(scored: Options) -> None:
    pairs = [("SELECT 1.0, 'a'", "SELECT 1.004, 'a'"), ("SELECT 1.0, 'a'", "SELECT 1.0, 'b'")]
    done = scored(pairs, tolerance=Tolerance(absolute=0.01))
    one = done.summary["systems"]["one"]
    assert (one["multiset_ex"], one["tolerant_ex"]) == (0.0, 0.5)


LONG = (
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300000) "
    "SELECT {} FROM n"
)


def test_times_are_measured_in_turns_and_only_for_right_answers(
    scored: Options, tmp_path: Path
) -> None:
    pairs = [
        ("SELECT 300000", LONG.format("COUNT(*)")),
        (LONG.format("COUNT(*)"), "SELECT 300000"),
        ("SELECT 1", "SELECT 2"),
        ("SELECT 1", "SELECT nope"),
    ]
    seen: list[tuple[bool, int, int]] = []
    done = scored(
        pairs, turns=3, progress=lambda now: seen.append((now.timing, now.done, now.total))
    )
    assert seen[-1] == (True, 2, 2)
    assert (False, 4, 4) in seen
    found = [verdict.scores for verdict in done.run.verdicts["one"]]
    assert [one["r_ves"] for one in found] == [
        pytest.approx(0.25**0.5),
        pytest.approx(1.25**0.5),
        0.0,
        0.0,
    ]
    assert all(one["r_ves_bird"] in (one["r_ves"], 0.0) for one in found)
    assert done.summary["systems"]["one"]["r_ves"] == pytest.approx((0.5 + 1.25**0.5) / 4)
    lines = (tmp_path / "run" / "log.jsonl").read_text().splitlines()
    again = scored(pairs, turns=3)
    assert again.summary == done.summary
    assert (tmp_path / "run" / "log.jsonl").read_text().splitlines() == lines
    assert summary(load_run(tmp_path / "run")) == done.summary


@pytest.mark.parametrize(
    ("name", "option"), [("r_ves", "--timing"), ("tolerant_ex", "--tolerance")]
)
def test_metrics_with_an_option_say_which(scored: Options, name: str, option: str) -> None:
    with pytest.raises(InputError) as raised:
        scored(PAIRS[:1], metrics=(name,))
    assert option in str(raised.value.hint)


def test_rows_in_another_order_are_kept_and_marked_by_their_place(scored: Options) -> None:
    ordered = "SELECT b FROM t WHERE b < 3 ORDER BY b"
    done = scored([(ordered, f"{ordered} DESC")])
    (verdict,) = done.run.verdicts["one"]
    assert verdict.record.cause == "order"
    for side in (verdict.record.gold_side, verdict.record.pred_side):
        assert side is not None
        assert side.differs == (True, False, True)


@pytest.mark.parametrize(
    ("metric", "option", "given"),
    [
        ("r_ves", "--timing", {"turns": 1}),
        ("tolerant_ex", "--tolerance", {"tolerance": Tolerance(absolute=0.1, relative=0.0)}),
    ],
)
def test_a_metric_with_an_option_of_its_own_may_be_named_beside_it(
    scored: Options, metric: str, option: str, given: dict[str, Any]
) -> None:
    pairs, metrics = [("SELECT 1", "SELECT 1")], ("set_ex", metric)
    with pytest.raises(InputError, match="an option of its own") as refused:
        scored(pairs, metrics=metrics)
    assert option in str(refused.value.hint)
    assert metric in scored(pairs, metrics=metrics, **given).run.metrics
