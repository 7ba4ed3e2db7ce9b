"""`modularsql demo`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from modularsql.cli.common import (
    format_option,
    output,
    print_json,
    reporting,
    say_aside,
    verbose_option,
)
from modularsql.wording import counted

if TYPE_CHECKING:
    from modularsql.cli.screen import Screen
    from modularsql.records import Answer
    from modularsql.service.demonstrating import Scene


@click.command("demo")
@format_option
@click.option(
    "--copy",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Also put a copy of the shop database into this folder, to try queries of your own.",
)
@verbose_option
@reporting
def command(format_: str, copy: Path | None, verbose: bool) -> int:
    """See the guard at work: suspect queries on a bundled shop database, before and after.

    Needs no network and no key.

    \b
    Example:
      modularsql demo --copy .
    """
    from modularsql.service.demonstrating import copy_shop, demo
    from modularsql.service.jsonable import answer_json

    copied = copy_shop(copy) if copy else None
    scenes = list(demo())
    if format_ == "json":
        print_json([answer_json(scene.after) for scene in scenes])
    else:
        from modularsql.cli.screen import Screen

        with output():
            for number, scene in enumerate(scenes, 1):
                _print(Screen(), number, scene)
    if copied:
        say_aside(f"the shop database is at {copied}")
    return 0


def _print(screen: "Screen", number: int, scene: "Scene") -> None:
    from modularsql.cli.text import print_findings, print_verdict

    title = f"── {number}. {scene.title} "
    screen.say(title.ljust(min(screen.room or 80, 80), "─"), "bold")
    screen.say()
    screen.words(scene.question, style="italic")
    screen.say()
    screen.sql(scene.before.sql, by=2, style="cyan")
    screen.say()
    screen.words(scene.shows)
    screen.say()
    print_verdict(screen, scene.after)
    print_findings(screen, scene.after)
    if scene.after.applied:
        _print_rows(screen, "before", scene.before, 5)
        _print_rows(screen, "after", scene.after, 10)
    else:
        _print_rows(screen, "result", scene.after, 10)
    screen.say()


def _print_rows(screen: "Screen", title: str, answer: "Answer", most: int) -> None:
    from modularsql.cli.table import print_rows

    first = f", the first {most}" if len(answer.rows) > most else ""
    screen.say()
    screen.say(f"{title}: {counted(len(answer.rows), 'row')}{first}", "bold")
    print_rows(screen, answer.columns, answer.rows[:most])
