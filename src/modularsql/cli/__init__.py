"""The command line. One module for each command; a command's module is loaded when it runs."""

import sys
from importlib import import_module
from itertools import pairwise

import click

from modularsql import __version__

COMMANDS = {
    "demo": "See the guard at work on a bundled shop database",
    "guard": "Run one query under guard: probe, explain, repair",
    "repair": "Guard a whole prediction set and write the repaired one",
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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Names and their one line each, from the table."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="modularsql")
def cli() -> None:
    """Make SQL written by language models (or people) safe to act on.

    Finds queries that run and look right but repeat rows, lose rows or explode a join; shows
    the evidence; repairs what can be checked. Never writes to your database.

    \b
    Example:
      modularsql guard shop.sqlite "SELECT c.name FROM customer c JOIN …" --fix
    """


def main() -> None:
    """The console script: no traceback reaches a user who did not ask for one."""
    try:
        cli(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        click.echo("stopped", err=True)
        sys.exit(130)
    except click.ClickException as error:
        report_usage(error)
        sys.exit(2)


def report_usage(error: click.ClickException) -> None:
    """A wrong option, in the format that was asked for."""
    from modularsql.cli.common import print_error
    from modularsql.errors import InputError

    arguments = sys.argv[1:]
    as_json = "--format=json" in arguments or any(
        pair == ("--format", "json") for pair in pairwise(arguments)
    )
    context = getattr(error, "ctx", None)
    hint = f"see {context.command_path} --help" if context else "see modularsql --help"
    print_error(InputError(error.format_message(), hint, "usage"), "json" if as_json else "text")
