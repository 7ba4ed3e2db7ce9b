"""`modularsql demo`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modularsql.cli.common import format_option, print_json, reporting, settings_of

if TYPE_CHECKING:
    from rich.console import Console

    from modularsql.service.demonstrating import Scene


@click.command("demo")
@format_option
@click.option(
    "--copy",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Also put a copy of the shop database into this folder, to try queries of your own.",
)
@click.option("--verbose", is_flag=True, help="Show the traceback of an error.")
@reporting
def command(format_: str, copy: Path | None, verbose: bool) -> int:
    """See the guard at work: suspect queries on a bundled shop database, before and after.

    Needs no network and no key.

    \b
    Example:
      modularsql demo
    """
    from modularsql.service.demonstrating import copy_shop, demo
    from modularsql.service.jsonable import answer_json

    settings = settings_of(None)
    if format_ == "json":
        print_json([answer_json(scene.after) for scene in demo(settings)])
    else:
        from rich.console import Console

        console = Console(file=sys.stdout, highlight=False)
        for number, scene in enumerate(demo(settings), 1):
            _print(console, number, scene)
    if copy is not None:
        click.echo(f"the shop database: {copy_shop(copy)}", err=True)
    return 0


def _print(console: "Console", number: int, scene: "Scene") -> None:
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.text import Text

    from modularsql.cli.text import print_findings, print_rows, print_verdict

    console.print(Rule(Text(f"{number}. {scene.title}", style="bold"), align="left"))
    console.print(Text(scene.question, style="italic"))
    console.print(Padding(Text(scene.before.sql, style="cyan"), (1, 0, 1, 2)))
    console.print(Text(scene.shows))
    console.print()
    before, after = scene.before, scene.after
    print_verdict(console, after)
    print_findings(console, after)
    if after.applied:
        console.print(Text(f"\nbefore: {len(before.rows):,} rows", style="bold"))
        print_rows(console, before.columns, before.rows[:5], False)
        console.print(Text(f"\nafter: {len(after.rows):,} rows", style="bold"))
    print_rows(console, after.columns, after.rows[:10], False)
    console.print()
