"""`modularsql compare`."""

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
from modularsql.wording import counted

_MOST_IDS = 20


@click.command("compare")
@click.argument("a")
@click.argument("b")
@format_option
@config_option
@verbose_option
@reporting
def command(a: str, b: str, format_: str, config: Path | None, verbose: bool) -> int:
    """Compare two systems on the same questions: is B better than A, or could it be chance?

    A and B are folders of finished runs, DIR:SYSTEM where a run has several, and
    DIR:SYSTEM@POLICY for what the guard made of it. Exact McNemar test, bootstrap intervals
    over questions and over databases; runs of eval --smells also without gold that smells. Warns
    where the data below the runs differ.

    \b
    Example:
      modularsql compare run:dail run:c3
    """
    settings_of(config)  # none has a say here, but a wrong one is an error everywhere
    from modularsql.service.comparing import compare_runs, comparison_json

    found = compare_runs(a, b)
    if format_ == "json":
        print_json(comparison_json(found))
        return 0
    from modularsql.cli.screen import Screen
    from modularsql.cli.table import print_table

    screen = Screen()
    with output():
        print_table(screen, found.table)
        if found.clean is not None:
            print_table(screen, found.clean)
        screen.words(found.conclusion)
        for word, ids in (("only B is right", found.gained), ("only A is right", found.lost)):
            more = " …" if len(ids) > _MOST_IDS else ""
            named = ": " + ", ".join(ids[:_MOST_IDS]) + more if ids else ""
            screen.words(f"{word} (Multiset-EX) on {counted(len(ids), 'question')}{named}")
        for warning in found.warnings:
            screen.words(f"warning: {warning}")
    return 0
