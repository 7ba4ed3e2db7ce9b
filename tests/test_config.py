"""The settings table: every entry is read, described, bounded and found in its order."""

import re
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import PREFIX, SETTINGS, Settings, load
from modularsql.errors import InputError

SOURCES = Path(__file__).parents[1] / "src" / "modularsql"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def problem(**more: Any) -> str:
    with pytest.raises(InputError) as caught:
        load(**{"environ": {}, **more})
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_read_somewhere(name: str) -> None:
    text = "".join(
        path.read_text("utf-8") for path in SOURCES.rglob("*.py") if path.name != "config.py"
    )
    limits = (SOURCES / "config.py").read_text("utf-8").partition("def limits")[2]
    bundled = limits.partition("\n\n\n")[0]
    read = re.compile(rf"(settings|flags|self)\.{name}\b")
    assert read.search(text) or re.search(rf"\bself\.{name}\b", bundled)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_has_help_and_a_default_within_its_bounds(name: str) -> None:
    field = SETTINGS[name]
    assert 10 < len(field.metadata["help"]) < 80
    assert load({name: field.default}, environ={}) == Settings()


@pytest.mark.parametrize("name", [n for n, f in SETTINGS.items() if not isinstance(f.default, str)])
def test_a_number_has_bounds_at_both_ends(name: str) -> None:
    lowest, highest = SETTINGS[name].metadata["range"]
    apart = {"tau_inject": 1.0, "tau_remove": 0.0}  # these two must fit each other
    assert getattr(load({**apart, name: lowest}, environ={}), name) == lowest
    assert getattr(load({**apart, name: str(highest)}, environ={}), name) == highest
    for wrong in (lowest - 1, highest * 2, float("inf"), "1e400", "nan", "-inf"):
        assert f"--{name.replace('_', '-')} must be" in problem(flags={name: wrong})


def test_without_anything_given_the_defaults_hold() -> None:
    assert load(environ={}) == Settings()


def test_a_flag_comes_before_a_variable_before_a_file(tmp_path: Path) -> None:
    (tmp_path / "modularsql.toml").write_text("timeout = 1\nthreads = 1\njobs = 1")
    environ = {"MODULARSQL_TIMEOUT": "2", "MODULARSQL_THREADS": "3", "HOME": "x"}
    settings = load({"timeout": 4, "threads": None, "jobs": None}, environ=environ)
    assert (settings.timeout, settings.threads, settings.jobs) == (4.0, 3, 1)


def test_an_empty_variable_is_not_set() -> None:
    assert load(environ={PREFIX + "TIMEOUT": ""}) == Settings()


def test_modularsql_toml_comes_before_pyproject_toml(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.modularsql]\njobs = 2")
    assert load(environ={}).jobs == 2
    (tmp_path / "modularsql.toml").write_text("jobs = 3")
    assert load(environ={}).jobs == 3
    assert load(config=Path("pyproject.toml"), environ={}).jobs == 2


def test_a_project_without_our_table_sets_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.ruff]\njobs = 2")
    assert load(environ={}) == Settings()


def test_a_settings_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "modularsql.toml").write_bytes(b"\xef\xbb\xbfjobs = 3")
    assert load(environ={}).jobs == 3


@pytest.mark.parametrize(
    ("file", "toml", "said"),
    [
        ("modularsql.toml", "jobs = 2.5", "modularsql.toml: jobs must be a whole number, not 2.5"),
        ("modularsql.toml", "jobs = true", "jobs must be a whole number, not True"),
        ("modularsql.toml", "timeout = true", "timeout must be a number, not True"),
        ("modularsql.toml", "timeout = [1]", "timeout must be a number, not [1]"),
        ("modularsql.toml", "timeout = nan", "timeout must be from 0.001 to 604,800, not nan"),
        ("modularsql.toml", "policy = 5", "policy must be text, not 5"),
        ("modularsql.toml", "[tool.modularsql]\njobs = 1", "modularsql.toml: tool is no setting"),
        ("pyproject.toml", "tool = 5", "pyproject.toml: tool is no table"),
        ("pyproject.toml", "[tool]\nmodularsql = 5", "pyproject.toml: modularsql is no table"),
        ("pyproject.toml", "[tool.modularsql]\nJobs = 5", "pyproject.toml: Jobs is no setting"),
        ("pyproject.toml", "[tool", "cannot read settings from pyproject.toml"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    tmp_path: Path, file: str, toml: str, said: str
) -> None:
    (tmp_path / file).write_text(toml)
    assert said in problem()


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "modularsql.toml").write_bytes(b"policy = '\xff'")
    assert "cannot read settings from modularsql.toml" in problem()


def test_a_whole_number_may_be_written_as_a_float(tmp_path: Path) -> None:
    (tmp_path / "modularsql.toml").write_text("jobs = 2.0\ntimeout = 5")
    settings = load(environ={})
    assert (settings.jobs, settings.timeout) == (2, 5.0)
    assert (type(settings.jobs), type(settings.timeout)) == (int, float)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"tau_inject": 0.1}, "tau_inject (0.1) must be above tau_remove (0.1)"),
        ({"tau_remove": 0.9}, "tau_inject (0.8) must be above tau_remove (0.9)"),
        ({"tau_inject": 0.3, "tau_remove": 0.4}, "raise the one or lower the other"),
    ],
)
def test_thresholds_that_would_undo_each_other_are_refused(flags: Any, said: str) -> None:
    assert said in problem(flags=flags)
    assert load(flags={"tau_inject": 0.2}, environ={}).tau_inject == 0.2
