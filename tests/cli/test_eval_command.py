"""`modularsql eval`: what it prints, and how it ends."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

Run = Callable[..., "subprocess.CompletedProcess[str]"]

GOLD = "SELECT DISTINCT c.name FROM customer c JOIN orders o ON o.customer = c.id"
COPIES = "SELECT c.name FROM customer c JOIN orders o ON o.customer = c.id"


@pytest.fixture
def files(tmp_path: Path, shop: Path) -> list[str]:
    """Arguments for a data set of two questions on the shop, one answered with copies."""
    lines = [{"id": 1, "db": "shop", "gold": GOLD}, {"id": 2, "db": "gone", "gold": "SELECT 1"}]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "pred.json").write_text(json.dumps({"1": COPIES, "2": "SELECT 1"}))
    return ["set.jsonl", "--pred", "pred.json", "--db-root", ".", "--out", "run", "--jobs", "1"]


def test_scores_are_printed_with_what_a_reader_must_know(run: Run, files: list[str]) -> None:
    ran = run("eval", *files)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = {line.split("│")[0].strip(): line for line in ran.stdout.splitlines()}
    assert [cell.strip() for cell in lines["pred"].split("│")[4:6]] == ["100.00", "1"]
    assert lines["set_ex"].endswith(" 100.00")
    assert lines["multiset_ex"].endswith(" 0.00")
    assert "modularsql report run" in ran.stdout
    assert "databases not found: gone" in ran.stdout
    assert "1 of 2 answers scored" in ran.stdout


def test_json_follows_its_schema_and_is_the_summary(
    run: Run, files: list[str], tmp_path: Path
) -> None:
    printed = json.loads(run("eval", *files, "--format", "json").stdout)
    schema = json.loads(run("schema", "eval").stdout)
    Draft202012Validator(schema).validate(printed)
    assert printed == json.loads((tmp_path / "run" / "summary.json").read_text())
    (one,) = printed["systems"].values()
    assert (one["n"], one["set_ex"], one["multiset_ex"], one["mbs_ids"]) == (1, 1.0, 0.0, ["1"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metrics", "nope"], "unknown metric 'nope'"),
        (["--guard", "nope"], "unknown policy 'nope'"),
        (["--preset", "mine"], "'mine' is not"),
        (["--pred", "none.json"], "cannot read none.json"),
        (["--pred", "pred.json"], "pred.json is given 2 times"),
        (["--db-root", "none"], "no folder of databases at none"),
        (["--out", "set.jsonl"], "set.jsonl"),
        (["--max-rows", "0"], "--max-rows"),
    ],
)
def test_a_wrong_call_is_one_line(
    run: Run, files: list[str], arguments: list[str], said: str
) -> None:
    ran = run("eval", *files, *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("modularsql: ")
    assert ran.stderr.count("\n") == 1
    assert said in ran.stderr


def test_calibrate_writes_a_policy_that_the_guard_takes(
    run: Run, files: list[str], tmp_path: Path, shop: Path
) -> None:
    assert run("eval", *files, "--guard", "paper").returncode == 0
    printed = json.loads(run("calibrate", "run", "--format", "json").stdout)
    schema = json.loads(run("schema", "calibrate").stdout)
    Draft202012Validator(schema).validate(printed)
    assert printed["thresholds"] == {"tau_inject": 0.8, "tau_remove": 0.1}
    text = run("calibrate", "run").stdout
    assert "P1: threshold sweep" in text
    assert "tau_inject = 0.8 (as it was)" in text
    ran = run("guard", shop, COPIES, "--policy", "run/policy.toml", "--fix", "--format", "json")
    assert json.loads(ran.stdout)["applied"] == ["inject_distinct"]


def test_max_rows_are_the_rows_that_are_compared(
    run: Run, files: list[str], tmp_path: Path
) -> None:
    ran = run("eval", *files, "--max-rows", "1", "--metrics", "set_ex", "--format", "json")
    (one,) = json.loads(ran.stdout)["systems"].values()
    assert one["pred_status"]["truncated"] == 1
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["inputs"]["settings"]["score_rows"] == 1


def test_every_score_of_many_systems_fits_a_narrow_terminal(
    run: Run, files: list[str], tmp_path: Path
) -> None:
    names = [f"a-system-with-a-long-name-{letter}" for letter in "abcdefgh"]
    more = []
    for name in names:
        (tmp_path / f"{name}.json").write_text((tmp_path / "pred.json").read_text())
        more += ["--pred", f"{name}.json"]
    ran = run("eval", *files, *more, "--metrics", "ordered_ex", COLUMNS="80")
    lines = ran.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if line.startswith(("row ", "…"))]
    heads = [line for line in lines if line.startswith("metric")]
    shown = [cell.strip() for line in heads for cell in line.split("│")[1:]]
    assert shown == ["pred", *names]
    scores = [line for line in lines if line.startswith("multiset_ex")]
    assert len(scores) == len(heads)
    assert sum(line.count(" 0.00") for line in scores) == 9


@pytest.mark.parametrize("command", [("report", "r"), ("compare", "r", "r"), ("calibrate", "r")])
def test_a_settings_file_that_is_wrong_is_said_by_each_command(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "odd.toml").write_text("nope = 1")
    ran = run(*command, "--config", "odd.toml")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "odd.toml" in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize("there", ["none", "set.jsonl"])
def test_calibrate_needs_a_finished_run(run: Run, files: list[str], there: str) -> None:
    ran = run("calibrate", there)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "holds no finished run" in ran.stderr


def test_report_writes_its_files_and_prints_its_tables(
    run: Run, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modularsql.service.reporting._bundle", lambda: "")  # takes seconds
    assert run("eval", *files).returncode == 0
    ran = run("report", "run")
    assert (ran.returncode, ran.stderr) == (0, "")
    pairs = json.loads(run("report", "run", "--format", "json").stdout)["tables"]["agreement"]
    assert f"… {len(pairs) - 40} more rows (report.md has them)" in ran.stdout
    assert pairs[0]["metric"] in ran.stdout
    page = (tmp_path / "run" / "report.md").read_text("utf-8")
    assert "set.jsonl · 1 prediction set · limit 30 s" in page
    assert f"| {pairs[-1]['metric']} | {pairs[-1]['other']} |" in page
    assert "Scores" in ran.stdout
    assert "report.html" in ran.stdout
    for name in ("report.html", "report.md", "junit.xml"):
        assert (tmp_path / "run" / name).stat().st_size > 500
    printed = json.loads(run("report", "run", "--format", "json").stdout)
    Draft202012Validator(json.loads(run("schema", "report").stdout)).validate(printed)
    assert printed["tables"]["scores"][0]["MBS"] == 1


def test_compare_takes_a_run_before_and_after_the_guard(run: Run, files: list[str]) -> None:
    pytest.importorskip("scipy")
    assert run("eval", *files, "--guard", "paper").returncode == 0
    ran = run("compare", "run", "run:pred@paper")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "only B is right (Multiset-EX) on 1 question: 1" in ran.stdout
    printed = json.loads(run("compare", "run", "run:pred@paper", "--format", "json").stdout)
    Draft202012Validator(json.loads(run("schema", "compare").stdout)).validate(printed)
    figures = printed["paired"]["multiset_ex"]
    row = next(row for row in printed["metrics"] if row["metric"] == "multiset_ex")
    assert (figures["a"], figures["b"], figures["gained"]) == (row["A"], row["B"], row["B better"])
    assert printed["gained"] == ["1"]
    assert printed["conclusion"] in ran.stdout
