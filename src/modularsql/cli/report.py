"""`modularsql report`."""

import webbrowser
from pathlib import Path

import click

from modularsql.cli.common import (
    config_option,
    format_option,
    output,
    print_json,
    reporting,
    settings_of,
    verbose_option,
)

_MOST_ROWS = 40
"""Of one table on the screen: all pairs of metrics are hundreds. The files hold them all."""


@click.command("report")
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.option("--open", "open_", is_flag=True, help="Open the page in a browser.")
@format_option
@config_option
@verbose_option
@reporting
def command(run_dir: Path, open_: bool, format_: str, config: Path | None, verbose: bool) -> int:
    """Show what a finished eval says, and write it as a page, as Markdown and as JUnit.

    Writes report.html (one file that opens offline: tables, plots, every answer with both
    results side by side), report.md and junit.xml into RUN_DIR. Runs no SQL.

    \b
    Example:
      modularsql report run --open
    """
    settings_of(config)  # none has a say here, but a wrong one is an error everywhere
    from modularsql.service.reporting import report

    done = report(run_dir)
    if format_ == "json":
        print_json(done.as_json())
    else:
        from modularsql.cli.screen import Screen
        from modularsql.cli.table import print_table

        screen = Screen()
        with output():
            for table in done.tables:
                print_table(screen, table, _MOST_ROWS)
            for note in done.notes:
                screen.words(f"note: {note}")
            screen.words(f"written: {', '.join(map(str, done.written))}")
    if open_:
        webbrowser.open(done.written[0].resolve().as_uri())
    return 0
