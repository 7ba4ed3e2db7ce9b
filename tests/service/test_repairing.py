"""`repair` from file to file: what a rule changed is new, and all else is the same to the byte."""

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.errors import InputError
from modularsql.evaluation.predictions import BIRD_MARK
from modularsql.service import in_workers
from modularsql.service.in_workers import Repaired, Task
from modularsql.service.repairing import RepairRequest, RepairSummary, repair

Repair = Callable[..., RepairSummary]

COPIES, DISTINCT = "SELECT a FROM t", "SELECT DISTINCT a FROM t"
MELTED, KEPT = "SELECT DISTINCT name FROM m", "SELECT name FROM m"
FINE = "SELECT  b FROM t -- as it is"


def written(tmp_path: Path) -> str:
    return (tmp_path / "out").read_bytes().decode()


def test_both_patches_are_applied_and_counted(repaired: Repair, tmp_path: Path) -> None:
    summary = repaired([COPIES, FINE, MELTED], ["shop", "shop", "club"])
    assert json.loads(written(tmp_path)) == [DISTINCT, FINE, KEPT]
    assert (summary.questions, summary.changed) == (3, 2)
    assert summary.by_rule == Counter(inject_distinct=1, remove_distinct=1)
    assert summary.by_status == Counter(ok=2, duplicates=1)
    assert summary.by_trigger == Counter(cartesian_explosion=1)
    assert summary.changes == {"q0": ("inject_distinct",), "q2": ("remove_distinct",)}


def test_every_status_is_counted_and_no_other_entry_changes(
    repaired: Repair, tmp_path: Path
) -> None:
    predictions = [
        FINE,
        "SELECT a FROM t WHERE 0",
        "SELECT nope FROM t",
        "DROP TABLE t",
        "SELECT 1; SELECT 2",
        "not SQL",
        "SELECT ? FROM t",
        "",
        "  ",
        None,
        7,
        ["SELECT 1"],
        "SELECT 1",
        "```sql\nSELECT b FROM t\n```",
    ]
    summary = repaired(predictions, ["shop"] * 12 + ["gone", "shop"])
    assert written(tmp_path) == json.dumps(predictions)
    assert summary.changed == 0
    assert summary.by_status == Counter(ok=2, empty=1, error=3, refused=2, no_sql=5, no_database=1)
    assert summary.missing_databases == {"gone"}
    assert sum(summary.by_status.values()) == summary.questions == len(predictions)


SHAPES: dict[str, tuple[str, str]] = {
    "object": (
        f'{{"q1": "{FINE}",\n "q0":  "{COPIES}"}}',
        f'{{"q1": "{FINE}",\n "q0":  "{DISTINCT}"}}',
    ),
    "object with databases": (
        json.dumps({"q0": COPIES + BIRD_MARK + "shop", "q1": FINE + BIRD_MARK + "shop"}),
        json.dumps({"q0": DISTINCT + BIRD_MARK + "shop", "q1": FINE + BIRD_MARK + "shop"}),
    ),
    "list": (f'[ "{COPIES}" , "{FINE}" ]\n', f'[ "{DISTINCT}" , "{FINE}" ]\n'),
    "records": (
        f'[{{"id": "q1", "sql": "{FINE}"}}, {{"sql": "{COPIES}", "id": "q0", "n": 1.0}}]',
        f'[{{"id": "q1", "sql": "{FINE}"}}, {{"sql": "{DISTINCT}", "id": "q0", "n": 1.0}}]',
    ),
    "jsonl": (
        f'{{"id": "q0", "sql": "{COPIES}"}}\r\n{{"id": "q1", "sql": "{FINE}"}}',
        f'{{"id": "q0", "sql": "{DISTINCT}"}}\r\n{{"id": "q1", "sql": "{FINE}"}}',
    ),
    "lines": (f"{COPIES}\n  {FINE}\n", f"{DISTINCT}\n  {FINE}\n"),
    "lines with databases": (
        f"{COPIES}\tshop\r\n{FINE}\tshop",
        f"{DISTINCT}\tshop\r\n{FINE}\tshop",
    ),
}


@pytest.mark.usefixtures("in_this_process")
def test_what_several_questions_ask_is_asked_once_and_counted_for_each(
    repaired: Repair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Task] = []

    def answer(task: Task) -> Repaired:
        asked.append(task)
        return Repaired(status="ok", sql="new")

    monkeypatch.setattr(in_workers, "guarded", answer)
    summary = repaired([COPIES, FINE, COPIES, COPIES], ["shop", "shop", "club", "shop"])
    assert [(Path(one.database).stem, one.sql) for one in asked] == [
        ("club", COPIES),
        ("shop", COPIES),
        ("shop", FINE),
    ]
    assert summary.by_status == Counter(ok=4)
    assert list(summary.changes) == ["q2", "q0", "q3", "q1"]
    assert json.loads(written(tmp_path)) == ["new"] * 4


@pytest.mark.usefixtures("in_this_process")
def test_a_policy_that_reads_questions_is_asked_for_each_of_them(
    repaired: Repair, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Task] = []

    def answer(task: Task) -> Repaired:
        asked.append(task)
        return Repaired(status="ok")

    monkeypatch.setattr(in_workers, "guarded", answer)
    words = ("Which?", "Which different?", "Which?")
    asks = zip("abc", words, strict=True)
    lines = [{"id": i, "db": "shop", "question": text} for i, text in asks]
    (tmp_path / "worded.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "pred.json").write_text(json.dumps([COPIES] * 3))
    for policy, wanted in (("paper", [""]), ("grain", ["Which?", "Which different?"])):
        asked.clear()
        request = RepairRequest(
            dataset=str(tmp_path / "worded.jsonl"),
            predictions=tmp_path / "pred.json",
            db_root=root,
            out=tmp_path / "out",
            settings=Settings(jobs=1, policy=policy),
        )
        assert repair(request).by_status == Counter(ok=3)
        assert [one.question for one in asked] == wanted


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_set_goes_out_in_the_format_it_came_in(
    repaired: Repair, tmp_path: Path, shape: str
) -> None:
    before, after = SHAPES[shape]
    path = tmp_path / "pred"
    path.write_bytes(before.encode())
    repaired(path, ["shop", "shop"])
    assert written(tmp_path) == after
    assert path.read_bytes() == before.encode()


@pytest.mark.usefixtures("in_this_process")
def test_a_folder_goes_to_a_folder(repaired: Repair, tmp_path: Path) -> None:
    folder = tmp_path / "pred"
    folder.mkdir()
    (folder / "q0.sql").write_bytes(COPIES.encode() + b"\n")
    (folder / "q1.sql").write_bytes(b"\n" + FINE.encode())
    repaired(folder, ["shop", "shop"])
    out = tmp_path / "out"
    assert (out / "q0.sql").read_bytes() == DISTINCT.encode() + b"\n"
    assert (out / "q1.sql").read_bytes() == b"\n" + FINE.encode()


@pytest.mark.usefixtures("in_this_process")
def test_only_what_a_policy_repairs_changes(repaired: Repair, tmp_path: Path) -> None:
    for policy, wanted in (
        ("off", [COPIES, MELTED]),
        ("p1", [DISTINCT, MELTED]),
        ("p1-p2", [DISTINCT, KEPT]),
    ):
        repaired([COPIES, MELTED], ["shop", "club"], policy=policy)
        assert json.loads(written(tmp_path)) == wanted


def test_several_workers_write_what_one_writes(repaired: Repair, tmp_path: Path) -> None:
    predictions = [COPIES, MELTED, FINE, "SELECT", MELTED, COPIES]
    databases = ["shop", "club", "shop", "shop", "club", "shop"]
    one = repaired(predictions, databases, jobs=1)
    text = written(tmp_path)
    several = repaired(predictions, databases, jobs=3)
    assert written(tmp_path) == text
    assert several.as_json() == one.as_json()


@pytest.mark.usefixtures("in_this_process")
def test_progress_is_told_after_each_question(
    tmp_path: Path, root: Path, dataset: Callable[..., str]
) -> None:
    (tmp_path / "pred").write_text(f"{FINE}\n\n{COPIES}\n")
    told: list[tuple[int, int]] = []
    repair(
        RepairRequest(
            dataset=dataset("shop", "shop", "shop"),
            predictions=tmp_path / "pred",
            db_root=root,
            out=tmp_path / "out",
            settings=Settings(jobs=1, policy="paper"),
            progress=lambda done, total: told.append((done, total)),
        )
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.usefixtures("in_this_process")
def test_sql_that_a_line_cannot_hold_stays_and_is_named(
    repaired: Repair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A lone carriage return in a literal: no end of a line when read, but one when written.
    path = tmp_path / "pred"
    path.write_bytes(f"SELECT a, 'x\ry' FROM t\n{COPIES}\n".encode())
    summary = repaired(path, ["shop", "shop"])
    assert written(tmp_path) == f"SELECT a, 'x\ry' FROM t\n{DISTINCT}\n"
    assert (summary.unwritable, summary.changes) == (["q0"], {"q1": ("inject_distinct",)})
    assert summary.by_rule == Counter(inject_distinct=2)


@pytest.mark.usefixtures("in_this_process")
def test_a_set_with_repeated_ids_says_how_it_was_numbered(root: Path, tmp_path: Path) -> None:
    entry = {"question_id": 7, "db_id": "shop", "question": "?", "evidence": "", "SQL": "SELECT 1"}
    (tmp_path / "mini.json").write_text(json.dumps([entry, {**entry, "question_id": 8}, entry]))
    (tmp_path / "pred.json").write_text(json.dumps({"0": FINE, "1": COPIES, "2": FINE}))
    summary = repair(
        RepairRequest(
            dataset=str(tmp_path / "mini.json"),
            predictions=tmp_path / "pred.json",
            db_root=root,
            out=tmp_path / "out",
            settings=Settings(jobs=1, policy="paper"),
        )
    )
    assert "question_id repeats (7)" in (summary.note or "")
    assert summary.changes == {"1": ("inject_distinct",)}


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.hint
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object) -> None:
        raise AssertionError("a query was run")

    monkeypatch.setattr("modularsql.service.repairing.guard_all", run)


@pytest.mark.usefixtures("nothing_runs")
def test_counts_that_differ_are_refused_with_both_numbers(repaired: Repair, tmp_path: Path) -> None:
    said = refusal(lambda: repaired([FINE], ["shop", "shop"]))
    assert "predictions: 1 entry, data set: 2 questions; missing: q1" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("nothing_runs")
def test_a_folder_without_any_of_the_databases_is_refused(repaired: Repair, root: Path) -> None:
    said = refusal(lambda: repaired([FINE, FINE], ["gone", "away"]))
    assert f"{root} holds none of the 2 databases" in said
    assert str(Path("gone", "gone.sqlite")) in said


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("change", ["dataset", "predictions", "db_root", "policy"])
def test_what_is_missing_is_refused_before_anything_runs(
    root: Path, tmp_path: Path, dataset: Callable[..., str], change: str
) -> None:
    (tmp_path / "pred").write_text(FINE)
    given: dict[str, Any] = {
        "dataset": dataset("shop"),
        "predictions": tmp_path / "pred",
        "db_root": root,
        "out": tmp_path / "new" / "out",
        "settings": Settings(policy="best") if change == "policy" else Settings(),
    }
    if change != "policy":
        given[change] = type(given[change])(str(tmp_path / "none"))
    refusal(lambda: repair(RepairRequest(**given)))
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("nothing_runs")
def test_what_is_read_is_never_written_over(
    root: Path, tmp_path: Path, dataset: Callable[..., str]
) -> None:
    predictions = tmp_path / "pred"
    predictions.write_text(FINE)
    link = tmp_path / "link"
    link.symlink_to(predictions)
    sources = [Path(dataset("shop")), predictions, link, root / "shop" / "shop.sqlite"]
    before = [source.read_bytes() for source in sources]
    for out in sources:
        request = RepairRequest(
            dataset=str(sources[0]),
            predictions=predictions,
            db_root=root,
            out=out,
            settings=Settings(),
        )
        assert "is read here, and would be lost" in refusal(lambda: repair(request))  # noqa: B023
    assert [source.read_bytes() for source in sources] == before


@pytest.mark.usefixtures("nothing_runs")
def test_a_place_that_cannot_be_written_is_refused_before_anything_runs(
    root: Path, tmp_path: Path, dataset: Callable[..., str]
) -> None:
    predictions = tmp_path / "pred"
    predictions.write_text(FINE)
    kept = tmp_path / "kept"
    kept.write_text("keep me")
    kept.chmod(0o400)
    places = [tmp_path, predictions / "below", Path("x" * 5000)]
    if os.geteuid():
        places.append(kept)
    for out in places:
        request = RepairRequest(
            dataset=dataset("shop"),
            predictions=predictions,
            db_root=root,
            out=out,
            settings=Settings(),
        )
        refusal(lambda: repair(request))  # noqa: B023
    assert kept.read_text() == "keep me"


@pytest.mark.usefixtures("in_this_process")
def test_a_missing_folder_is_made_and_a_link_is_followed(
    root: Path, tmp_path: Path, dataset: Callable[..., str]
) -> None:
    predictions = tmp_path / "pred"
    predictions.write_text(COPIES)
    real = tmp_path / "real"
    real.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(real)
    for out, place in ((tmp_path / "a" / "b" / "out", tmp_path / "a" / "b" / "out"), (link, real)):
        repair(
            RepairRequest(
                dataset=dataset("shop"),
                predictions=predictions,
                db_root=root,
                out=out,
                settings=Settings(jobs=1, policy="paper"),
            )
        )
        assert place.read_text() == DISTINCT
    assert link.is_symlink()


def test_the_databases_stay_as_they_are(repaired: Repair, root: Path) -> None:
    files = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    repaired([COPIES, "DELETE FROM t", "ATTACH 'x.sqlite' AS x"], ["shop"] * 3)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == files


@pytest.mark.usefixtures("in_this_process")
def test_a_file_that_is_no_database_loses_its_questions_and_says_why(
    repaired: Repair, root: Path, tmp_path: Path
) -> None:
    (root / "club" / "club.sqlite").write_bytes(b"no database at all")
    summary = repaired([COPIES, MELTED, MELTED], ["shop", "club", "club"])
    assert json.loads(written(tmp_path)) == [DISTINCT, MELTED, MELTED]
    assert summary.by_status == Counter(duplicates=1, no_database=2)
    ((problem, count),) = summary.problems.items()
    assert "club.sqlite is no SQLite or DuckDB database" in problem
    assert count == 2


def test_a_locked_database_is_waited_for_once(repaired: Repair, root: Path, tmp_path: Path) -> None:
    holder = sqlite3.connect(root / "club" / "club.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        summary = repaired([MELTED] * 8 + [COPIES], ["club"] * 8 + ["shop"], timeout=0.5)
    finally:
        holder.close()
    assert summary.by_status == Counter(locked=8, duplicates=1)
    assert json.loads(written(tmp_path)) == [MELTED] * 8 + [DISTINCT]
    assert ["is locked" in problem for problem in summary.problems] == [True]
