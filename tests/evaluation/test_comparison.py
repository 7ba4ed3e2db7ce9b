"""Two systems on the same questions."""

from dataclasses import replace

import pytest
from tests.evaluation.runs import ABOUT, outcome, run_of, verdict

from modularsql.errors import InputError
from modularsql.evaluation.comparison import answers_of, compare, data_warnings
from modularsql.evaluation.run import Run, Verdict
from modularsql.service.comparing import comparison_json

pytest.importorskip("scipy")


def answers(right: str) -> list[Verdict]:
    """One answer for each character: right where it is 1, alternately on two databases."""
    return [
        verdict(at, set_ex=float(digit), bag=float(digit), db="ab"[at % 2])
        for at, digit in enumerate(right)
    ]


def test_mcnemar_counts_the_questions_where_they_differ() -> None:
    a, b = run_of(answers("1100000000")), run_of(answers("0111111100"))
    found = compare(answers_of(a, "a", None, None), answers_of(b, "b", None, None))
    line = {row["metric"]: row for row in found.table.records()}["multiset_ex"]
    assert (line["A"], line["B"], line["B better"], line["A better"]) == (0.2, 0.7, 6, 1)
    assert line["p (McNemar, exact)"] == pytest.approx(2 * (1 + 7) / 2**7)
    assert found.gained == ("q2", "q3", "q4", "q5", "q6", "q7")
    assert found.lost == ("q0",)
    assert found.warnings == ()
    figures = comparison_json(found)["paired"]["multiset_ex"]
    assert (figures["n"], figures["p"]) == (10, line["p (McNemar, exact)"])
    for name in ("interval", "clustered"):
        low, high = figures[name]
        assert low < figures["difference"] < high


def test_gold_that_smells_is_left_out_of_a_second_table() -> None:
    a, b = run_of(answers("1100")), run_of(answers("0111"))
    assert compare(answers_of(a, "a", None, None), answers_of(b, "b", None, None)).clean is None
    verdicts = list(b.verdicts["one"])
    verdicts[0] = replace(verdicts[0], record=replace(verdicts[0].record, smells=("empty",)))
    about = {**b.about, "inputs": {**b.about["inputs"], "smells": True}}
    smelled = replace(b, about=about, verdicts={"one": verdicts})
    found = compare(answers_of(a, "a", None, None), answers_of(smelled, "b", None, None))
    assert found.clean is not None
    assert "3 questions" in found.clean.title
    line = found.clean.records()[1]
    assert (line["metric"], line["B better"], line["A better"]) == ("multiset_ex", 2, 0)
    everything = [replace(one, record=replace(one.record, smells=("empty",))) for one in verdicts]
    smelled = replace(smelled, verdicts={"one": everything})
    found = compare(answers_of(a, "a", None, None), answers_of(smelled, "b", None, None))
    assert found.clean is not None
    assert (found.clean.rows, found.clean.title[-11:]) == ([], "0 questions")


def test_only_shared_questions_are_compared_and_others_are_said() -> None:
    a, b = run_of(answers("1111")), run_of([*answers("11"), verdict(9)])
    found = compare(answers_of(a, "a", None, None), answers_of(b, "b", None, None))
    assert "2 questions" in found.table.title
    assert len(found.warnings) == 2


def test_runs_that_share_nothing_are_an_error() -> None:
    a, b = run_of([verdict(0)]), run_of([verdict(1)])
    with pytest.raises(InputError, match="share no question"):
        compare(answers_of(a, "a", None, None), answers_of(b, "b", None, None))
    elsewhere = run_of([verdict(0, db="club")])
    with pytest.raises(InputError, match="share no question"):
        compare(answers_of(a, "a", None, None), answers_of(elsewhere, "b", None, None))


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("0101", "1010", "could be chance"),
        ("0101", "0101", "right on the same questions"),
        ("0" * 20, "1" * 20, "B is better by 100.00 points, hardly by chance (p"),
        ("1" * 20, "0" * 20, "A is better by 100.00 points, hardly by chance (p"),
        ("0" * 40, "01" * 20, "on these databases"),
    ],
)
def test_a_comparison_ends_in_a_sentence(a: str, b: str, said: str) -> None:
    one, other = run_of(answers(a)), run_of(answers(b))
    found = compare(answers_of(one, "a", None, None), answers_of(other, "b", None, None))
    assert said in found.conclusion


def test_before_and_after_the_guard() -> None:
    run = run_of([verdict(0, set_ex=1.0, guarded=[outcome("grain", "semi_join", bag=1.0)])])
    found = compare(answers_of(run, "r", "one", None), answers_of(run, "r", "one", "grain"))
    assert found.gained == ("q0",)
    with pytest.raises(InputError, match="did not try policy 'paper'"):
        answers_of(run, "r", "one", "paper")


def test_an_answer_whose_guard_was_lost_stays_as_predicted() -> None:
    tried = verdict(0, guarded=[outcome("grain", "semi_join", bag=1.0)])
    run = run_of([tried, verdict(1, set_ex=1.0)])
    found = answers_of(run, "r", "one", "grain").verdicts
    assert [found[name].scores["set_ex"] for name in ("q0", "q1")] == [1.0, 1.0]


def test_a_system_must_be_named_where_there_are_several() -> None:
    run = run_of(answers("1"))
    two = replace(run, verdicts={**run.verdicts, "two": run.verdicts["one"]})
    with pytest.raises(InputError, match="holds 2 systems"):
        answers_of(two, "r", None, None)
    with pytest.raises(InputError, match="no system 'three'"):
        answers_of(two, "r", "three", None)


def test_other_data_are_warned_of() -> None:
    run = run_of(answers("1"))
    inputs = {
        **run.about["inputs"],
        "dataset": {"sha256": "2"},
        "databases": {"a": {"sha256": "2"}, "b": {"sha256": "1"}, "b/more.db": {"sha256": "1"}},
        "gold": {"exec_result": {"sha256": "2", "path": "x"}},
        "settings": {"timeout": 5.0},
    }
    first = {
        **run.about["inputs"],
        "databases": {"a": {"sha256": "1"}, "b": {"sha256": "1"}, "c": {"sha256": "1"}},
        "settings": {"timeout": 30.0},
    }
    said = data_warnings(
        replace(run, about={**run.about, "inputs": first}),
        replace(run, about={**run.about, "inputs": inputs}),
    )
    assert len(said) == 4
    assert "databases differ: a, b" in said
    assert data_warnings(run, run) == []


def test_another_day_is_told() -> None:
    inputs = ABOUT["inputs"]
    pinned = {**inputs, "settings": {**inputs["settings"], "today": "2020-01-10"}}
    runs = [Run(about={"inputs": some}) for some in (inputs, pinned)]
    assert data_warnings(*runs) == ["the day that `now` means differs: not set and 2020-01-10"]
