"""`modularsql index`."""

from pathlib import Path

import click

from modularsql.cli.common import (
    config_option,
    format_option,
    output,
    print_json,
    reporting,
    setting_option,
    settings_of,
    verbose_option,
)
from modularsql.wording import counted


@click.command("index")
@click.argument("db")
@click.option(
    "--exclude",
    multiple=True,
    metavar="TABLE.COLUMN",
    help="Leave out a column, `*` for any part: --exclude '*.email'.",
)
@setting_option("embedder")
@setting_option("embedder_url")
@setting_option("index_values")
@setting_option("index_dir")
@setting_option("timeout")
@format_option
@config_option
@verbose_option
@reporting
def command(
    db: str,
    exclude: tuple[str, ...],
    format_: str,
    config: Path | None,
    verbose: bool,
    **flags: object,
) -> int:
    """Index the text values of a database, so that `ask` finds what a question names.

    The index is a file of its own, away from the database, and holds values in clear. Run it again
    after the data has changed: columns that did not change are left as they are. With --embedder
    (better a setting, so that `ask` has it too) values are found by their meaning as well.

    \b
    Example:
      modularsql index shop.sqlite --exclude '*.email'
      modularsql index shop.sqlite --embedder minilm
    """
    from modularsql.cli.progress import progress
    from modularsql.cli.screen import Screen
    from modularsql.service.indexing import IndexRequest, index

    settings = settings_of(config, **flags)
    with progress("columns") as show:
        summary = index(
            IndexRequest(
                target=db,
                settings=settings,
                exclude=exclude,
                progress=show or (lambda done, total, words: None),
            )
        )
    if format_ == "json":
        print_json(summary.as_json())
        return 0
    with output():
        screen = Screen()
        columns = counted(summary.indexed + summary.unchanged - len(summary.skipped), "column")
        screen.words(f"{summary.values:,} values of {columns}, in {summary.path}")
        seen = counted(summary.indexed + summary.unchanged, "text column")
        gone = f", {summary.dropped:,} dropped" if summary.dropped else ""
        changes = f"{summary.indexed:,} new or changed, {summary.unchanged:,} as before{gone}"
        screen.words(f"{seen} looked at: {changes}", by=2)
        if summary.embedder:
            embedded = counted(summary.embedded, "text")
            screen.words(f"{embedded} embedded by {summary.embedder}", by=2)
        if summary.sampled:
            most = f"the {settings.index_values:,} most frequent values only"
            screen.words(f"{most}: {', '.join(summary.sampled)}", by=2)
        for name, why in summary.skipped:
            screen.words(f"left out: {name}, {why}", by=2)
        for pattern in summary.unmatched:
            screen.words(f"--exclude {pattern} leaves out nothing: no column is called so", by=2)
    return 0
