"""Help is the documentation: quick, with an example that works, and a status for scripts."""

import re
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click
import pytest

from modularsql import __version__
from modularsql.cli import COMMANDS
from modularsql.config import Settings
from modularsql.guard.policy import ORDERS

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def examples(text: str) -> list[list[str]]:
    """The invocations of a help text, each as its words."""
    block = re.split(r"\n\s*\n", text.partition("Example:\n")[2])[0].replace("\\\n", " ")
    return [shlex.split(line) for line in block.splitlines() if line.strip()]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_shows_an_invocation_that_its_options_take(
    run: Run, name: str
) -> None:
    ran = run(name, "--help")
    assert (ran.returncode, ran.stderr) == (0, "")
    found = examples(ran.stdout)
    assert found
    command: click.Command = import_module(f"modularsql.cli.{name}").command
    for program, called, *words in found:
        assert (program, called) == ("modularsql", name)
        words = words[: words.index(">")] if ">" in words else words
        command.make_context(name, words)


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_a_terminal(run: Run, name: str) -> None:
    ran = run(*filter(None, [name]), "-h")
    assert max(map(len, ran.stdout.splitlines())) <= 80
    assert "[default: ]" not in ran.stdout


def test_the_list_of_commands_names_each_with_what_it_does(run: Run) -> None:
    ran = run("--help")
    assert ran.returncode == 0
    for name, what in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(what)}$", ran.stdout, re.MULTILINE)


def test_each_command_is_named_as_in_the_table() -> None:
    for name in COMMANDS:
        assert import_module(f"modularsql.cli.{name}").command.name == name


def test_every_option_has_a_help_text() -> None:
    for name in COMMANDS:
        command: click.Command = import_module(f"modularsql.cli.{name}").command
        for parameter in command.params:
            assert isinstance(parameter, click.Argument) or parameter.help, parameter.name


def test_no_command_has_more_than_ten_options_of_its_own() -> None:
    shared = {"policy", "timeout", "max_rows", "format_", "config", "verbose", "jobs", "cluster"}
    shared |= {"model", "budget_usd", "show_values"}  # of every command that may ask a model
    for name in COMMANDS:
        command: click.Command = import_module(f"modularsql.cli.{name}").command
        options = [p for p in command.params if isinstance(p, click.Option)]
        own = [option.name for option in options if option.name not in shared]
        assert len(own) <= 10, name


def test_the_help_of_guard_names_every_policy_and_the_default(run: Run) -> None:
    text = run("guard", "--help").stdout
    head = text.partition("Example:")[0]
    for policy in ORDERS:
        assert f"`{policy}`" in head
    assert f"[default: {Settings().policy}]" in text


def test_the_version_is_the_one_of_the_package(run: Run) -> None:
    ran = run("--version")
    assert (ran.returncode, ran.stdout) == (0, f"modularsql, version {__version__}\n")


def test_without_a_command_the_help_goes_to_standard_error_with_status_2(run: Run) -> None:
    ran = run()
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("Usage: modularsql")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gard"], "No such command 'gard'. Did you mean 'guard'?"),
        (["nothing"], "No such command 'nothing' (see modularsql --help)"),
        (["schema"], "Missing argument 'NAME'. Choose from: guard, ask,"),
        (["--nope"], "No such option"),
        (["guard"], "Missing argument 'DB' (see modularsql guard --help)"),
        (["guard", "db", "sql", "--nope"], "No such option"),
        (["guard", "db", "sql", "--fail-on", "info"], "'info' is not one of 'warning', 'error'"),
        (["schema", "nope"], "Invalid value for 'NAME': 'nope' is not one of 'guard'"),
        (["repair", "dev.json", "--db-root", "d", "--out", "o"], "Missing option '--pred'"),
        (["demo", "--copy", "nowhere"], "'nowhere' does not exist"),
    ],
)
def test_a_wrong_call_is_one_line_that_names_the_help(
    run: Run, arguments: list[str], said: str
) -> None:
    ran = run(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("modularsql: ")
    assert ran.stderr.count("\n") == 1
    assert said in ran.stderr
    assert "--help)" in ran.stderr


def test_help_is_quick_and_loads_neither_parser_nor_driver() -> None:
    script = """
import sys
try:
    import modularsql.cli
    modularsql.cli.main(["--help"])
finally:
    slow = {"sqlglot", "duckdb", "sqlite3", "rich", "pebble", "markdown_it", "multiprocessing"}
    print(*sorted(slow & {name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""
    start = _seconds_of_children()
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stderr == "\n"
    # 0.1 s of work; time on the clock would count what else the machine does.
    assert _seconds_of_children() - start < 0.5


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_python_dash_m_is_the_same_command(really: Run) -> None:
    ran: Any = really("--version")
    assert (ran.returncode, ran.stdout) == (0, f"modularsql, version {__version__}\n")
