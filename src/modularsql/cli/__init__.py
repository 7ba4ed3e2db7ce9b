"""The command line. One module for each command; a command's module is loaded when it runs."""

import io
import signal
import sys
import threading
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from itertools import pairwise
from typing import NoReturn

import click

from modularsql import __version__

COMMANDS = {
    "demo": "See the guard at work on a bundled shop database",
    "guard": "Run one query under guard: probe, explain, repair",
    "repair": "Guard a whole prediction set and write the repaired one",
    "eval": "Score prediction sets against gold on real databases",
    "report": "Show a finished eval: tables, plots, every single answer",
    "compare": "Compare two systems: is one better, or is it chance?",
    "calibrate": "Fit the guard's policy on a finished eval",
    "ask": "Answer a question in words from a database, under guard",
    "predict": "Answer every question of a data set; resumable",
    "index": "Index the text values of a database for `ask`",
    "check": "Say what a query does to rows, from a schema alone",
    "rules": "List every rule, or show one with its page",
    "schema": "Print the JSON Schema of a command's output",
}


class Commands(click.Group):
    """Lists commands without importing them, so that `--help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"modularsql.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; a misspelled one is answered with what was meant."""
        if near := get_close_matches(args[0], COMMANDS, n=1) if args[0] not in COMMANDS else []:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Names and their one line each, from the table."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
)
@click.version_option(__version__, "--version", prog_name="modularsql")
@click.pass_context
def cli(context: click.Context) -> None:
    """Make SQL written by language models (or people) safe to act on.

    Finds queries that run and look right but repeat rows, lose rows or explode a join; shows
    the evidence; repairs what can be checked. Never writes to your database.

    \b
    Example:
      modularsql demo --copy .
      modularsql guard shop.sqlite @query.sql --question "Who ordered?" --fix
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The console script: no traceback reaches a user who did not ask for one."""
    try:
        status = _status(sys.argv[1:] if arguments is None else list(arguments))
    except (click.Abort, KeyboardInterrupt):
        click.echo("modularsql: stopped", err=True)
        status = 130
    sys.exit(status)


def _status(arguments: list[str]) -> int:
    from modularsql.cli.common import output, print_error
    from modularsql.errors import SetupError

    _prepare()
    try:
        with output():
            # Without click's own error messages `cli` returns the exit status.
            status: int = cli(arguments, prog_name="modularsql", standalone_mode=False)
    except click.ClickException as error:
        _report_usage(error, arguments)
        status = 2
    except SetupError as error:
        print_error(error, "text")
        status = 2
    return status


def _prepare() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A character that the terminal cannot show is escaped, and not the end of the command.
        sys.stdout.reconfigure(errors="backslashreplace")
    if threading.current_thread() is threading.main_thread():
        # By itself SIGTERM would leave worker processes and temporary files behind.
        signal.signal(signal.SIGTERM, _terminated)


def _terminated(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)


def _report_usage(error: click.ClickException, arguments: Sequence[str]) -> None:
    """A wrong option, in the format that was asked for."""
    from modularsql.cli.common import print_error
    from modularsql.errors import InputError

    as_json = "--format=json" in arguments or ("--format", "json") in pairwise(arguments)
    context = getattr(error, "ctx", None)
    hint = f"see {context.command_path} --help" if context else "see modularsql --help"
    message = " ".join(error.format_message().split()).rstrip(".")  # click breaks lists into lines
    print_error(InputError(message, hint, "usage"), "json" if as_json else "text")
