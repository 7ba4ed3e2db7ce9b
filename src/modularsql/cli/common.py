"""What several commands share: options, settings from flags, errors as one line, plain text."""

import json
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from modularsql.config import SETTINGS, Settings, load
from modularsql.errors import ModularSqlError, SetupError

Function = TypeVar("Function", bound=Callable[..., Any])


def setting_option(
    name: str, flag: str | None = None, **more: Any
) -> Callable[[Function], Function]:
    """An option for one entry of the settings table; its help and default come from there."""
    field = SETTINGS[name]
    return click.option(
        flag or "--" + name.replace("_", "-"),
        name,
        type=more.pop("type", type(field.default)),
        help=f"{field.metadata['help']}.  [default: {field.default}]",
        **more,
    )


def common_options(function: Function) -> Function:
    """Options of every command that runs queries."""
    for option in (
        click.option("--verbose", is_flag=True, help="Show the traceback of an error."),
        click.option(
            "--config",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Settings file.  [default: modularsql.toml or pyproject.toml]",
        ),
        format_option,
        setting_option("max_rows"),
        setting_option("timeout"),
        setting_option("policy"),
    ):
        function = option(function)
    return function


format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For reading, or for programs.",
)


def settings_of(config: Path | None, **flags: Any) -> Settings:
    """Settings from flags, environment and file."""
    return load(flags, config)


def reporting(function: Callable[..., int]) -> Callable[..., None]:
    """Run a command: its status becomes the exit status, errors one line and status 2."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            status = function(*args, **kwargs)
        except ModularSqlError as error:
            print_error(error, kwargs.get("format_", "text"))
            if kwargs.get("verbose"):
                traceback.print_exc()
            status = 2
        except BrokenPipeError:
            # The reader went away (`| head`); what is left to say has no place to go.
            sys.stderr.close()
            status = 0
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if kwargs.get("verbose"):
                traceback.print_exc()
            hint = "this is a bug; run again with --verbose and report it"
            described = f"{type(error).__name__}: {error}"
            print_error(SetupError(described, hint, "internal"), kwargs.get("format_", "text"))
            status = 2
        raise click.exceptions.Exit(status)

    return run


def print_error(error: ModularSqlError, format_: str) -> None:
    """One line on standard error, or the JSON object on standard output."""
    if format_ == "json":
        from modularsql.service.jsonable import error_json

        click.echo(json.dumps(error_json(error), ensure_ascii=False))
    else:
        click.echo(f"modularsql: {printable(str(error))}", err=True)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False))


def printable(text: str) -> str:
    """Text from outside without characters that could move the cursor or hide others."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
