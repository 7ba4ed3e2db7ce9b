"""What several commands share: options, settings from flags, errors as one line, JSON."""

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from modularsql.config import SETTINGS, Settings, load
from modularsql.errors import ModularSqlError, SetupError

Function = TypeVar("Function", bound=Callable[..., Any])

DATABASES = "Folder of ID/ID.sqlite, or URL of a server whose databases are called ID."


def setting_option(name: str, flag: str = "", **more: Any) -> Callable[[Function], Function]:
    """An option for one entry of the settings table; its help and default come from there.

    `flag` is what the command calls it, where that is another name.
    """
    field = SETTINGS[name]
    choices = field.metadata.get("choices")
    default = (
        field.default if isinstance(field.default, str) else f"{field.default:,}".removesuffix(".0")
    )
    return click.option(
        "--" + (flag or name).replace("_", "-"),
        flag or name,
        type=click.Choice(choices) if choices else type(field.default),
        metavar={int: "N", float: "X", str: None if choices else "NAME"}[type(field.default)],
        help=f"{field.metadata['help']}." + (f"  [default: {default}]" if default else ""),
        **more,
    )


def common_options(function: Function) -> Function:
    """Options of every command that runs queries."""
    for option in (
        verbose_option,
        config_option,
        format_option,
        setting_option("max_rows"),
        setting_option("timeout"),
        setting_option("policy"),
    ):
        function = option(function)
    return function


def model_options(function: Function) -> Function:
    """Options of every command that may ask a model."""
    for option in (
        click.option(
            "--no-values",
            "show_values",
            flag_value="no",
            help="Keep values from result rows out of every prompt.",
        ),
        click.option(
            "--budget", "budget_usd", type=float, metavar="USD", help="Most that may be spent."
        ),
        setting_option("model"),
    ):
        function = option(function)
    return function


verbose_option = click.option("--verbose", is_flag=True, help="Show the traceback of an error.")

config_option = click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Settings file.  [default: modularsql.toml, else pyproject.toml]",
)

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
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if kwargs.get("verbose"):
                traceback.print_exc()
            print_error(_ours(error), kwargs.get("format_", "text"))
            status = 2
        raise click.exceptions.Exit(status)

    return run


def _ours(error: Exception) -> ModularSqlError:
    if isinstance(error, ModularSqlError):
        return error
    described = f"{type(error).__name__}: {error}"
    return SetupError(described, "this is a bug: add --verbose and report what it shows", "bug")


@contextmanager
def output() -> Iterator[None]:
    """Around all that prints results: the reader may go away (`| head`), the disk may be full.

    A reader that has enough is no error: what is left to say has no place to go.
    """
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        with suppress(OSError, ValueError):
            # What is still buffered must not fail once more when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            message = f"cannot write the results: {error.strerror}"
            raise SetupError(message, "give standard output another place", "output") from error


def print_error(error: ModularSqlError, format_: str) -> None:
    """One line on standard error, or the JSON object on standard output."""
    if format_ == "json" and error.kind != "output":
        from modularsql.service.jsonable import error_json

        print_json(error_json(error))
    else:
        say_aside(f"modularsql: {printable(str(error))}")


def say_aside(line: str) -> None:
    """One line on standard error. Where nobody reads, the exit status still tells."""
    with suppress(OSError):
        click.echo(line, err=True)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    with output():
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        ascii_only = not encoding.lower().startswith("utf")
        click.echo(json.dumps(value, ensure_ascii=ascii_only, allow_nan=False))


def printable(text: str) -> str:
    """Text from outside on one line, without characters that move the cursor or hide others."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte that was no UTF-8 (PEP 383)
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
