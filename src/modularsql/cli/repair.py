"""`modularsql repair`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modularsql.cli.common import (
    common_options,
    print_json,
    reporting,
    setting_option,
    settings_of,
)

if TYPE_CHECKING:
    from modularsql.service.repairing import RepairSummary


@click.command("repair")
@click.argument("dataset")
@click.option(
    "--pred", required=True, type=click.Path(path_type=Path), help="Prediction file or folder."
)
@click.option(
    "--db-root", required=True, type=click.Path(path_type=Path), help="Folder of ID/ID.sqlite."
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where to write.")
@setting_option("jobs")
@common_options
@reporting
def command(
    dataset: str,
    pred: Path,
    db_root: Path,
    out: Path,
    format_: str,
    config: Path | None,
    verbose: bool,
    **flags: object,
) -> int:
    """Guard a whole prediction set and write the repaired set in the format it was read in.

    DATASET is a BIRD or Spider file (dev.json, *_gold.sql), our own JSONL, or a folder with
    one. Queries that no rule changes stay byte for byte.

    \b
    Example:
      modularsql repair spider/dev.json --pred dail.txt --db-root spider/database --out fixed.txt
    """
    from modularsql.service.repairing import RepairRequest, repair

    with _progress() as progress:
        summary = repair(
            RepairRequest(
                dataset=dataset,
                predictions=pred,
                db_root=db_root,
                out=out,
                settings=settings_of(config, **flags),
                progress=progress,
            )
        )
    if format_ == "json":
        print_json(summary.as_json())
    else:
        _print(summary)
    return 0


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar with the time left on standard error, only where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("questions")
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _print(summary: "RepairSummary") -> None:
    click.echo(
        f"{summary.changed:,} of {summary.questions:,} queries changed "
        f"(policy {summary.policy}); written to {summary.out}"
    )
    for title, counts in (
        ("by rule", summary.by_rule),
        ("by trigger", summary.by_trigger),
        ("by status", summary.by_status),
    ):
        shown = ", ".join(f"{name} {count:,}" for name, count in counts.most_common())
        click.echo(f"  {title + ':':12}{shown or 'none'}")
    if summary.missing_databases:
        names = sorted(summary.missing_databases)
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        click.echo(f"  databases not found: {', '.join(names[:5])}{more}")
    if summary.unwritable:
        click.echo(
            f"  left as they were, not writable on one line: {', '.join(summary.unwritable)}"
        )
