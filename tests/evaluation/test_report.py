"""The report: every table is fed, and no data of strangers can do more than be shown."""

import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.evaluation.runs import outcome, run_of, verdict

from modularsql.evaluation.log import Side
from modularsql.evaluation.report.charts import charts
from modularsql.evaluation.report.html import page
from modularsql.evaluation.report.junit import junit
from modularsql.evaluation.report.tables import report_tables
from modularsql.evaluation.run import Run
from modularsql.evaluation.table import markdown

EVIL = (
    '</script><script>alert(1)</script><img src=x onerror="alert(2)">'
    " & \u2028 ]]> @data@ \x00 \udcff"
)


def full_run() -> Run:
    """Right, MBS, wrong, failed, undecided and uncounted answers on two databases."""
    guarded = [
        outcome("p1@0", "inject_distinct", bag=1.0, ratio=0.0),
        outcome(
            "grain", "semi_join", bag=1.0, found=(("fan_out_rows", "warning"),), sql="SELECT 3"
        ),
    ]
    return run_of(
        [
            verdict(0, set_ex=1.0, bag=1.0, difficulty="simple"),
            verdict(1, set_ex=1.0, rows=10, distinct=1, guarded=guarded, difficulty="hard"),
            verdict(2, db="club", difficulty="hard"),
            verdict(3, status="error", db="club", difficulty="simple"),
            verdict(4, status="truncated", db="club"),
            verdict(5, gold="no_database"),
            verdict(6, gold="timeout"),
        ]
    )


def evil_run() -> Run:
    side = Side(columns=(EVIL,), rows=((EVIL,),), differs=(True,), places=(0,))
    one = verdict(0)
    question = replace(one.question, id=EVIL, db=EVIL, question=EVIL, gold=EVIL, hint=EVIL)
    record = replace(one.record, gold_side=side, pred_side=side, cause="different")
    return run_of([replace(one, question=question, pred_sql=EVIL, record=record)])


def html_of(run: Run, bundle: str = "") -> str:
    tables = report_tables(run)
    return page(run, tables, charts(run, tables), ["a note"], bundle)


def data_of(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_every_table_has_what_the_run_says() -> None:
    tables = {table.name: table for table in report_tables(full_run())}
    (scores,) = tables["scores"].records()
    assert (scores["n"], scores["MBS"]) == (6, 1)
    assert scores["Set-EX"] == pytest.approx(2 / 6)
    assert {line["cause"] for line in tables["causes"].records()} == {"different"}
    databases = {line["database"]: line["n"] for line in tables["by_database"].records()}
    assert databases == {"shop": 3, "club": 3}
    assert [line["n"] for line in tables["by_difficulty"].records()] == [2, 2]
    assert [line["id"] for line in tables["slow_gold"].records()] == ["q6"]
    assert {"detector", "stages", "flagged", "sweep_p1", "folds", "latency"} <= tables.keys()
    (agreement,) = tables["agreement"].records()
    assert agreement["only the first"] == 1


def test_a_run_without_the_guard_has_no_tables_of_it() -> None:
    run = replace(
        full_run(),
        about={**full_run().about, "inputs": {**full_run().about["inputs"], "guard": []}},
    )
    names = {table.name for table in report_tables(run)}
    assert "stages" not in names
    assert "scores" in names


def test_the_page_holds_each_answer_with_its_state() -> None:
    data = data_of(html_of(full_run()))
    states = [answer["state"] for answer in data["answers"]]
    assert states == ["right", "MBS", "wrong", "failed", "failed", "wrong", "wrong"]
    counted = [answer["counted"] for answer in data["answers"]]
    assert counted == [True] * 5 + [False, True]
    assert data["metrics"] == ["set_ex", "multiset_ex"]
    scores = [answer["scores"] for answer in data["answers"]]
    assert scores == [["1", "1"], ["1", "0"], *[["0", "0"]] * 3, [], ["0", "0"]]
    (guarded,) = data["answers"][1]["guarded"]
    assert (guarded["policy"], guarded["change"]) == ("grain", 1)


def test_the_page_says_in_words_why_an_answer_differs_and_what_smells() -> None:
    one, other = verdict(0), verdict(1)
    smelling = replace(
        one,
        record=replace(
            one.record, cause="order", smells=("cut_at_tie",), pred_smells=("null_first_cut",)
        ),
    )
    swapped = replace(other.record, cause="columns_permuted", columns=(1, 0))
    run = run_of([smelling, replace(other, record=swapped)])
    data = data_of(html_of(run))
    assert "no numeric tolerance" in data["facts"]
    said = "gold's columns are the prediction's 2, 1"
    assert [answer["columns"] for answer in data["answers"]] == [None, said]
    assert said in junit(run)
    assert data["questions"][0]["smells"] == ["cut_at_tie"]
    assert [answer["smells"] for answer in data["answers"]] == [["null_first_cut"], []]
    assert data["smells"].keys() >= {"cut_at_tie", "null_first_cut"}
    assert "LIMIT" in data["smells"]["cut_at_tie"]
    assert "ORDER BY" in data["causes"][data["answers"][0]["cause"]]


def test_an_answer_in_the_wrong_order_stands_among_the_causes() -> None:
    one = verdict(0, set_ex=1.0, bag=1.0)
    run = run_of([replace(one, record=replace(one.record, cause="order"))])
    tables = {table.name: table for table in report_tables(run)}
    assert tables["causes"].records() == [{"cause": "order", "one": 1}]


def test_answers_that_the_page_leaves_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modularsql.evaluation.report.html.MOST_ANSWERS", 5)
    data = data_of(html_of(full_run()))
    assert len(data["answers"]) == 5
    assert "the first 5 of 7 answers" in data["notes"][-1]


def test_data_of_strangers_stays_inside_its_script_element() -> None:
    html = html_of(evil_run(), bundle="draw('</script>')")
    assert html.count("<script") == 3
    assert html.count("</script>") == 3
    assert "alert(1)</script" not in html
    assert 'onerror="' not in html
    data = data_of(html)
    assert data["questions"][0]["gold"].startswith("</script><script>alert(1)")
    html.encode()


def test_the_page_may_load_nothing_and_names_no_address_to_load() -> None:
    html = html_of(full_run())
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy
    assert policy[1].startswith("default-src 'none';")
    assert "http" not in policy[1]
    assert not re.search(r'(src|href)="(?!#)', html)


def test_charts_are_valid_and_need_no_network() -> None:
    vl_convert = pytest.importorskip("vl_convert")
    found = charts(full_run(), report_tables(full_run()))
    assert [chart.title for chart in found][:2] == [
        "Set-EX and Multiset-EX, with 95 % intervals",
        "Why results differ",
    ]
    titles = " ".join(chart.title for chart in found)
    for part in ("by database", "by difficulty"):
        assert f"Multiset-EX {part}" in titles
        assert f"Gap between Set-EX and Multiset-EX {part}" in titles
    for chart in found:
        assert "url" not in chart.spec["data"]
        fixed = {**chart.spec, "width": 300}
        vega = vl_convert.vegalite_to_vega(fixed)
        assert vega["marks"], chart.title


def test_a_run_in_which_nothing_counts_has_no_chart_without_a_value() -> None:
    run = run_of([verdict(0, gold="error")])
    run = replace(
        run,
        verdicts={
            "one": [
                replace(v, record=replace(v.record, cause="gold_error"))
                for v in run.verdicts["one"]
            ]
        },
    )
    assert all(chart.spec["data"]["values"] for chart in charts(run, report_tables(run)))
    assert "Why results differ" not in [chart.title for chart in charts(run, report_tables(run))]


def test_junit_counts_what_fails_and_survives_any_text() -> None:
    suite = ElementTree.fromstring(junit(full_run()))[0]  # noqa: S314 - our own text
    counts = {name: suite.get(name) for name in ("tests", "failures", "skipped")}
    assert counts == {"tests": "7", "failures": "5", "skipped": "1"}
    failure = suite[1].find("failure")
    assert failure is not None
    assert "SELECT 2" in (failure.text or "")
    evil = ElementTree.fromstring(junit(evil_run()))  # noqa: S314 - our own text
    assert "alert(1)" in "".join(evil.itertext())


def test_markdown_of_a_report_has_every_table() -> None:
    tables = report_tables(full_run())
    text = "\n".join(map(markdown, tables))
    assert text.count("### ") == len(tables)


def test_nothing_of_a_question_is_markup_in_markdown() -> None:
    one = verdict(0, gold="timeout")
    question = replace(one.question, question=EVIL)
    text = "\n".join(map(markdown, report_tables(run_of([replace(one, question=question)]))))
    assert "alert(1)" in text
    assert "<" not in text
