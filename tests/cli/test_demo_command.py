"""`modularsql demo`: a tour that needs nothing, in whatever folder it is called."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_tour_shows_question_query_verdict_and_rows(run: Run) -> None:
    ran = run("demo")
    assert (ran.returncode, ran.stderr) == (0, "")
    scenes = ran.stdout.split("── ")[1:]
    assert [scene.partition(".")[0] for scene in scenes] == [str(at) for at in range(1, 7)]
    verdicts = [re.findall(r"^(?:[A-Z]{4,}) .*", scene, re.MULTILINE) for scene in scenes]
    assert verdicts == [
        ["REPAIR  repaired by semi_join"],
        ["ANNOTATE  2 warnings"],
        ["REPAIR  repaired by remove_distinct"],
        ["REPAIR  repaired by semi_join"],
        ["REPAIR  repaired by add_join_predicate"],
        ["PASS  nothing found"],
    ]
    first = scenes[0]
    places = [first.index(part) for part in ("Which customers", "  SELECT", "REPAIR", "before: ")]
    assert places == sorted(places)
    assert "before: 184 rows, the first 5\n" in first
    assert "after: 8 rows\n" in first
    assert "result: 10 rows\n" in scenes[1]


def test_the_tour_shows_an_inflated_sum_caught_and_repaired(run: Run) -> None:
    (scene,) = [s for s in run("demo").stdout.split("── ") if s.startswith("4. An inflated sum")]
    assert "\nerror fan_out_sum  line 1, column 8\n" in scene
    assert "Here 30 become 42: 1.4 times on average." in scene
    assert re.findall(r"^ +(\d+)$", scene, re.MULTILINE) == ["134808", "68326"]


def test_a_repair_that_answers_two_findings_is_shown_once(run: Run) -> None:
    first = run("demo").stdout.split("── ")[1]
    assert first.count("EXISTS (") == 1
    assert first.count("repaired by semi_join (proven):") == 2


def test_the_tour_fits_a_narrow_terminal(run: Run) -> None:
    lines = run("demo", COLUMNS="60").stdout.splitlines()
    # A repaired query stays fit to be copied: its lines are not broken.
    assert [line for line in lines if len(line) > 60 and not line.startswith("    ")] == []


def test_the_tour_says_the_same_whatever_the_settings(run: Run, tmp_path: Path) -> None:
    plain = json.loads(run("demo", "--format", "json").stdout)
    (tmp_path / "modularsql.toml").write_text("policy = 'off'\nbroken = 1\n")
    settled = json.loads(run("demo", "--format", "json", MODULARSQL_FAIL_ON="x").stdout)
    assert [scene["verdict"] for scene in settled] == [scene["verdict"] for scene in plain]


def test_a_copy_of_the_shop_can_be_guarded_and_is_never_written_over(
    run: Run, tmp_path: Path
) -> None:
    ran = run("demo", "--copy", ".")
    assert ran.stderr == "the shop database is at shop.sqlite\n"
    assert run("guard", "shop.sqlite", "SELECT name FROM customer").returncode == 0
    (tmp_path / "shop.sqlite").write_text("mine")
    run("demo", "--copy", ".")
    assert (tmp_path / "shop.sqlite").read_text() == "mine"


def test_a_copy_that_cannot_be_written_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "shop.sqlite").symlink_to(tmp_path / "none" / "shop.sqlite")
    ran = run("demo", "--copy", ".")
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "cannot write shop.sqlite: No such file or directory" in ran.stderr
